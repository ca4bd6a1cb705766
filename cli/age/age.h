// age v1 files in `encrypt`, `decrypt` and `verify`: options, recognition and the whole task.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/files/file_command.h"

namespace warpseal::cli {

struct Range;  // cli/files/range.h
namespace age {
struct UnlockedKeys;
namespace plugin {
class Run;
}
}  // namespace age

struct AgeChoice {
    std::vector<std::string> recipients, recipient_files;  // encrypt
    std::vector<std::string> identities;                   // decrypt and verify
    std::vector<std::string> plugins;                      // names, for all three
    bool armor = false;
    std::shared_ptr<age::plugin::Run> run{};        // of a run over several files
    std::shared_ptr<age::UnlockedKeys> unlocked{};  // of such a run
    bool has_recipients() const {
        return !recipients.empty() || !recipient_files.empty() || !plugins.empty();
    }
    bool has_identities() const { return !identities.empty() || !plugins.empty(); }
    bool any() const { return has_recipients() || has_identities(); }
    // For messages: the option that names identities.
    const char* identity_option() const { return identities.empty() ? "-j" : "-i"; }
};
// Begins a run over these files.
void begin_age_run(AgeChoice& choice, std::vector<std::string> paths);
void add_recipient_options(CLI::App& command, AgeChoice& choice);
void add_age_encrypt_options(CLI::App& command, AgeChoice& choice);
void add_identity_option(CLI::App& command, AgeChoice& choice);
void add_plugin_option(CLI::App& command, AgeChoice& choice,
                       const char* about = "the age plugin age-plugin-NAME, without an identity");
void add_age_decrypt_options(CLI::App& command, AgeChoice& choice);

// Adds the recipients of -r and -R, or the identities of -i, to the secrets of a Warpseal file. The
// identity files are read together with the other secrets, and passphrases of these unlock them.
// With one file, one is asked for if there is no other secret. The age files of a run share what
// was unlocked. Throws Failure.
void add_recipients(const AgeChoice& choice, SecretChoice& secrets, const Session& session);
void add_identities(AgeChoice& choice, SecretChoice& secrets, const Session& session,
                    bool one_file = true);
// Refuses files of -i and -R that are the input's stream. Throws Failure (usage).
void refuse_shared_identities(const AgeChoice& choice, int input);

// True if the options name age, or if they name no format and the input begins like an age file.
// Takes nothing from the input. Throws Failure.
bool is_age(const FileChoice& file, const AgeChoice& choice, int input);

// Prints what the header says, which is not authenticated. Throws Failure.
ExitCode print_age_info(int input, const std::string& shown, bool json);

ExitCode run_age_encrypt(const FileChoice& file, const AgeChoice& choice, int input,
                         const OutputChoice& output, Session& session);
// Writes what verifies of a damaged file, and fills the report. Returns the status of the file:
// report.finished tells if there is an output. Throws Failure.
warpseal_status rescue_age(const FileChoice& file, const AgeChoice& choice, int input,
                           Output& output, warpseal_rescue& report, warpseal_file_result& result,
                           Session& session);
// `output` is null for verify, and `range` for the whole plaintext.
ExitCode run_age_decrypt(FileTask task, const FileChoice& file, const AgeChoice& choice, int input,
                         const OutputChoice* output, const Range* range, Session& session);

}  // namespace warpseal::cli
