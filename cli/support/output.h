// Output of a command: a stream, or a file that gets its name only when it is complete and synced.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/interrupt.h"
#include "cli/support/output_directory.h"

namespace warpseal::cli {

// Opens an input; "-" is standard input. Throws Failure: input_missing, or input_output with the
// reason. `flags` are added to those of open(2).
Descriptor open_input(const std::string& path, int flags = 0);

// Decrypted files are readable by their owner only. Encrypted files get the permissions of the
// umask.
constexpr mode_t mode_decrypted = 0600;
constexpr mode_t mode_encrypted = 0666;

struct OutputChoice {
    std::string path;
    bool force = false;
    bool preserve = false;  // --preserve
    // The end of a pipe to another part of this program, which drops what it read if the command
    // fails. `path` is then its name for messages.
    int pipe = -1;
    bool resume = false;  // --resume
};

class Output {
public:
    // Returns why a path from the command line cannot be an output; empty if it can.
    static std::string refused_path(const std::string& path);

    // An empty `path` is standard output, refused if it is a terminal; "-" is standard output in
    // any case. Devices and named pipes are written directly. Any other path must not exist unless
    // `force` is set. `mode` holds the permissions of a new file before the umask. Throws Failure.
    Output(const std::string& path, bool force, mode_t mode);
    // Takes the path, or the pipe, from a command's options. With `resume` the file has a name of
    // its own until commit, and stays there after a failure.
    Output(const OutputChoice& choice, mode_t mode);
    // For commands without --force.
    Output(const std::string& path, mode_t mode);
    // Without commit, removes every trace: no name and no temporary file remain.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    int descriptor() const { return file_.get(); }
    // Returns true for a stream, whose bytes cannot be taken back after a failure.
    bool is_stream() const { return stream_; }
    // Returns true if what was written stays where it is after a failure.
    bool keeps_failed() const { return stream_ && !dropped_; }
    const std::string& shown() const { return shown_; }
    // An unfinished file is now whole. Commit cuts it to that length.
    void set_length(uint64_t bytes) { length_ = bytes; }
    // Path of what a later command can continue; empty for nothing.
    std::string unfinished() const;

    // Throws if the output would change or replace a file that the command reads.
    void refuse_same_file(int input);
    void refuse_same_file(const std::string& input);
    // Gives the file the permissions and times of the input, and its owner and group if this
    // process is root's, before it is synced. Throws Failure unless both are regular files.
    void preserve(int input);
    // Removes temporary files of killed runs from the output's directory, except files passed to
    // refuse_same_file. In a run over several files, once for each directory.
    void remove_abandoned(const Session& session) const;

    // Syncs, then gives the file its name. Without `force`, does not replace a file that appeared
    // in the meantime. Throws Failure.
    void commit();

    // sync and finish are the two steps of commit, for outputs that belong together: sync all of
    // them, then name each. Block signals after sync (Uninterrupted). A file that replaces another
    // has at most its permissions.
    void sync();
    // `keep_replaced`: the old file keeps a temporary name until settle or take_back, if the file
    // system can exchange two names.
    void finish(bool keep_replaced = false);
    // Undoes finish. A replaced file that was not kept is lost, and the new file then stays.
    // Returns a text that says what the path holds now.
    std::string take_back();
    // Deletes the old file that finish kept.
    void settle();

private:
    Output(const std::string& path, bool force, mode_t mode, const char* exists_hint,
           bool resume = false);
    void refuse_same_file(const struct stat& input);
    void open_standard_output(bool refuse_terminal);
    bool is_stream_path(const std::string& path, struct stat& about) const;
    void open_descriptor(const std::string& path);
    void open_file(const std::string& path);
    void open_unnamed();
    void open_temporary();
    void name_unnamed();
    void replace_by_unnamed();
    void rename_temporary();
    void replace_by_temporary();
    void cut();
    void keep_old_permissions();
    void apply_preserved();
    void sync_directory();
    // Path of another file in the directory.
    std::string path_of(const std::string& name) const;
    std::string in_place() const;
    [[noreturn]] void fail(const char* what, int error, const std::string& now = {}) const;
    [[noreturn]] void fail_exists() const;

    std::string shown_;      // path for messages
    std::string directory_;  // directory of the file
    std::string name_;       // name within the directory
    // Name of the fallback's temporary file, or of the unfinished one; empty: the file has no name
    // yet.
    std::string temporary_;
    bool resume_;           // true: `temporary_` is an unfinished file, for later commands
    uint64_t length_ = 0;   // of the unfinished file when it is whole
    std::string replaced_;  // temporary name of the old file, if it is kept
    mode_t mode_;
    bool force_;
    const char* exists_hint_;
    bool keep_replaced_ = false;
    bool is_new_ = false;  // true: the file has its name, which did not exist before
    bool stream_ = false;
    bool dropped_ = false;  // the stream is the pipe of an OutputChoice
    Descriptor directory_descriptor_;
    Descriptor file_;
    std::optional<struct stat> preserved_;  // of the input
    std::vector<FileIdentity> read_;        // files that the command reads
    std::unique_ptr<TemporaryName> removal_;
};

}  // namespace warpseal::cli
