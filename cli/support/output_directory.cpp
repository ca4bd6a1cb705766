// Follows links and opens pipes as the kernel does with fs.protected_symlinks and
// fs.protected_fifos. Temporary files are locked while in use.
#include "cli/support/output_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr int most_links = 40;  // limit of the kernel (path_resolution(7))
constexpr char temporary_front[] = ".warpseal-", temporary_ending[] = ".tmp";
constexpr size_t temporary_digits = 16;
constexpr time_t abandoned_after = 60;  // seconds

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

// Returns true if the file, in a sticky directory that everybody may write to, belongs neither to
// the caller nor to the directory's owner.
bool is_planted(const struct stat& file, const struct stat& folder) {
    constexpr mode_t open_to_all = S_ISVTX | S_IWOTH;
    return (folder.st_mode & open_to_all) == open_to_all && file.st_uid != geteuid() &&
           file.st_uid != folder.st_uid;
}

void refuse_planted_link(const struct stat& link, const struct stat& folder,
                         const std::string& shown) {
    if (!is_planted(link, folder)) return;
    throw Failure(ExitCode::usage, cli::format("refused to follow {}: it is a link of another "
                                               "user's in a directory where everybody may "
                                               "write. Name the file behind it.",
                                               shown));
}

void refuse_planted_stream(const struct stat& stream, const struct stat& folder,
                           const std::string& shown) {
    if (!is_planted(stream, folder)) return;
    throw Failure(
        ExitCode::usage,
        cli::format(
            "refused to write to {}: it is a pipe or device of another user's in a directory where "
            "everybody may write. Name another output.",
            shown));
}

bool is_same(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino &&
           (one.st_mode & S_IFMT) == (other.st_mode & S_IFMT) && one.st_uid == other.st_uid;
}

// The text of a procfs link may name no file.
bool on_procfs(const std::string& folder) {
    struct statfs about;
    return statfs(folder.c_str(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

std::string resolved(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), free);
    return real ? real.get() : path;
}

bool is_abandoned(const struct stat& file) {
    return S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
           time(nullptr) - file.st_mtim.tv_sec > abandoned_after;
}

bool remove_if_abandoned(int directory, const char* name, const std::vector<FileIdentity>& spared) {
    struct stat file, named;
    if (fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) != 0 || !is_abandoned(file))
        return false;
    const Descriptor opened(
        openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!opened || flock(opened.get(), LOCK_SH | LOCK_NB) != 0 || fstat(opened.get(), &file) != 0 ||
        !is_abandoned(file))
        return false;
    const auto is_it = [&](const FileIdentity& other) {
        return other.device == file.st_dev && other.inode == file.st_ino;
    };
    if (std::any_of(spared.begin(), spared.end(), is_it)) return false;
    // The lock belongs to the file; the name may by now refer to another.
    return fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_it({named.st_dev, named.st_ino}) && unlinkat(directory, name, 0) == 0;
}

}  // namespace

LinksEnd resolve_links(const std::string& path, const std::string& shown) {
    std::string end = path;
    for (int links = 0; links < most_links; ++links) {
        struct stat link, folder;
        if (lstat(end.c_str(), &link) != 0) return {path, false};
        if (!S_ISLNK(link.st_mode)) return {end, false};
        const std::string folder_path = folder_of(end);
        if (stat(folder_path.c_str(), &folder) != 0) return {path, false};
        refuse_planted_link(link, folder, shown);
        if (on_procfs(folder_path)) return {resolved(end), true};
        char text[PATH_MAX];
        const ssize_t length = readlink(end.c_str(), text, sizeof text);
        if (length <= 0 || static_cast<size_t>(length) == sizeof text) return {path, false};
        const std::string target(text, static_cast<size_t>(length));
        end = target[0] == '/' ? target : folder_path + target;
    }
    return {path, false};
}

Descriptor open_stream(const std::string& path, const struct stat& seen, const std::string& shown) {
    const auto require = [&shown](bool done) {
        if (!done)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot open {}: {}.", shown, strerror(errno)));
    };
    const std::string folder_path = folder_of(path), name = path.substr(path.rfind('/') + 1);
    struct stat folder_about, about;
    const Descriptor folder(open(folder_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    require(folder && fstat(folder.get(), &folder_about) == 0);
    refuse_planted_stream(seen, folder_about, shown);
    Descriptor stream(
        openat(folder.get(), name.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
    require(stream && fstat(stream.get(), &about) == 0);
    if (!is_same(about, seen))
        throw Failure(
            ExitCode::input_output,
            cli::format("cannot write to {}: another file took its place meanwhile.", shown));
    return stream;
}

bool is_temporary_name(const char* name) {
    constexpr size_t front = sizeof temporary_front - 1;
    return strlen(name) == front + temporary_digits + sizeof temporary_ending - 1 &&
           strncmp(name, temporary_front, front) == 0 &&
           strspn(name + front, "0123456789abcdef") == temporary_digits &&
           strcmp(name + front + temporary_digits, temporary_ending) == 0;
}

std::string temporary_name(const char* ending) {
    uint8_t bytes[temporary_digits / 2];
    if (warpseal_random(bytes, sizeof bytes) != WARPSEAL_OK)
        throw Failure(ExitCode::error,
                      "the operating system's random source failed: nothing was written");
    return temporary_front + hexadecimal(bytes, sizeof bytes) + ending;
}

std::vector<std::string> remove_abandoned(int directory, const std::vector<FileIdentity>& spared) {
    std::vector<std::string> removed;
    const int listed = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> names(listed < 0 ? nullptr : fdopendir(listed),
                                                    closedir);
    if (!names && listed >= 0) close(listed);
    while (const dirent* entry = names ? readdir(names.get()) : nullptr)
        if (is_temporary_name(entry->d_name) &&
            remove_if_abandoned(directory, entry->d_name, spared))
            removed.emplace_back(entry->d_name);
    return removed;
}

void lock_temporary(int descriptor) { (void)flock(descriptor, LOCK_EX | LOCK_NB); }

}  // namespace warpseal::cli
