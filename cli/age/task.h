// Steps that encryption and decryption of age files share: checks, secrets, errors and summary.
#pragma once

#include <functional>

#include "cli/age/age.h"
#include "cli/age/payload/payload.h"

namespace warpseal::cli::age {

// Refuses options that do not go with age files. Throws Failure (usage).
void check_choice(FileTask task, const FileChoice& file, const AgeChoice& choice);
// Refuses files of keys that are the input's stream, of which they would take bytes. Throws Failure
// (usage), whose text names `option`.
void refuse_shared_stream(int input, const std::vector<std::string>& paths, const char* option);
// Reads the one passphrase that the options name. Throws Failure.
Secret read_passphrase(const SecretChoice& choice, bool confirm, const Session& session);
// Copies the passphrases among secrets.
std::vector<SecretBytes> passphrases_among(const std::vector<warpseal_secret>& secrets);
// Reads all passphrases that the options name. Throws Failure.
std::vector<SecretBytes> read_passphrases(const SecretChoice& choice);
// Threads for an input of that many bytes; 0: unknown.
unsigned thread_count(const FileChoice& file, uint64_t input_bytes);
// The bytes that a regular file has from its position on, else 0.
uint64_t remaining_bytes(int input);
// The position of a regular file. Throws Failure.
uint64_t position_of(int input);

// One task: its output, its progress and its result.
class Task {
public:
    Task(FileTask task, const FileChoice& file, Output* output, Session& session)
        : task_(task), file_(file), output_(output), progress_(file.progress, session) {}

    // Calls `work` and adds the input's name and the state of the output to the text of a Failure.
    void run(const std::function<void()>& work, const OutputSink* written);
    std::function<void(uint64_t)> progress(uint64_t total_bytes);
    void say_done(uint64_t text_bytes, uint64_t file_bytes, const Session& session);

private:
    FileTask task_;
    const FileChoice& file_;
    Output* output_;
    Progress progress_;
};

}  // namespace warpseal::cli::age
