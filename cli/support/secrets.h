// Key files and passphrases, and memory for them that is locked, excluded from core files and
// forks, and zeroized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"

namespace warpseal::cli {

// Pages for secrets, one page by default. Movable, but not copyable.
class SecretBytes {
public:
    static constexpr size_t page_bytes = 4096;
    explicit SecretBytes(size_t capacity = page_bytes);
    SecretBytes(SecretBytes&& other) noexcept;
    SecretBytes(const SecretBytes&) = delete;
    SecretBytes& operator=(const SecretBytes&) = delete;
    ~SecretBytes();
    uint8_t* data() { return data_; }
    const uint8_t* data() const { return data_; }
    size_t size = 0;

private:
    size_t capacity_;
    uint8_t* data_ = nullptr;
};

// A secret that a function of a SecretChoice made. Its bytes may point into `owner`.
struct MadeSecret {
    warpseal_secret_type type;
    SecretBytes bytes;
    std::shared_ptr<const void> owner{};
};

struct SharedSecrets;

// -k, --key-command, -p, --passphrase-file and --passphrase-fd, and what -r, -R and -i name.
// Secrets never appear by value in arguments or the environment.
struct SecretChoice {
    std::vector<std::string> key_files;  // "-" is standard input
    std::vector<std::string> key_commands;
    std::vector<std::string> passphrase_files;
    int passphrase_descriptor = -1;
    std::vector<std::string> recipients;  // checked text
    // Wraps a file key for recipients that the library does not know, where -r and -R name any.
    std::function<std::vector<MadeSecret>()> wrapped;
    // Reads identities, where -i names any. Gets the secrets that were read before: their
    // passphrases may open an identity file.
    std::function<std::vector<MadeSecret>(const std::vector<warpseal_secret>& others)> identities;
    const char* identity_option = "-i";         // for messages; or -j
    std::vector<std::string> public_key_files;  // of -R or -i
    bool ask = false;
    std::string prompt = "Passphrase";  // at the terminal
    SharedSecrets* shared = nullptr;    // of a run over several files, which reads secrets once
    bool passphrase() const {
        return ask || passphrase_descriptor >= 0 || !passphrase_files.empty();
    }
    size_t key_count() const { return key_files.size() + key_commands.size(); }
    bool public_keys() const {
        return !recipients.empty() || wrapped != nullptr || identities != nullptr;
    }
    bool any() const { return passphrase() || key_count() != 0 || public_keys(); }
};
void add_secret_options(CLI::App& command, SecretChoice& choice);
// The two halves of add_secret_options.
void add_key_options(CLI::App& command, SecretChoice& choice);
void add_passphrase_options(CLI::App& command, SecretChoice& choice);

// Secrets of a call. They live as long as this object or until wipe.
class Secrets {
public:
    // Reads all secrets that `choice` names. Asks at the terminal last, twice if `confirm` is set.
    // Throws Failure: input_missing, input_output, or usage for a key of wrong size or with open
    // permissions.
    Secrets(const SecretChoice& choice, warpseal_format format, bool confirm);
    const std::vector<warpseal_secret>& list() const { return list_; }
    void wipe();
    // has_short_passphrase returns true if a passphrase has fewer than short_characters characters.
    // Returns false for secrets that another file of the run has read, so that a run says it once.
    static constexpr size_t short_characters = 8;
    bool has_short_passphrase() const;

private:
    static void read_shared(const SecretChoice& choice, warpseal_format format, bool confirm);
    void read_named(const SecretChoice& choice, warpseal_format format, bool confirm);
    void add(warpseal_secret_type type, SecretBytes bytes);
    void add(std::vector<MadeSecret> made);
    std::vector<SecretBytes> memory_;
    std::vector<std::shared_ptr<const void>> owners_;
    std::vector<warpseal_secret> list_;
    bool is_copy_ = false;
};

// Warns of short passphrases, for commands that seal files.
void say_if_short(const Secrets& secrets, const Session& session);

// Secrets that the first file of a run reads, and that the others copy. What fails is not tried
// again: a plugin may have asked a person.
struct SharedSecrets {
    std::mutex mutex;
    std::unique_ptr<Secrets> secrets;
    bool has_identities = false;  // among the secrets
    std::optional<Failure> failure, identity_failure;
};

// Throws Failure (input_output) if the descriptor of --passphrase-fd was not open when the program
// started. Call it before opening any file. Otherwise the number could belong to one of the
// program's own files, and its content would be read as the passphrase.
void check_passphrase_descriptor(const SecretChoice& choice);

// Opens a file that only its owner may read, or, with mode 0440, a group of this process. `shown`
// describes it in messages. Throws Failure as Secrets does.
Descriptor open_private(const std::string& path, const std::string& shown);

// Reads the only key of a choice, which has exactly `key_bytes` bytes. Throws Failure as Secrets
// does.
SecretBytes read_one_key(const SecretChoice& choice, size_t key_bytes);

// Throws Failure (usage) if two of the secrets and the input are standard input. `input` says if
// the input is.
void check_standard_input(const SecretChoice& choice, bool input);

bool has_terminal();
// Returns a line that is typed at the terminal, without its end; it may be empty. `hidden`: without
// echo. Throws Failure (usage) without a terminal, and after a stop signal.
SecretBytes ask_line(const std::string& prompt, bool hidden);

}  // namespace warpseal::cli
