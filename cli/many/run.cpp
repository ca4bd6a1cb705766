// Works on the files of a run: small ones side by side, then big ones, each on all cores.
#include "cli/many/run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "c_api/internal_slot_keys.h"
#include "cli/many/done.h"
#include "cli/many/names.h"
#include "cli/many/report.h"
#include "cli/support/format.h"
#include "cli/support/unfinished/unfinished.h"

namespace warpseal::cli {
namespace {

// Files up to this size take one core. Of those above, the pipeline keeps all cores busy.
constexpr uint64_t small_file_bytes = 1 << 20;
// A small file waits for the disk most of the time, when it is synced.
constexpr unsigned threads_for_a_core = 4;
constexpr unsigned most_threads = 64;

// Numbers of descriptors: open in the program at all times, and opened by a thread for its file.
constexpr rlim_t own_descriptors = 24, descriptors_for_a_thread = 6;

size_t threads_with_descriptors() {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return most_threads;
    const rlim_t left = std::max(limit.rlim_cur, own_descriptors) - own_descriptors;
    return std::clamp<rlim_t>(left / descriptors_for_a_thread, 1, most_threads);
}

std::shared_ptr<warpseal_internal_slot_keys> new_slot_keys() {
    warpseal_internal_slot_keys* const made = warpseal_internal_slot_keys_create();
    if (made == nullptr) throw std::bad_alloc();
    return {made, warpseal_internal_slot_keys_destroy};
}

bool ends_in(const std::string& name, const std::string& ending) {
    return name.size() > ending.size() &&
           name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

class Run {
public:
    Run(const ManyTask& task, Session& session)
        : task_(task),
          session_(session),
          suffixes_(task.many, task.default_suffix),
          run_(new_slot_keys()),
          report_(task.task, task.many, session) {
        file_ = task.file;
        file_.secrets.shared = &secrets_;
    }
    ExitCode run();

private:
    bool writes() const { return task_.task != FileTask::verify; }
    void check_options(const std::vector<ManyInput>& inputs) const;
    std::vector<ManyInput> find() const;
    void name_outputs();
    void start();
    void work(const std::vector<const ManyInput*>& files, bool alone);
    void work_side_by_side(const std::vector<const ManyInput*>& files);
    void handle(const ManyInput& input, bool alone);
    // Returns false if the file was skipped.
    bool handle_one(const ManyInput& input, const std::string& output, RunFile& state);
    void find_needed_files();
    bool claim(const std::string& output);
    void remember_made(const std::string& output);
    void refuse_unsafe_removal(const ManyInput& input, const struct stat& opened,
                               const std::string& output) const;
    void remove(const ManyInput& input, const struct stat& opened) const;

    const ManyTask& task_;
    Session& session_;
    const Suffixes suffixes_;
    FileChoice file_;
    SharedSecrets secrets_;
    FileRun run_;
    Report report_;
    std::vector<ManyInput> inputs_;
    std::map<const ManyInput*, std::string> outputs_;
    std::set<std::pair<dev_t, ino_t>> identities_, needed_files_;
    std::mutex claims_mutex_;
    std::set<std::string> claims_;
    std::set<std::pair<dev_t, ino_t>> claimed_files_;
    std::atomic<size_t> next_{0};
};

void Run::check_options(const std::vector<ManyInput>& inputs) const {
    const ManyChoice& many = task_.many;
    const std::string& output = task_.output.path;
    if (output.empty()) return;
    if (!many.output_directory.empty() || !many.suffix.empty())
        throw Failure(ExitCode::usage,
                      "-o names the output: leave it or --output-dir and --suffix out.");
    if (many.has_list() || inputs.size() != 1)
        throw Failure(ExitCode::usage,
                      cli::format("-o names one output, and there are {} inputs: leave it out to "
                                  "name each output after its input, or give --output-dir.",
                                  inputs.size()));
    if (output == "-" && many.json)
        throw Failure(ExitCode::usage,
                      "the output and the lines of --json cannot both be standard output.");
    if (output == "-" && (many.remove || many.skip_done))
        throw Failure(ExitCode::usage, "--rm and --skip-done need an output that is a file.");
}

std::vector<ManyInput> Run::find() const {
    const bool sealing = task_.task == FileTask::encrypt;
    return find_inputs(
        task_.many,
        [&](const std::string& name) {
            if (!sealing) return suffixes_.length_in(name) == 0;
            const std::string& added = suffixes_.of_new_files();
            return ends_in(name, added) || ends_in(name, added + unfinished_ending);
        },
        session_);
}

// Two inputs with one output, or an output that is an input, are noticed before any work.
void Run::name_outputs() {
    std::map<std::string, const ManyInput*> named;
    for (ManyInput& input : inputs_) {
        if (input.is_regular) identities_.insert({input.identity.device, input.identity.inode});
        if (input.problem || !writes()) continue;
        try {
            outputs_[&input] = task_.output.path.empty()
                                   ? output_name(task_.task, input, task_.many, suffixes_)
                                   : task_.output.path;
        } catch (const Failure& failure) {
            input.problem = failure;
            continue;
        }
        const std::string path = std::filesystem::path(outputs_[&input]).lexically_normal();
        const auto [other, is_new] = named.emplace(path, &input);
        if (!is_new)
            throw Failure(ExitCode::usage,
                          cli::format("'{}' would be the output of both '{}' and '{}': nothing "
                                      "was written.",
                                      outputs_[&input], other->second->path, input.path));
    }
}

// Secrets and device are the same for all files: what is wrong with them ends the run at once.
void Run::start() {
    const bool sealing = task_.task == FileTask::encrypt;
    if (file_.secrets.any()) {
        const Secrets secrets(file_.secrets, file_.format, sealing);
        if (sealing) say_if_short(secrets, session_);
    } else if (sealing && !file_.age) {
        (void)read_secrets(-1, task_.task, file_);  // says what to give
    }
    if (!file_.age) {
        const std::string no_input;
        RunFile none{run_, no_input, false};
        Session session;
        session.file = &none;
        (void)create_engine(file_.engine, session);
    }
}

ExitCode Run::run() {
    inputs_ = find();
    check_options(inputs_);
    name_outputs();
    if (inputs_.empty()) {
        remark(session_, "there are no files: nothing was done.");
        return ExitCode::ok;
    }
    find_needed_files();
    start();
    std::vector<const ManyInput*> small, big;
    for (const ManyInput& input : inputs_)
        (input.bytes <= small_file_bytes ? small : big).push_back(&input);
    report_.begin(inputs_);
    if (task_.begin) {
        std::vector<std::string> paths;
        paths.reserve(inputs_.size());
        for (const ManyInput& input : inputs_)
            if (!input.problem) paths.push_back(input.path);
        task_.begin(paths);
    }
    work_side_by_side(small);
    next_ = 0;
    work(big, true);
    return report_.end();
}

void Run::work_side_by_side(const std::vector<const ManyInput*>& files) {
    const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
    const unsigned wanted =
        file_.engine.threads != 0 ? file_.engine.threads : threads_for_a_core * cores;
    const size_t count =
        std::min<size_t>({wanted, most_threads, threads_with_descriptors(), files.size()});
    if (count <= 1) return work(files, true);
    std::vector<std::thread> threads;
    try {
        threads.reserve(count - 1);
        while (threads.size() + 1 < count)
            threads.emplace_back([this, &files] { work(files, false); });
    } catch (const std::system_error&) {
        // With fewer threads it takes longer. This one works too.
    } catch (const std::bad_alloc&) {
    }
    work(files, false);
    for (std::thread& thread : threads) thread.join();
}

void Run::work(const std::vector<const ManyInput*>& files, bool alone) {
    while (!report_.is_stopped()) {
        const size_t number = next_.fetch_add(1);
        if (number >= files.size()) return;
        try {
            handle(*files[number], alone);
        } catch (...) {  // std::bad_alloc, before the file has a name in the report
            report_.out_of_memory();
        }
    }
}

void Run::handle(const ManyInput& input, bool alone) {
    RunFile state{run_, input.path, alone, static_cast<size_t>(&input - inputs_.data())};
    static const std::string none;
    const auto output = outputs_.find(&input);
    const std::string& path = output == outputs_.end() ? none : output->second;
    try {
        if (handle_one(input, path, state))
            report_.done(state, path);
        else
            report_.skipped(state, path);
    } catch (const Failure& failure) {
        report_.failed(state, path, failure);
    } catch (const std::bad_alloc&) {
        report_.out_of_memory(state, path);
    } catch (const std::exception& error) {
        report_.failed(state, path, Failure(ExitCode::error, error.what()));
    }
}

bool Run::handle_one(const ManyInput& input, const std::string& output, RunFile& state) {
    if (input.problem) throw *input.problem;
    Session session;
    session.quiet = session_.quiet;
    session.file = &state;
    FileChoice file = file_;
    file.input = input.path;
    // Since the search, a link or a pipe may have replaced a file of a directory.
    const Descriptor opened =
        open_input(input.path, input.from_directory ? O_NOFOLLOW | O_NONBLOCK : O_NONBLOCK);
    struct stat about;
    if (fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode))
        throw Failure(ExitCode::usage,
                      cli::format("'{}' is a pipe or device: give it alone, with -o.", input.path));
    const ManyChoice& many = task_.many;
    if ((many.remove || many.skip_done) && task_.check_format)
        task_.check_format(file, opened.get());
    if (many.remove) refuse_unsafe_removal(input, about, output);
    struct stat old;
    if (writes() && stat(output.c_str(), &old) == 0 &&
        identities_.count({old.st_dev, old.st_ino}) != 0)
        throw Failure(ExitCode::usage,
                      cli::format("cannot write '{}': it is an input of this command.", output));
    const bool may_replace = writes() && claim(output) && task_.output.force;
    if (many.skip_done && is_done(task_, file, opened.get(), output, session)) return false;
    if (!many.output_directory.empty()) make_directories(many.output_directory, output, task_.task);
    OutputChoice its_output = task_.output;
    its_output.path = output;
    its_output.force = may_replace;
    task_.one(file, opened.get(), its_output, session);
    if (writes()) remember_made(output);
    if (many.remove) remove(input, about);
    return true;
}

// Two names may lead to one file: through links and mounts, or where case makes no difference. With
// --force, the second output would replace the first. Returns true if there is a file to replace:
// one that appears later may be an output of this run.
bool Run::claim(const std::string& output) {
    std::error_code error;
    const std::filesystem::path resolved =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output), error);
    struct stat old;
    const bool exists = lstat(output.c_str(), &old) == 0;
    const std::lock_guard lock(claims_mutex_);
    bool is_free = claims_.insert(error ? output : resolved.string()).second;
    // Hard links to one file are replaced one by one.
    if (exists && S_ISREG(old.st_mode) && old.st_nlink == 1)
        is_free &= claimed_files_.insert({old.st_dev, old.st_ino}).second;
    if (!is_free)
        throw Failure(ExitCode::usage,
                      cli::format("cannot write '{}': it is the same file as the output of another "
                                  "input of this command.",
                                  output));
    return exists;
}

void Run::remember_made(const std::string& output) {
    struct stat made;
    if (lstat(output.c_str(), &made) != 0 || !S_ISREG(made.st_mode)) return;
    const std::lock_guard lock(claims_mutex_);
    claimed_files_.insert({made.st_dev, made.st_ino});
}

// Files that outputs open with may lie among the inputs.
void Run::find_needed_files() {
    struct stat about;
    const auto add = [&](bool found) {
        if (found) needed_files_.insert({about.st_dev, about.st_ino});
    };
    const SecretChoice& secrets = file_.secrets;
    for (const auto* paths : {&secrets.key_files, &secrets.passphrase_files, &task_.identity_files})
        for (const std::string& path : *paths)
            add(path == "-" ? fstat(STDIN_FILENO, &about) == 0 : stat(path.c_str(), &about) == 0);
    add(fstat(secrets.passphrase_descriptor, &about) == 0);
    add(stat(file_.foreign.aad_file.c_str(), &about) == 0);
}

void Run::refuse_unsafe_removal(const ManyInput& input, const struct stat& opened,
                                const std::string& output) const {
    // A link may have taken the place of a directory above the file.
    if (input.from_directory &&
        (opened.st_dev != input.identity.device || opened.st_ino != input.identity.inode))
        throw Failure(ExitCode::input_output,
                      cli::format("'{}' was replaced meanwhile, and --rm takes only what was found "
                                  "in the directory: run the command again.",
                                  input.path));
    if (needed_files_.count({opened.st_dev, opened.st_ino}) != 0)
        throw Failure(ExitCode::usage,
                      cli::format("--rm does not remove '{}': this command reads a key, "
                                  "passphrase, identity or AAD from it. Leave it out.",
                                  input.path));
    struct stat about;
    if (lstat(input.path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        throw Failure(ExitCode::usage,
                      cli::format("--rm removes no file through a symbolic link, and '{}' is one.",
                                  input.path));
    if (stat(output.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
        throw Failure(
            ExitCode::usage,
            cli::format("--rm needs an output that is a file, and '{}' is none.", output));
}

// The output has its name, and both it and its directory are synced.
void Run::remove(const ManyInput& input, const struct stat& opened) const {
    struct stat now;
    const bool same = lstat(input.path.c_str(), &now) == 0 && now.st_dev == opened.st_dev &&
                      now.st_ino == opened.st_ino && now.st_size == opened.st_size &&
                      now.st_mtim.tv_sec == opened.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == opened.st_mtim.tv_nsec;
    if (!same)
        throw Failure(ExitCode::input_output,
                      cli::format("'{}' was changed or replaced meanwhile and was not removed. The "
                                  "output of what it was is whole.",
                                  input.path));
    if (unlink(input.path.c_str()) != 0)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot remove '{}': {}. Its output is whole.", input.path,
                                  strerror(errno)));
}

}  // namespace

void refuse_skipping() {
    throw Failure(ExitCode::unsupported,
                  "--skip-done knows Warpseal files and cobblestone messages only: no other format "
                  "tells the length inside.");
}

void refuse_one_use(const std::vector<std::string>& paths, const char* option) {
    struct stat about;
    for (const std::string& path : paths)
        if (path == "-" || (stat(path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode)))
            throw Failure(ExitCode::usage,
                          cli::format("{} {} is read once, and this command may work on several "
                                      "files: name a file.",
                                      option, path));
}

ExitCode run_many(const ManyTask& task, Session& session) { return Run(task, session).run(); }

}  // namespace warpseal::cli
