// Makes files below a directory by descriptors of their directories, so that no link is followed.
#include "cli/tar/tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cli/support/format.h"

namespace warpseal::cli::tar {
namespace {

constexpr int no_follow_flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr char doing[] = "unpack";

// Sets the time of modification, and leaves that of the last access alone.
struct Times {
    explicit Times(const timespec& modified) : both{{0, UTIME_OMIT}, modified} {}
    timespec both[2];
};

// Some file systems have no modes, or none for this file. We own it, so it is no lack of rights.
bool has_no_modes(int error) { return error == EPERM || error == ENOTSUP; }

// Sets mode and time. Returns 0 or an errno.
int finish_attributes(int descriptor, mode_t mode, const timespec& modified) {
    if (fchmod(descriptor, mode) != 0 && !has_no_modes(errno)) return errno;
    return futimens(descriptor, Times(modified).both) == 0 ? 0 : errno;
}

[[noreturn]] void fail_make(const std::string& shown, int error) {
    if (error == EEXIST) refuse(shown, "the archive has two entries of that name");
    fail_system(doing, shown, error);
}

}  // namespace

void refuse(const std::string& shown, const std::string& why) {
    fail(ExitCode::refused_entry, cli::format("cannot unpack '{}': {}.", shown, why));
}

Tree::Tree(int root, mode_t removed) : removed_(removed) {
    levels_.push_back({"", "", Descriptor(fcntl(root, F_DUPFD_CLOEXEC, 3)), {}});
    if (!levels_[0].directory) fail_system("open", "the temporary directory", errno);
}

Tree::Level Tree::open_level(const std::string& name, const std::string& shown) const {
    const int parent = levels_.back().directory.get();
    Level level{name, shown, {}, {}};
    const bool is_new = mkdirat(parent, name.c_str(), S_IRWXU) == 0;
    if (!is_new && errno != EEXIST) fail_system(doing, shown, errno);
    if (!is_new) {
        struct stat about;
        if (fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
            fail_system(doing, shown, errno);
        if (S_ISLNK(about.st_mode)) refuse(shown, "it would go through a symbolic link");
        if (!S_ISDIR(about.st_mode)) refuse(shown, "the archive has a file of that name too");
        level.attributes = Attributes{about.st_mode, about.st_mtim};
        // Its mode may keep its owner out.
        if (fchmodat(parent, name.c_str(), S_IRWXU, 0) != 0 && !has_no_modes(errno))
            fail_system(doing, shown, errno);
    }
    level.directory = Descriptor(openat(parent, name.c_str(), O_RDONLY | no_follow_flags));
    if (!level.directory) fail_system(doing, shown, errno);
    return level;
}

void Tree::leave(size_t levels) {
    while (levels_.size() > levels) {
        const Level level = std::move(levels_.back());
        levels_.pop_back();
        if (!level.attributes) continue;
        const int error = finish_attributes(level.directory.get(), kept(level.attributes->mode),
                                            level.attributes->modified);
        if (error != 0) fail_system(doing, level.shown, error);
    }
}

// Enters the first `count` directories, which are made if they are not there.
int Tree::enter(const std::vector<std::string>& names, size_t count, const std::string& shown) {
    size_t common = 0;
    while (common < count && common + 1 < levels_.size() &&
           levels_[common + 1].name == names[common])
        ++common;
    leave(common + 1);
    for (size_t i = common; i < count; ++i) levels_.push_back(open_level(names[i], shown));
    return levels_.back().directory.get();
}

void Tree::make_directory(const std::vector<std::string>& names, const Attributes& attributes,
                          const std::string& shown) {
    enter(names, names.size(), shown);
    levels_.back().attributes = attributes;
}

Descriptor Tree::make_file(const std::vector<std::string>& names, const std::string& shown) {
    const int parent = enter(names, names.size() - 1, shown);
    Descriptor file(openat(parent, names.back().c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
    if (!file) fail_make(shown, errno);
    return file;
}

void Tree::finish_file(int file, uint64_t bytes, const Attributes& attributes,
                       const std::string& shown) const {
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) fail_system(doing, shown, errno);
    const int error = finish_attributes(file, kept(attributes.mode), attributes.modified);
    if (error != 0) fail_system(doing, shown, error);
}

void Tree::make_symbolic_link(const std::vector<std::string>& names, const std::string& target,
                              const timespec& modified, const std::string& shown) {
    const int parent = enter(names, names.size() - 1, shown);
    if (symlinkat(target.c_str(), parent, names.back().c_str()) != 0) fail_make(shown, errno);
    // A file system may have no times for links.
    if (utimensat(parent, names.back().c_str(), Times(modified).both, AT_SYMLINK_NOFOLLOW) != 0 &&
        errno != ENOTSUP)
        fail_system(doing, shown, errno);
}

void Tree::make_hard_link(const std::vector<std::string>& names,
                          const std::vector<std::string>& target, const std::string& shown) {
    const int parent = enter(names, names.size() - 1, shown);
    Descriptor directory(fcntl(levels_[0].directory.get(), F_DUPFD_CLOEXEC, 3));
    for (size_t i = 0; directory && i + 1 < target.size(); ++i)
        directory =
            Descriptor(openat(directory.get(), target[i].c_str(), O_PATH | no_follow_flags));
    struct stat about;
    const bool found = directory && fstatat(directory.get(), target.back().c_str(), &about,
                                            AT_SYMLINK_NOFOLLOW) == 0;
    if (!found && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        fail_system(doing, shown, errno);
    if (!found || !S_ISREG(about.st_mode))
        refuse(shown, "it is a hard link to something that is no file unpacked before it");
    if (linkat(directory.get(), target.back().c_str(), parent, names.back().c_str(), 0) != 0)
        fail_make(shown, errno);
}

}  // namespace warpseal::cli::tar
