// Decrypts a range: opens a reader, and writes what it reads in order.
#include "cli/files/range.h"

#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "c_api/internal.h"
#include "c_api/internal_slot_keys.h"
#include "cli/foreign/foreign.h"
#include "cli/support/format.h"
#include "cli/support/stream.h"

namespace warpseal::cli {
namespace {

// Enough for all cores, and little beside the program itself.
constexpr size_t buffer_bytes = size_t{8} << 20;

struct ReaderDelete {
    void operator()(warpseal_reader* reader) const { warpseal_reader_close(reader); }
};
using ReaderHandle = std::unique_ptr<warpseal_reader, ReaderDelete>;

struct SecretDelete {
    void operator()(warpseal_internal_secret* secret) const {
        warpseal_internal_secret_destroy(secret);
    }
};

// One call of the command: the reader, its input and its output.
class RangeTask {
public:
    RangeTask(const FileChoice& choice, Output& output, Session& session)
        : choice_(choice), output_(output), progress_(choice.progress, session) {
        result_.struct_bytes = sizeof result_;
    }
    void open(warpseal_engine* engine, int input, Secrets& secrets) {
        const std::vector<uint8_t> context = from_hexadecimal(choice_.context, "--context");
        const warpseal_file_options options =
            file_options(choice_, {}, secrets, context, progress_);
        warpseal_reader* made = nullptr;
        check(warpseal_internal_reader_open(engine, input, &options, nullptr, &made, &result_));
        reader_.reset(made);
        file_bytes_ = result_.file_bytes;
        header_copies_differ_ = result_.header_copies_differ;
    }
    uint64_t text_bytes() const { return warpseal_reader_size(reader_.get()); }
    void write(uint64_t offset, uint64_t bytes) {
        const size_t most = static_cast<size_t>(std::clamp<uint64_t>(bytes, 1, buffer_bytes));
        const std::unique_ptr<warpseal_internal_secret, SecretDelete> buffer(
            warpseal_internal_secret_create(most));
        if (buffer == nullptr) throw Failure(ExitCode::error, "out of memory.");
        auto* const data = static_cast<uint8_t*>(warpseal_internal_secret_data(buffer.get()));
        RawOutput out(output_);
        const char* target = "";
        while (written_ < bytes) {
            size_t got = 0;
            const size_t wanted = static_cast<size_t>(std::min<uint64_t>(most, bytes - written_));
            check(warpseal_reader_read_at(reader_.get(), offset + written_, data, wanted, &got,
                                          &result_));
            target = result_.target;
            out.write(data, got);
            written_ += got;
            (void)Progress::callback(&progress_, written_, bytes);
            out.throw_if_interrupted();
        }
        result_.target = target;
    }
    void say_done(const Session& session) {
        result_.plaintext_bytes = result_.output_bytes = written_;
        result_.file_bytes = file_bytes_;
        result_.header_copies_differ = header_copies_differ_;
        say_if_header_copies_differ(choice_, result_);
        const double seconds = progress_.seconds();
        progress_.done(result_);
        if (!progress_.is_json())
            cli::say_done(FileTask::decrypt, choice_, result_, seconds, session);
    }

private:
    void check(warpseal_status status) {
        result_.output_bytes = written_;
        if (status != WARPSEAL_OK || interrupted_by() != 0)
            throw_failure(FileTask::decrypt, choice_, status, result_, &output_);
    }

    const FileChoice& choice_;
    Output& output_;
    Progress progress_;
    ReaderHandle reader_;
    warpseal_file_result result_ = {};
    uint64_t written_ = 0, file_bytes_ = 0;
    int32_t header_copies_differ_ = 0;
};

}  // namespace

std::string parse_range(const std::string& text, Range& range) {
    const auto size = [](std::string part, uint64_t& bytes) {
        std::string error = size_value()(part);
        if (error.empty()) bytes = std::stoull(part);
        return error;
    };
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
        return cli::format("'{}' is no range: give OFFSET:LENGTH, or OFFSET: for all from there on",
                           text);
    std::string error = size(text.substr(0, colon), range.offset);
    if (!error.empty() || colon + 1 == text.size()) return error;
    return size(text.substr(colon + 1), range.length);
}

void refuse_streams(int input, const FileChoice& choice) {
    struct stat about;
    if (fstat(input, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) return;
    throw Failure(
        ExitCode::usage,
        cli::format("--range needs a file, and {} is a pipe or a device: name the file, or decrypt "
                    "all of it and cut the range out, with tail -c and head -c.",
                    shown(choice)));
}

uint64_t bytes_within(const Range& range, uint64_t size, const FileChoice& choice) {
    if (range.offset > size)
        throw Failure(
            ExitCode::usage,
            cli::format("--range begins at byte {}, and the plaintext of {} has {} bytes: "
                        "give an OFFSET of at most that.",
                        range.offset, shown(choice), size));
    return std::min(range.length, size - range.offset);
}

void say_if_shortened(const Range& range, uint64_t bytes, const Session& session) {
    if (range.length != UINT64_MAX && bytes < range.length)
        remark(session, cli::format("the plaintext ends {} bytes into the range of {} bytes", bytes,
                                    range.length));
}

ExitCode run_range(const FileChoice& choice, int input, const Range& range,
                   const OutputChoice& output_choice, Session& session) {
    refuse_streams(input, choice);
    FileChoice foreign = choice;
    foreign.foreign.format = foreign_format(FileTask::decrypt, choice, input);
    const bool floe = foreign.foreign.format == ForeignFormat::floe;
    if (!floe) refuse_foreign_format(foreign, "--range");
    Output output(output_choice.path, output_choice.force, mode_decrypted);
    refuse_inputs(output, input, choice.secrets);
    if (floe)
        return run_foreign(FileTask::decrypt, foreign, {}, &output, std::nullopt, input, session,
                           &range);
    Secrets secrets = read_secrets(input, FileTask::decrypt, choice);
    output.remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    RangeTask task(choice, output, session);
    task.open(engine.get(), input, secrets);
    const uint64_t bytes = bytes_within(range, task.text_bytes(), choice);
    task.write(range.offset, bytes);
    output.commit();
    say_if_shortened(range, bytes, session);
    task.say_done(session);
    return ExitCode::ok;
}

}  // namespace warpseal::cli
