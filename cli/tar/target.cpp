// Moves unpacked files to their names, by descriptors of their directories.
#include "cli/tar/target.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "cli/support/command.h"
#include "cli/support/format.h"
#include "cli/support/output_directory.h"
#include "cli/support/tree/remove_tree.h"
#include "cli/tar/archive.h"

namespace warpseal::cli::tar {
namespace {

constexpr time_t abandoned_after = 60;  // seconds
constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool find(int directory, const std::string& name, struct stat& about) {
    return fstatat(directory, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
}

// The sticky bit marks a temporary directory. Who may rename in a directory could give another one
// such a name, and not the bit too.
constexpr mode_t mark = S_ISVTX;

bool is_abandoned(const struct stat& about) {
    return S_ISDIR(about.st_mode) && (about.st_mode & (mark | 0777)) == (mark | S_IRWXU) &&
           about.st_uid == geteuid() && time(nullptr) - about.st_mtim.tv_sec > abandoned_after;
}

// A directory that its owner may not write to cannot be moved (rename(2)).
class Movable {
public:
    Movable(int directory, const std::string& name) {
        struct stat about;
        if (!find(directory, name, about) || !S_ISDIR(about.st_mode)) return;
        mode_ = about.st_mode & 0777;
        if ((mode_ & S_IRWXU) == S_IRWXU ||
            fchmodat(directory, name.c_str(), mode_ | S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0)
            return;
        changed_ = Descriptor(openat(directory, name.c_str(), directory_flags | O_NOFOLLOW));
    }
    // Restores the mode, wherever the directory is now.
    int restore() const { return changed_ && fchmod(changed_.get(), mode_) != 0 ? errno : 0; }

private:
    mode_t mode_ = 0;
    Descriptor changed_;
};

std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

}  // namespace

Target::Target(const std::string& path, bool force, const Session& session)
    : path_(without_slashes(path)), force_(force) {
    open_base();
    remove_abandoned(session);
    make_tree();
}

Target::~Target() {
    if (temporary_.empty()) return;
    const Uninterrupted shield;
    if (!remove_open_tree(base_.get(), temporary_.c_str(), tree_.release()))
        complain(cli::format("'{}' could not be removed: remove it.", in_base(temporary_)));
}

void Target::open_base() {
    base_path_ = path_;
    base_ = Descriptor(open(path_.c_str(), directory_flags));
    if (base_) return;
    if (errno == ENOTDIR)
        fail(ExitCode::input_output,
             cli::format("cannot write into '{}': it is no directory.", path_));
    if (errno != ENOENT) fail_system("open", path_, errno);
    is_new_ = true;
    const size_t slash = path_.rfind('/');
    base_path_ = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    last_name_ = path_.substr(slash == std::string::npos ? 0 : slash + 1);
    base_ = Descriptor(open(base_path_.c_str(), directory_flags));
    if (!base_) fail_system("open the directory of", path_, errno);
    struct stat about;
    if (find(base_.get(), last_name_, about))
        fail(ExitCode::input_output,
             cli::format("cannot write into '{}': it is a link that leads nowhere.", path_));
}

void Target::make_tree() {
    const std::string name = temporary_name();
    removal_ = std::make_unique<TemporaryName>(in_base(name));
    if (mkdirat(base_.get(), name.c_str(), mark | S_IRWXU) != 0)
        fail_system("write into", path_, errno);
    tree_ = Descriptor(openat(base_.get(), name.c_str(), directory_flags | O_NOFOLLOW));
    if (!tree_) {
        const int error = errno;
        unlinkat(base_.get(), name.c_str(), AT_REMOVEDIR);
        fail_system("write into", path_, error);
    }
    temporary_ = name;
    lock_temporary(tree_.get());
}

// Like remove_abandoned for files.
void Target::remove_abandoned(const Session& session) const {
    const int base = base_.get();
    for (const std::string& name : names_in(base, base_path_)) {
        struct stat about;
        if (!is_temporary_name(name.c_str()) || !find(base, name, about) || !is_abandoned(about))
            continue;
        Descriptor opened(openat(base, name.c_str(), directory_flags | O_NOFOLLOW));
        // The name may by now be that of another directory.
        if (opened && flock(opened.get(), LOCK_EX | LOCK_NB) == 0 &&
            fstat(opened.get(), &about) == 0 && is_abandoned(about) &&
            remove_open_tree(base, name.c_str(), opened.release()))
            remark(session, cli::format("removed '{}', which a run that was killed left behind.",
                                        in_base(name)));
    }
}

void Target::fail_exists(const std::string& shown) const {
    fail(ExitCode::output_exists,
         cli::format("'{}' exists already: name another --output-dir, or replace files with "
                     "--force.",
                     shown));
}

void Target::check_top(const std::string& name) const {
    struct stat about;
    if (!force_ && !is_new_ && find(base_.get(), name, about)) fail_exists(in_target(name));
}

int Target::move_new(int from, int to, const std::string& name) const {
    const Movable movable(from, name);
    const char* const text = name.c_str();
    bool moved = renameat2(from, text, to, text, RENAME_NOREPLACE) == 0;
    int error = moved ? 0 : errno;
    struct stat about;
    // For file systems without RENAME_NOREPLACE. A link replaces nothing, and no directory replaces
    // a file or a directory with files.
    if (!moved && error == EINVAL && find(from, name, about)) {
        const bool directory = S_ISDIR(about.st_mode);
        if (directory && find(to, name, about))
            errno = EEXIST;
        else if (directory)
            moved = renameat(from, text, to, text) == 0;
        else
            moved = linkat(from, text, to, text, 0) == 0 && unlinkat(from, text, 0) == 0;
        error = moved ? 0 : errno;
    }
    const int restored = movable.restore();
    return moved ? restored : error;
}

void Target::place() {
    if (syncfs(tree_.get()) != 0) fail_system("sync", path_, errno);
    stop_if_interrupted();
    const Uninterrupted shield;
    if (is_new_)
        place_whole();
    else if (force_)
        place_forced();
    else
        place_names();
    if (syncfs(base_.get()) != 0)
        fail(ExitCode::input_output,
             cli::format("cannot sync '{}': {}. All files are in place; a power failure may undo "
                         "that.",
                         path_, strerror(errno)));
}

void Target::place_whole() {
    const char *const from = temporary_.c_str(), *const to = last_name_.c_str();
    const int base = base_.get();
    bool placed = renameat2(base, from, base, to, RENAME_NOREPLACE) == 0;
    // A directory that appeared meanwhile is replaced only if it is empty.
    if (!placed && errno == EINVAL) placed = renameat(base, from, base, to) == 0;
    if (!placed && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)) fail_exists(path_);
    if (!placed) fail_system("give its name to", path_, errno);
    temporary_.clear();
    removal_.reset();
    struct stat about;
    if (fstat(tree_.get(), &about) == 0)
        (void)fchmod(tree_.get(), about.st_mode & 07777 & ~mark);  // it harms nobody if it stays
}

void Target::place_names() {
    const std::vector<std::string> names = names_in(tree_.get(), path_);
    for (const std::string& name : names) check_top(name);
    for (size_t i = 0; i < names.size(); ++i) {
        const int error = move_new(tree_.get(), base_.get(), names[i]);
        if (error == 0) continue;
        std::string left;
        for (size_t j = i; j-- > 0;)
            if (move_new(base_.get(), tree_.get(), names[j]) != 0)
                left = cli::format(" '{}' is in place.", in_target(names[j]));
        if (error == EEXIST && left.empty()) fail_exists(in_target(names[i]));
        fail(ExitCode::input_output, cli::format("cannot give its name to '{}': {}.{}",
                                                 in_target(names[i]), strerror(error), left));
    }
}

void Target::check_merge(int from, int to, const std::string& shown) const {
    for (const std::string& name : names_in(from, shown)) {
        struct stat made, old;
        if (!find(from, name, made) || !find(to, name, old)) continue;
        const std::string path = cli::format("{}/{}", shown, name);
        if (S_ISDIR(made.st_mode) != S_ISDIR(old.st_mode))
            fail(ExitCode::output_exists,
                 cli::format("'{}' exists already and is {} directory, unlike in the archive: "
                             "remove it, or name another --output-dir.",
                             path, S_ISDIR(old.st_mode) ? "a" : "no"));
        if (!S_ISDIR(made.st_mode)) continue;
        (void)fchmodat(from, name.c_str(), (made.st_mode & 0777) | S_IRWXU, 0);
        const Descriptor below(openat(from, name.c_str(), directory_flags | O_NOFOLLOW)),
            there(openat(to, name.c_str(), directory_flags | O_NOFOLLOW));
        if (!below || !there) fail_system("write into", path, errno);
        check_merge(below.get(), there.get(), path);
    }
}

void Target::merge(int from, int to, const std::string& shown) {
    for (const std::string& name : names_in(from, shown)) {
        struct stat made, old;
        const std::string path = cli::format("{}/{}", shown, name);
        if (!find(from, name, made)) fail_system("give its name to", path, errno);
        int error = 0;
        if (find(to, name, old) && S_ISDIR(made.st_mode) && S_ISDIR(old.st_mode)) {
            const Descriptor below(openat(from, name.c_str(), directory_flags | O_NOFOLLOW)),
                there(openat(to, name.c_str(), directory_flags | O_NOFOLLOW));
            if (!below || !there) fail_system("write into", path, errno);
            merge(below.get(), there.get(), path);
            continue;
        }
        if (S_ISDIR(made.st_mode))
            error = move_new(from, to, name);
        else if (renameat(from, name.c_str(), to, name.c_str()) != 0)
            error = errno;
        if (error != 0) fail_system("give its name to", path, error);
        ++placed_;
    }
}

void Target::place_forced() {
    check_merge(tree_.get(), base_.get(), path_);
    try {
        merge(tree_.get(), base_.get(), path_);
    } catch (const Failure& failure) {
        fail(failure.code,
             cli::format("{} Before that, {} files or directories were put in place; the others "
                         "were not.",
                         failure.what(), placed_));
    }
}

}  // namespace warpseal::cli::tar
