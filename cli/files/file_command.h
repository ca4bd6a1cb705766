// Code shared by encrypt, decrypt, verify and rescue: input, secrets, format, device, progress and
// error texts.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/foreign/choice.h"
#include "cli/support/command.h"
#include "cli/support/output.h"
#include "cli/support/progress.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {

struct FileChoice {
    std::string input = "-";
    SecretChoice secrets;
    warpseal_format format = WARPSEAL_FORMAT_WARPSEAL;
    bool age = false;     // --format age; `format` is then unused
    std::string context;  // hexadecimal
    bool has_context = false;
    Progress::Style progress = Progress::Style::automatic;
    EngineChoice engine;
    ForeignChoice foreign;
};
// `inputs`: receives the names of a command that takes several files.
void add_file_options(CLI::App& command, FileChoice& choice, Session& session,
                      std::vector<std::string>* inputs = nullptr);

// --preserve, for commands that name one output for each input.
void add_preserve_option(CLI::App& command, OutputChoice& choice);
// --progress.
void add_progress_option(CLI::App& command, Progress::Style& style, Session& session);

void add_output_options(CLI::App& command, OutputChoice& choice);

// Throws Failure: usage for options that exclude each other, input_output for a descriptor that is
// not open.
void check_file_choice(const FileChoice& choice);

enum class FileTask { encrypt, decrypt, verify, rescue };

// Sealing options of a call in addition to FileChoice.
struct SealChoice {
    std::string suite;  // empty: the default
    uint32_t argon2_memory_mib = 0;
    uint32_t argon2_passes = 0;
};

// Returns the input's name for messages.
std::string shown(const FileChoice& choice);
// Reads key files and passphrases. Asks at the terminal if none is named. Throws Failure.
Secrets read_secrets(int input, FileTask task, const FileChoice& choice);
// `secrets` are zeroized as soon as the call no longer needs them. `options` refers to all but
// `choice`.
warpseal_file_options file_options(const FileChoice& choice, const SealChoice& seal,
                                   Secrets& secrets, const std::vector<uint8_t>& context,
                                   Progress& progress);
// Refuses an output that is the input or a file of secrets. Throws Failure.
void refuse_inputs(Output& output, int input, const SecretChoice& secrets);
// Throws the Failure of a call that returned `status`, or that a signal stopped. `output` may be
// null.
[[noreturn]] void throw_failure(FileTask task, const FileChoice& choice, warpseal_status status,
                                const warpseal_file_result& result, const Output* output);
// A file opens with either copy of its header. Without this remark, damage to one copy would stay
// unnoticed until the other is damaged too.
void say_if_header_copies_differ(const FileChoice& choice, const warpseal_file_result& result);
// Prints the summary of a success. `seconds` is without those for the key.
void say_done(FileTask task, const FileChoice& choice, const warpseal_file_result& result,
              double seconds, const Session& session, double key_seconds = 0);

// `choice` is checked and `input` is open. Does the work, commits the output (null for verify) and
// prints a summary. Throws Failure.
ExitCode run_file_task(FileTask task, const FileChoice& choice, int input, const SealChoice& seal,
                       const OutputChoice* output, Session& session);

}  // namespace warpseal::cli
