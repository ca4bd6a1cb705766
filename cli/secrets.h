// Key files and passphrases: where they come from, and memory that keeps them out of swap, core
// files and forks, and wipes itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "descriptor.h"

namespace warpseal::cli {

// Pages for secrets, one for one unless more are asked for. Movable, never copied.
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

// -k, -p, --passphrase-file and --passphrase-fd: never a secret by value in the arguments or the
// environment.
struct SecretChoice {
    std::vector<std::string> key_files;
    std::vector<std::string> passphrase_files;
    int passphrase_descriptor = -1;
    bool ask = false;
    bool passphrase() const {
        return ask || passphrase_descriptor >= 0 || !passphrase_files.empty();
    }
    bool any() const { return passphrase() || !key_files.empty(); }
};
void add_secret_options(CLI::App& command, SecretChoice& choice);

// The secrets of a call, alive as long as this, or until they are wiped.
class Secrets {
public:
    // Reads all that `choice` names; the terminal is asked last, twice if `confirm`. Throws
    // Failure: input_missing, input_output, or usage for a key file of the wrong size or open to
    // others.
    Secrets(const SecretChoice& choice, warpseal_format format, bool confirm);
    const std::vector<warpseal_secret>& list() const { return list_; }
    void wipe();
    // A passphrase among them has fewer than short_characters characters.
    static constexpr size_t short_characters = 8;
    bool has_short_passphrase() const;

private:
    void add(warpseal_secret_type type, SecretBytes bytes);
    std::vector<SecretBytes> memory_;
    std::vector<warpseal_secret> list_;
};

// Before anything is opened: throws Failure (input_output) for a descriptor of --passphrase-fd that
// the program was not started with. Later its number may be that of a file of the program's own,
// whose content would be taken for the passphrase.
void check_passphrase_descriptor(const SecretChoice& choice);

// A file that only its owner may read. `shown`: what it is, for messages. Throws Failure as Secrets
// does.
Descriptor open_private(const std::string& path, const std::string& shown);

// A key file of exactly that many raw bytes. Throws Failure as Secrets does.
SecretBytes read_raw_key(const std::string& path, size_t key_bytes);

bool has_terminal();

}  // namespace warpseal::cli
