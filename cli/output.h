// Where a command writes: a file that appears under its name only when it is whole and synced, or a
// stream.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <memory>
#include <string>

#include "command.h"
#include "descriptor.h"
#include "interrupt.h"
#include "output_directory.h"

namespace warpseal::cli {

// Opens an input: "-" is standard input. Throws Failure: input_missing, or input_output with the
// reason.
Descriptor open_input(const std::string& path);

// Decrypted files are private; encrypted and sealed ones need no more secrecy than the umask asks
// for.
constexpr mode_t mode_decrypted = 0600;
constexpr mode_t mode_encrypted = 0666;

class Output {
public:
    // Why a path given on the command line names no output; empty if it does.
    static std::string refused_path(const std::string& path);

    // `path` empty: standard output, refused if it is a terminal; "-": standard output in any case.
    // A device or a named pipe is written directly. Any other path must not exist unless `force`.
    // mode: permissions of a new file before the umask. Throws Failure.
    Output(const std::string& path, bool force, mode_t mode);
    // Without commit nothing is left behind: no name, no temporary.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    int descriptor() const { return file_.get(); }
    // What was written has left: a failure cannot take it back.
    bool is_stream() const { return stream_; }
    const std::string& shown() const { return shown_; }

    // Throws if the output would change or replace a file that the command reads.
    void refuse_same_file(int input);
    void refuse_same_file(const std::string& input);
    // Removes what killed runs left in the output's directory, but for the files that
    // refuse_same_file was told of.
    void remove_abandoned(const Session& session) const;

    // Syncs, then gives the file its name; a file that came into being meanwhile is not replaced
    // unless `force`. Throws Failure.
    void commit();

    // Its steps, for outputs that belong together: what can fail is behind all of them before the
    // first has its name. After sync nothing may interrupt (Uninterrupted). What replaces a file
    // has at most its permissions.
    void sync();
    // keep_replaced: what stood there keeps a name until settle or take_back, if the file system
    // can exchange two.
    void finish(bool keep_replaced = false);
    // As if finish had not been; but what was replaced and not kept is gone, and the new one stays.
    // Returns what is there now, in words.
    std::string take_back();
    // What was kept goes.
    void settle();

private:
    void refuse_same_file(const struct stat& input);
    void open_standard_output(bool refuse_terminal);
    bool is_stream_path(const std::string& path, struct stat& about) const;
    void open_descriptor(const std::string& path);
    void open_unnamed(const std::string& path);
    void open_temporary();
    void name_unnamed();
    void replace_by_unnamed();
    void rename_temporary();
    void replace_by_temporary();
    void keep_old_permissions();
    void sync_directory();
    std::string in_place() const;
    [[noreturn]] void fail(const char* what, int error, const std::string& now = {}) const;
    [[noreturn]] void fail_exists() const;

    std::string shown_;      // for messages
    std::string directory_;  // of the file
    std::string name_;       // in the directory
    std::string temporary_;  // name of the fallback's temporary; empty: the file has no name yet
    std::string replaced_;   // name that the old file has meanwhile, if it is kept
    mode_t mode_;
    bool force_;
    bool keep_replaced_ = false;
    bool is_new_ = false;  // it has its name, which nothing had
    bool stream_ = false;
    Descriptor directory_descriptor_;
    Descriptor file_;
    std::vector<FileIdentity> read_;  // by the command
    std::unique_ptr<TemporaryName> removal_;
};

}  // namespace warpseal::cli
