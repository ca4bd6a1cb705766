// Output of a command: a stream, or an unnamed file (O_TMPFILE) that linkat(2) names when it is
// complete and synced.
#include "cli/support/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/support/format.h"
#include "cli/support/run/file_run.h"
#include "cli/support/unfinished/unfinished.h"

namespace warpseal::cli {
namespace {

std::string process_path(int descriptor) { return cli::format("/proc/self/fd/{}", descriptor); }

}  // namespace

Descriptor open_input(const std::string& path, int flags) {
    const std::string shown = path == "-" ? "standard input" : "'" + path + "'";
    Descriptor file(path == "-" ? 0 : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | flags));
    const int error = file ? 0 : errno;
    if (error == ENOENT || error == ENOTDIR)
        throw Failure(ExitCode::input_missing,
                      cli::format("there is no input {}: check the path.", shown));
    if (error)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot open {}: {}.", shown, strerror(error)));
    struct stat about;
    const int status = fcntl(file.get(), F_GETFL);
    if (status < 0 || (status & O_ACCMODE) == O_WRONLY || fstat(file.get(), &about) != 0)
        throw Failure(ExitCode::input_output, cli::format("cannot read {}: it is closed.", shown));
    if (S_ISDIR(about.st_mode))
        throw Failure(ExitCode::input_output,
                      cli::format("cannot read {}: it is a directory. Name a file; encrypt "
                                  "--tar DIRECTORY seals one.",
                                  shown));
    return file;
}

std::string Output::refused_path(const std::string& path) {
    if (path.empty()) return "it names no file; - is standard output";
    const size_t slash = path.rfind('/');
    return is_temporary_name(path.c_str() + (slash == std::string::npos ? 0 : slash + 1))
               ? "names like that are of temporary files, which later commands remove"
               : "";
}

Output::Output(const std::string& path, bool force, mode_t mode)
    : Output(path, force, mode, "name another one, or replace it with --force") {}

Output::Output(const std::string& path, mode_t mode)
    : Output(path, false, mode, "name another one, or remove it") {}

Output::Output(const OutputChoice& choice, mode_t mode)
    : Output(choice.pipe < 0 ? choice.path : "-", choice.force, mode,
             "name another one, or replace it with --force", choice.resume) {
    if (choice.pipe < 0) return;
    shown_ = "'" + choice.path + "'";
    file_ = Descriptor(fcntl(choice.pipe, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!file_) fail("cannot write to", errno);
    dropped_ = true;
}

Output::Output(const std::string& path, bool force, mode_t mode, const char* exists_hint,
               bool resume)
    : shown_(path.empty() || path == "-" ? "standard output" : "'" + path + "'"),
      resume_(resume),
      mode_(mode),
      force_(force),
      exists_hint_(exists_hint) {
    if (path.empty() || path == "-") {
        open_standard_output(path.empty());
        return;
    }
    // The target of a symbolic link is the output, as with a shell's redirection. A dangling link
    // is an ordinary existing name.
    const LinksEnd end = resolve_links(path, shown_);
    struct stat seen;
    stream_ = is_stream_path(path, seen);
    if (!stream_)
        open_file(end.path);
    else if (end.through_procfs)
        open_descriptor(path);
    else
        file_ = open_stream(end.path, seen, shown_);
}

Output::~Output() {
    if (!temporary_.empty() && unfinished().empty())
        unlinkat(directory_descriptor_.get(), temporary_.c_str(), 0);
}

std::string Output::unfinished() const {
    struct stat about;
    const bool kept =
        resume_ && !temporary_.empty() && fstat(file_.get(), &about) == 0 && about.st_size != 0;
    return kept ? path_of(temporary_) : "";
}

std::string Output::path_of(const std::string& name) const {
    return directory_ == "." ? name : directory_ + name;
}

void Output::open_standard_output(bool refuse_terminal) {
    stream_ = true;
    file_ = Descriptor(STDOUT_FILENO);
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        throw Failure(ExitCode::input_output,
                      "cannot write to standard output: it is closed. Name a file.");
    if (refuse_terminal && isatty(STDOUT_FILENO))
        throw Failure(ExitCode::usage,
                      "refused to write binary data to the terminal: name a file with -o, use a "
                      "pipe, or say -o -.");
}

// Also refuses, before any work, paths that cannot or must not be written.
bool Output::is_stream_path(const std::string& path, struct stat& about) const {
    if (lstat(path.c_str(), &about) != 0) {
        if (errno != ENOENT) fail("cannot use", errno);
        return false;
    }
    // dangling link
    if (S_ISLNK(about.st_mode) && stat(path.c_str(), &about) != 0 && !force_) fail_exists();
    if (S_ISDIR(about.st_mode))
        throw Failure(
            ExitCode::input_output,
            cli::format("cannot write to {}: it is a directory. Name a file in it.", shown_));
    if (S_ISCHR(about.st_mode) || S_ISFIFO(about.st_mode) || (S_ISBLK(about.st_mode) && force_))
        return true;
    if (!force_) fail_exists();
    return false;
}

void Output::open_file(const std::string& path) {
    const size_t slash = path.rfind('/');
    directory_ = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    name_ = path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (name_.empty())
        throw Failure(ExitCode::input_output,
                      cli::format("cannot write to {}: it names a directory.", shown_));
    directory_descriptor_ =
        Descriptor(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory_descriptor_) fail("cannot open the directory of", errno);
    if (!resume_) return open_unnamed();
    if (is_unfinished_name(name_))
        throw Failure(ExitCode::usage, cli::format("cannot write to {} with --resume: names like "
                                                   "that are of unfinished outputs.",
                                                   shown_));
    const std::string name = name_ + unfinished_ending;
    file_ = open_unfinished(directory_descriptor_.get(), name, mode_, "'" + path_of(name) + "'");
    temporary_ = name;
}

void Output::open_unnamed() {
    file_ =
        Descriptor(openat(directory_descriptor_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode_));
    if (file_ && access(process_path(file_.get()).c_str(), F_OK) == 0)
        return lock_temporary(file_.get());
    // Without /proc, an unnamed file cannot get a name.
    const int error = file_ ? EOPNOTSUPP : errno;
    // Errors of kernels and file systems without O_TMPFILE (open(2)).
    if (error != EOPNOTSUPP && error != EISDIR && error != EINVAL && error != ENOSYS)
        fail("cannot create", error);
    open_temporary();
}

// Paths such as /dev/stdout and /proc/self/fd/N. The descriptor's file was chosen before this
// program started.
void Output::open_descriptor(const std::string& path) {
    file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file_) fail("cannot open", errno);
}

void Output::open_temporary() {
    const std::string name = temporary_name();
    removal_ = std::make_unique<TemporaryName>(directory_ + "/" + name);
    file_ = Descriptor(openat(directory_descriptor_.get(), name.c_str(),
                              O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_));
    if (!file_) fail("cannot create", errno);
    lock_temporary(file_.get());
    temporary_ = name;
    // Printed under --quiet too, because a user who kills the program must know the location of the
    // file.
    complain(
        cli::format("this file system has no unnamed files: until it is whole, {} is kept as '{}'; "
                    "if the program is killed (signal "
                    "9), remove that file, or let a later run into the same directory remove it.",
                    shown_, directory_ + "/" + name));
}

void Output::refuse_same_file(int input) {
    struct stat about;
    if (fstat(input, &about) == 0) refuse_same_file(about);
}

void Output::refuse_same_file(const std::string& input) {
    struct stat about;
    if (stat(input.c_str(), &about) == 0) refuse_same_file(about);
}

void Output::refuse_same_file(const struct stat& input) {
    read_.push_back({input.st_dev, input.st_ino});
    if (!S_ISREG(input.st_mode)) return;
    struct stat output;  // The file that is open, or the old one that would be replaced.
    const auto is_input = [&](bool found) {
        return found && input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    };
    if (is_input(fstat(file_.get(), &output) == 0) ||
        (!stream_ && is_input(fstatat(directory_descriptor_.get(), name_.c_str(), &output,
                                      AT_SYMLINK_NOFOLLOW) == 0)))
        throw Failure(
            ExitCode::usage,
            cli::format(
                "{} is the same file as one that is read here: name another output with -o.",
                shown_));
}

void Output::remove_abandoned(const Session& session) const {
    if (stream_) return;
    struct stat about;
    if (session.file != nullptr && fstat(directory_descriptor_.get(), &about) == 0 &&
        !session.file->run.is_first_file_in({about.st_dev, about.st_ino}))
        return;
    for (const std::string& name : cli::remove_abandoned(directory_descriptor_.get(), read_))
        remark(session, cli::format("removed '{}', which a run that was killed left behind.",
                                    directory_ + "/" + name));
}

void Output::commit() {
    sync();
    Uninterrupted shield;
    finish();
}

// Until all is on the disk, what lies behind the length lets a later command continue.
void Output::cut() {
    if (fsync(file_.get()) != 0) {
        // The kernel may have dropped what it could not write, so no later command continues it.
        const int error = errno;
        const bool empty = ftruncate(file_.get(), 0) == 0;
        fail("cannot sync", error, empty ? "What was done was discarded." : "");
    }
    if (const int signal_number = interrupted_by())
        throw Failure(
            ExitCode(128 + signal_number),
            cli::format("interrupted: {} is not finished. The same command finishes it.", shown_));
    if (ftruncate(file_.get(), static_cast<off_t>(length_)) != 0)
        fail("cannot give its length to", errno);
    resume_ = false;
}

void Output::sync() {
    if (resume_ && !stream_) cut();
    if (preserved_) apply_preserved();
    keep_old_permissions();
    // A regular file on standard output is synced like a file of -o; pipes and devices have nothing
    // to sync. fsync is never retried after a failure, because the kernel may have dropped the
    // pages.
    const bool failed = fsync(file_.get()) != 0;
    if (failed && !(stream_ && (errno == EINVAL || errno == EROFS || errno == ENOTSUP)))
        fail("cannot sync", errno);
    if (stream_) return;
    if (const int signal_number = interrupted_by())
        throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
}

void Output::finish(bool keep_replaced) {
    keep_replaced_ = keep_replaced;
    if (stream_) {
        if (!file_.close())
            fail("cannot finish", errno, "What was written may not all have arrived.");
        return;
    }
    if (temporary_.empty())
        name_unnamed();
    else
        rename_temporary();
    sync_directory();
    if (file_.close()) return;
    const int error = errno;
    fail("cannot close", error, keep_replaced_ ? take_back() : in_place());
}

std::string Output::take_back() {
    const int directory = directory_descriptor_.get();
    if (std::exchange(is_new_, false))
        return unlinkat(directory, name_.c_str(), 0) == 0 ? "Nothing is left under its name."
                                                          : "The new file could not be removed.";
    if (replaced_.empty()) return in_place();
    const std::string other = std::exchange(replaced_, {});
    if (renameat2(directory, other.c_str(), directory, name_.c_str(), RENAME_EXCHANGE) == 0) {
        unlinkat(directory, other.c_str(), 0);
        return "The old file is back.";
    }
    complain(
        cli::format("{} was replaced; what it was is now '{}'.", shown_, directory_ + "/" + other));
    return "The new file is in its place; the old one has another name.";
}

std::string Output::in_place() const {
    return is_new_ ? "The new file is there, whole and synced."
                   : "The old file is gone; the new one is in its place, whole and synced.";
}

void Output::settle() {
    const std::string old = std::exchange(replaced_, {});
    if (!old.empty() && unlinkat(directory_descriptor_.get(), old.c_str(), 0) != 0)
        fail(("cannot remove '" + old + "', which was replaced by").c_str(), errno);
}

void Output::name_unnamed() {
    const std::string unnamed = process_path(file_.get());
    is_new_ = linkat(AT_FDCWD, unnamed.c_str(), directory_descriptor_.get(), name_.c_str(),
                     AT_SYMLINK_FOLLOW) == 0;
    if (is_new_) return;
    if (errno != EEXIST) fail("cannot give its name to", errno);
    if (!force_) fail_exists();
    replace_by_unnamed();
}

// linkat(2) cannot replace a file. The complete, synced file therefore has a second name for the
// time of two system calls.
void Output::replace_by_unnamed() {
    const std::string name = temporary_name();
    const TemporaryName removal(directory_ + "/" + name);
    if (linkat(AT_FDCWD, process_path(file_.get()).c_str(), directory_descriptor_.get(),
               name.c_str(), AT_SYMLINK_FOLLOW) != 0)
        fail("cannot give its name to", errno);
    temporary_ = name;
    rename_temporary();
}

void Output::rename_temporary() {
    const int directory = directory_descriptor_.get();
    is_new_ =
        renameat2(directory, temporary_.c_str(), directory, name_.c_str(), RENAME_NOREPLACE) == 0;
    if (!is_new_ && force_) return replace_by_temporary();
    if (!is_new_) {
        if (errno == EEXIST) fail_exists();
        // For file systems without RENAME_NOREPLACE: a hard link does not replace a file either.
        is_new_ = linkat(directory, temporary_.c_str(), directory, name_.c_str(), 0) == 0;
        if (!is_new_ && errno == EEXIST) fail_exists();
        if (!is_new_)
            fail("cannot name without the risk of replacing (--force accepts that)", errno);
        unlinkat(directory, temporary_.c_str(), 0);
    }
    temporary_.clear();
}

void Output::replace_by_temporary() {
    const int directory = directory_descriptor_.get();
    // The replaced file may be restored, so its name must not look like a temporary file to a later
    // run.
    if (keep_replaced_) {
        const std::string old = temporary_name(".old");
        if (renameat2(directory, temporary_.c_str(), directory, old.c_str(), RENAME_NOREPLACE) == 0)
            temporary_ = old;
    }
    const bool kept = keep_replaced_ && renameat2(directory, temporary_.c_str(), directory,
                                                  name_.c_str(), RENAME_EXCHANGE) == 0;
    // File systems without RENAME_NOREPLACE refuse it for a new name too.
    struct stat old;
    const bool is_new = !kept &&
                        fstatat(directory, name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0 &&
                        errno == ENOENT;
    if (!kept && renameat(directory, temporary_.c_str(), directory, name_.c_str()) != 0)
        fail("cannot replace", errno);
    is_new_ = is_new;
    if (kept) replaced_ = temporary_;
    temporary_.clear();
}

void Output::sync_directory() {
    // EINVAL: the file system has no directory sync.
    if (fsync(directory_descriptor_.get()) == 0 || errno == EINVAL) return;
    const int error = errno;
    const bool gone = !is_new_ && replaced_.empty();
    // Success is not reported for a file that a power failure may undo.
    const std::string now = take_back();
    fail("cannot sync the directory of", error,
         now + (gone ? " A loss of power may still undo that." : ""));
}

void Output::fail(const char* what, int error, const std::string& now) const {
    const char* next =
        error == ENOSPC || error == EDQUOT ? " Free some space or write to another disk." : "";
    throw Failure(ExitCode::input_output,
                  cli::format("{} {}: {}.{}{}{}", what, shown_, strerror(error),
                              now.empty() ? "" : " ", now, next));
}

void Output::fail_exists() const {
    throw Failure(ExitCode::output_exists,
                  cli::format("output {} exists and was left alone: {}.", shown_, exists_hint_));
}

}  // namespace warpseal::cli
