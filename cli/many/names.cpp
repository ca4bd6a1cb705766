// Names outputs by suffixes and directories, and creates directories.
#include "cli/many/names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

bool is_directory(const std::string& path) {
    struct stat about;
    return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

// The new name must survive a loss of power as the file in it does.
void sync_parent(const std::string& path) {
    const size_t end = path.find_last_not_of('/');
    const size_t slash = path.rfind('/', end);
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const Descriptor directory(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || (fsync(directory.get()) != 0 && errno != EINVAL))
        throw Failure(ExitCode::input_output,
                      cli::format("cannot sync the directory '{}': {}.", parent, strerror(errno)));
}

void make_directory(const std::string& path, mode_t mode) {
    if (is_directory(path)) return;
    if (mkdir(path.c_str(), mode) == 0) return sync_parent(path);
    // Another program may have made it.
    if (errno == EEXIST && is_directory(path)) return;
    throw Failure(ExitCode::input_output,
                  cli::format("cannot create the directory '{}': {}.", path, strerror(errno)));
}

// Beside such paths, of a descriptor for instance, no output has its place.
bool is_of_system(const std::string& path) {
    return path.rfind("/dev/", 0) == 0 || path.rfind("/proc/", 0) == 0;
}

// Returns the path of a file, also where the name alone means something else.
std::string as_file(const std::string& path) {
    const std::string reason = Output::refused_path(path);
    if (!reason.empty())
        throw Failure(ExitCode::usage, cli::format("cannot write '{}': {}.", path, reason));
    return path == "-" ? "./-" : path;
}

}  // namespace

Suffixes::Suffixes(const ManyChoice& choice, const std::string& default_suffix)
    : added_(choice.suffix.empty() ? default_suffix : choice.suffix) {
    known_ = choice.suffix.empty() ? std::vector<std::string>{".ws", ".age", ".floe"}
                                   : std::vector<std::string>{choice.suffix};
}

size_t Suffixes::length_in(const std::string& name) const {
    for (const std::string& suffix : known_) {
        // A name that is the suffix alone would leave nothing.
        if (name.size() > suffix.size() && name[name.size() - suffix.size() - 1] != '/' &&
            name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
            return suffix.size();
    }
    return 0;
}

std::string output_name(FileTask task, const ManyInput& input, const ManyChoice& choice,
                        const Suffixes& suffixes) {
    std::string path = input.path;
    if (!choice.output_directory.empty())
        path = choice.output_directory + (choice.output_directory.back() == '/' ? "" : "/") +
               input.relative;
    if (task == FileTask::encrypt) return as_file(path + suffixes.of_new_files());
    const size_t length = suffixes.length_in(path);
    if (length == 0)
        throw Failure(ExitCode::usage,
                      cli::format("the name '{}' does not end in {}, which would be taken off for "
                                  "the output: give --suffix, or decrypt it alone with -o.",
                                  input.path, suffixes.of_new_files()));
    return as_file(path.substr(0, path.size() - length));
}

void name_output_at_terminal(FileTask task, const std::string& input, const char* suffix,
                             OutputChoice& output, const Session& session) {
    struct stat about;
    if (!output.path.empty() || input == "-" || isatty(STDOUT_FILENO) == 0 || is_of_system(input) ||
        stat(input.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return;
    ManyInput named;
    named.path = input;
    const Suffixes suffixes({}, suffix);
    if (task == FileTask::decrypt && suffixes.length_in(input) == 0) return;
    output.path = output_name(task, named, {}, suffixes);
    remark(session, cli::format("the output is '{}'.", output.path));
}

void make_directories(const std::string& base, const std::string& output, FileTask task) {
    // Directories of decrypted files are private.
    const mode_t mode = task == FileTask::decrypt ? 0700 : 0777;
    const size_t end = output.rfind('/');
    // No other thread uses a directory whose name is not synced yet: --rm would remove its input.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    make_directory(base, mode);
    for (size_t at = output.find('/', base.size() + 1); at != std::string::npos && at <= end;
         at = output.find('/', at + 1))
        make_directory(output.substr(0, at), mode);
}

}  // namespace warpseal::cli
