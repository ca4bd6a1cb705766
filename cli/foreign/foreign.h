// Files in formats of other programs: FLOE, and those of `openssl enc`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/file_command.h"
#include "cli/support/stream.h"

namespace warpseal::cli {

struct Range;  // cli/files/range.h

// Returns the format that --format names, or that a file to decrypt or verify seems to have by its
// first bytes, or by the options. Does not consume input. Throws Failure if a signal asked the
// program to stop.
ForeignFormat foreign_format(FileTask task, const FileChoice& choice, int input);

// Throws Failure (usage) if options of other formats are given.
void refuse_foreign_options(const FileChoice& choice);

// Throws Failure (unsupported) if --format names a format that `what` does not have.
void refuse_foreign_format(const FileChoice& choice, const char* what);

// Like run_file_task, for an input whose format choice.foreign.format is. `output` is open, or null
// for verify. `named` has the secrets that the options name, if there are any. `range` is of FLOE
// in a file, or null.
ExitCode run_foreign(FileTask task, const FileChoice& choice, const SealChoice& seal,
                     Output* output, std::optional<Secrets> named, int input, Session& session,
                     const Range* range = nullptr);

// Writes what verifies of a damaged file of FLOE, and fills the report. Returns the status of the
// file: report.finished tells if there is an output. Throws Failure.
warpseal_status rescue_foreign(const FileChoice& choice, Output& output, int input,
                               Session& session, warpseal_rescue& report,
                               warpseal_file_result& result);

// State of one call.
class ForeignJob {
public:
    ForeignJob(FileTask task, const FileChoice& choice, int input, Output* output,
               warpseal_engine* engine, Session& session);
    FileTask task() const { return task_; }
    const ForeignChoice& options() const { return choice_.foreign; }
    const FileChoice& choice() const { return choice_; }
    Session& session() const { return session_; }
    std::string input_name() const { return shown(choice_); }
    warpseal_engine* engine() const { return engine_; }
    int input() const { return input_; }

    // Reads at most `most` bytes; 0 means end of input. Throws Failure.
    size_t read(uint8_t* to, size_t most);
    // Writes the next bytes of the output, or only counts them if there is none. Throws Failure.
    void write(const uint8_t* data, size_t bytes);
    // Says on stderr that a success means less than usual.
    void remark(const std::string& text) const { cli::remark(session_, text); }
    // The output, for code that writes by itself. There must be one.
    RawOutput& out() { return *out_; }
    // Throws the Failure of that status, with a text that ends without a full stop.
    [[noreturn]] void fail(warpseal_status status, const std::string& why);
    // Throws unless the status is success.
    void require(warpseal_status status);
    // Prints the summary. `plaintext_bytes` were encrypted or decrypted.
    void done(const char* target, uint64_t plaintext_bytes);

private:
    const FileTask task_;
    const FileChoice& choice_;
    const int input_;
    Output* const output_;
    warpseal_engine* const engine_;
    Session& session_;
    std::optional<RawOutput> out_;
    Progress progress_;
    warpseal_file_result result_ = {};
    uint64_t input_bytes_;
};

// Returns the AAD of FLOE that the options name. Throws Failure.
std::vector<uint8_t> read_aad(const ForeignJob& job);
void seal_floe(ForeignJob& job, Secrets& secrets);
// `range` is null for the whole plaintext.
void open_floe(ForeignJob& job, Secrets& secrets, const Range* range);
warpseal_status rescue_floe(ForeignJob& job, Secrets& secrets, Output& output,
                            warpseal_rescue& report, warpseal_file_result& result);
void open_openssl(ForeignJob& job, Secrets& secrets);

// Checks names of --cipher and --digest before any work. Throws Failure.
void check_openssl_choice(const ForeignChoice& choice);

}  // namespace warpseal::cli
