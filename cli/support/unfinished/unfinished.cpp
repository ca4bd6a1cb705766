// Opens and locks unfinished outputs.
#include "cli/support/unfinished/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// Anyone who has the file open could read what is written, or change what was verified.
std::string why_unsafe(const struct stat& about, mode_t mode) {
    if (!S_ISREG(about.st_mode)) return "it is no regular file";
    if (about.st_uid != geteuid()) return "it belongs to another user";
    if (about.st_nlink != 1) return "it has another name too";
    if ((about.st_mode & 0777 & ~mode) != 0) return "its permissions are too wide";
    return {};
}

void lock_file(const Descriptor& file, const std::string& shown) {
    int failed = 0;
    do {
        failed = flock(file.get(), LOCK_EX | LOCK_NB);
    } while (failed != 0 && errno == EINTR);
    if (failed == 0) return;
    if (errno == EWOULDBLOCK)
        throw Failure(ExitCode::input_output,
                      cli::format("another run is writing {}: wait until it has ended.", shown));
    throw Failure(ExitCode::input_output,
                  cli::format("cannot lock {}: {}. Leave out --resume, or write to another file "
                              "system.",
                              shown, strerror(errno)));
}

}  // namespace

bool is_unfinished_name(const std::string& name) {
    constexpr size_t length = sizeof unfinished_ending - 1;
    return name.size() > length &&
           name.compare(name.size() - length, length, unfinished_ending) == 0;
}

Descriptor open_unfinished(int directory, const std::string& name, mode_t mode,
                           const std::string& shown) {
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    Descriptor file(openat(directory, name.c_str(), flags, mode));
    if (!file && errno != ELOOP && errno != EISDIR)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot open {}: {}.", shown, strerror(errno)));
    struct stat about = {}, named;
    if (file && fstat(file.get(), &about) != 0)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot read {}: {}.", shown, strerror(errno)));
    const std::string why = why_unsafe(about, mode);
    if (!why.empty())
        throw Failure(ExitCode::output_exists,
                      cli::format("{} cannot be continued, and was left alone: {}. Remove it, or "
                                  "name another output.",
                                  shown, why));
    lock_file(file, shown);
    // Before the lock, another run may have finished or removed it.
    if (fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        named.st_dev != about.st_dev || named.st_ino != about.st_ino)
        throw Failure(ExitCode::input_output,
                      cli::format("another run has just written {}: try again.", shown));
    return file;
}

}  // namespace warpseal::cli
