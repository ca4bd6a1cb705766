// Permissions, owner and times of an output.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "cli/support/format.h"
#include "cli/support/output.h"

namespace warpseal::cli {

namespace {

// Where there is an access control list, the group bits of the mode are its mask (acl(5)).
constexpr const char* access_list = "system.posix_acl_access";

bool has_access_list(int file) { return fgetxattr(file, access_list, nullptr, 0) > 0; }

constexpr const char* without_preserve =
    "Leave out --preserve, or write to a file system that can keep it.";

}  // namespace

void Output::preserve(int input) {
    struct stat about;
    if (stream_ || fstat(input, &about) != 0 || !S_ISREG(about.st_mode))
        throw Failure(
            ExitCode::usage,
            cli::format("--preserve needs an input and an output that are files: leave it "
                        "out, or name {}.",
                        stream_ ? "the output with -o" : "an input"));
    if (has_access_list(input)) about.st_mode &= ~mode_t{S_IRWXG};
    preserved_ = about;
}

// Set-id bits are not preserved: they would lend the owner's rights to what was decrypted. A group
// that the input did not have gets no more than all others.
void Output::apply_preserved() {
    const int file = file_.get();
    if (geteuid() == 0 && fchown(file, preserved_->st_uid, preserved_->st_gid) != 0)
        fail("cannot preserve the owner for", errno, without_preserve);
    struct stat made;
    if (fstat(file, &made) != 0) fail("cannot read the permissions of", errno);
    mode_t mode = preserved_->st_mode & 0777;
    if (made.st_gid != preserved_->st_gid) mode &= ~mode_t{S_IRWXG} | (mode & S_IRWXO) << 3;
    // The directory's default list names users whom the input did not.
    if (has_access_list(file)) mode &= ~mode_t{S_IRWXG};
    if (fchmod(file, mode) != 0)
        fail("cannot preserve the permissions for", errno, without_preserve);
    const struct timespec times[2] = {preserved_->st_atim, preserved_->st_mtim};
    if (futimens(file, times) != 0) fail("cannot preserve the time for", errno, without_preserve);
}

// A file that replaces another is not readable by anyone whom the old one excluded. Runs before the
// sync, which then includes the mode.
void Output::keep_old_permissions() {
    constexpr mode_t permissions = 0777;
    struct stat old, made;
    if (stream_ || !force_ ||
        fstatat(directory_descriptor_.get(), name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (!S_ISREG(old.st_mode)) return;
    if (fstat(file_.get(), &made) != 0) fail("cannot read the permissions of", errno);
    mode_t wanted = made.st_mode & old.st_mode & permissions;
    // If the group differs or there is an access control list, the group bits do not describe the
    // old access.
    const std::string path = directory_ + "/" + name_;
    if (old.st_gid != made.st_gid || lgetxattr(path.c_str(), access_list, nullptr, 0) > 0)
        wanted &= ~mode_t{S_IRWXG};
    if (wanted != (made.st_mode & permissions) && fchmod(file_.get(), wanted) != 0)
        fail("cannot keep the permissions of", errno);
}

}  // namespace warpseal::cli
