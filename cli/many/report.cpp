// Lines, counts and the outcome of a run.
#include "cli/many/report.h"

#include <unistd.h>

#include <new>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr size_t most_unfinished_names = 20;  // of files that are not done, in a message

const char* past(FileTask task) {
    return task == FileTask::encrypt   ? "encrypted"
           : task == FileTask::decrypt ? "decrypted"
                                       : "verified";
}

std::string files(size_t count) { return cli::format("{} file{}", count, count == 1 ? "" : "s"); }

bool is_interrupt(const Failure& failure) {
    return static_cast<int>(failure.code) > 128 && interrupted_by() != 0;
}

}  // namespace

void Report::print(const RunFile& file, const std::string& output, const char* status,
                   ExitCode code, const std::string& message) {
    if (!choice_.json) return;
    std::string line = cli::format(
        R"({{"input":{},"output":{},"status":"{}","exit_code":{},"bytes":{},"file_bytes":{})",
        json_string(file.input), output.empty() ? "null" : json_string(output), status,
        static_cast<int>(code), file.plaintext_bytes, file.file_bytes);
    if (!message.empty()) line += ",\"message\":" + json_string(message);
    try {
        print_output(line + "}\n");
    } catch (const Failure& failure) {
        stopped_ = true;
        if (!failure_) failure_ = failure;
    }
}

template <class Words>
void Report::say(Words words) noexcept {
    for (const bool again : {false, true}) {
        try {
            words();
            if (again) reserve_.reset(new (std::nothrow) char[reserve_bytes]);
            return;
        } catch (...) {  // std::bad_alloc: a Failure is kept
            reserve_.reset();
        }
    }
    static constexpr char text[] =
        "warpseal: out of memory: what happened to a file is not said.\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    unsaid_ = true;
}

void Report::done(const RunFile& file, const std::string& output) {
    const std::lock_guard lock(mutex_);
    ++done_;
    ended_[file.number] = true;
    bytes_ += file.plaintext_bytes;
    say([&] { print(file, output, "done", ExitCode::ok, {}); });
}

void Report::skipped(const RunFile& file, const std::string& output) {
    const std::lock_guard lock(mutex_);
    ++skipped_;
    ended_[file.number] = true;
    say([&] { print(file, output, "skipped", ExitCode::ok, {}); });
}

void Report::failed(const RunFile& file, const std::string& output, const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (is_interrupt(failure)) {
        stopped_ = true;
        return;
    }
    ++failed_;
    if (!choice_.keep_going) {
        stopped_ = true;
        if (!failure_) {
            failure_ = failure;
            ended_[file.number] = true;
        }
    }
    say([&] { print(file, output, "failed", failure.code, failure.what()); });
    if (!choice_.keep_going) return;
    if (session_.json_events)
        say([&] { print_failed_event(failure.code, failure.what(), file.input); });
    say([&] { complain(failure.what()); });
}

void Report::out_of_memory(const RunFile& file, const std::string& output) noexcept {
    try {
        failed(file, output,
               Failure(ExitCode::error, cli::format("out of memory for '{}': fewer --threads need "
                                                    "less.",
                                                    file.input)));
    } catch (...) {  // not even for the text
        out_of_memory();
    }
}

void Report::out_of_memory() noexcept {
    const std::lock_guard lock(mutex_);
    ++failed_;
    if (!choice_.keep_going) stopped_ = true;
    reserve_.reset();
    say([] { throw std::bad_alloc(); });
}

std::string Report::counts() const {
    std::string text = files(done_) + (done_ == 1 ? " is done" : " are done");
    if (skipped_ != 0) text += cli::format(", {} skipped", skipped_);
    if (failed_ > 1) text += cli::format(", {} failed", failed_);
    return cli::format("{}, {} not begun or not finished.{}", text,
                       file_count() - done_ - skipped_ - failed_, names_of_rest());
}

std::string Report::names_of_rest() const {
    std::string names;
    size_t count = 0;
    for (size_t i = 0; i < file_count(); ++i) {
        if (ended_[i] || ++count > most_unfinished_names) continue;
        names += cli::format("{}'{}'", count == 1 ? " Not done: " : ", ", (*inputs_)[i].path);
    }
    if (count == 0) return "";
    return count > most_unfinished_names
               ? cli::format("{} and {} more.", names, count - most_unfinished_names)
               : names + ".";
}

ExitCode Report::end() {
    if (failure_) throw Failure(failure_->code, cli::format("{} {}", failure_->what(), counts()));
    if (const int signal_number = interrupted_by();
        signal_number != 0 && done_ + skipped_ != file_count())
        throw Failure(ExitCode(128 + signal_number), "interrupted. " + counts());
    if (unsaid_)
        throw Failure(ExitCode::error,
                      cli::format("out of memory: {} of {} failed, and the report is not complete. "
                                  "{}",
                                  failed_, files(file_count()), counts()));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (!session_.json_events)
        remark(session_, cli::format("{} {}, {}, in {:.2f} s{}", past(task_), files(done_),
                                     human_bytes(bytes_), seconds,
                                     skipped_ == 0 ? "" : cli::format(", {} skipped", skipped_)));
    if (failed_ == 0) return ExitCode::ok;
    throw Failure(ExitCode::some_failed,
                  cli::format("{} of {} failed, as said above.", failed_, files(file_count())));
}

}  // namespace warpseal::cli
