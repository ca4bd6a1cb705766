// Locked identities: SSH keys and files under a passphrase. The age files of a run unlock each of
// them once.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/age/age.h"
#include "cli/age/keys.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {

// Caches the locked identities that a run has unlocked or could not unlock. Each passphrase is
// asked for once, and each key derived once.
struct UnlockedKeys {
    struct Entry {
        Secret locked;  // as its file has it
        std::vector<Identity> identities;
        std::optional<Failure> failure;
    };
    std::mutex mutex;
    std::optional<std::vector<SecretBytes>> passphrases;  // that options name
    std::list<Entry> entries;                             // which stay where they are
};

// The identities in a locked file. Empty for another passphrase. Throws Failure, whose text names
// the file.
std::vector<Identity> identities_in(const LockedFile& file, View passphrase,
                                    const Session& session);
// True for a failure that concerns one locked identity. Another one may still open the file.
bool is_about_one_identity(const Failure& failure);

// Unlocks identities with the passphrases of the options, or with those that a person types. The
// result is the same in the rings of age files and of Warpseal files. Thread-safe with other rings
// for the same keys.
class KeyRing {
public:
    // Reads the passphrases of the options when they are needed.
    KeyRing(const FileChoice& file, UnlockedKeys& keys, const Session& session)
        : file_(&file), keys_(keys), session_(session) {}
    // The options have given these.
    KeyRing(std::vector<SecretBytes> passphrases, UnlockedKeys& keys, const Session& session)
        : given_(std::move(passphrases)), keys_(keys), session_(session) {}
    // The identities of a locked SSH key or file, which live as long as the UnlockedKeys. Throws
    // Failure, whose text names the file: wrong_key for another passphrase.
    const std::vector<Identity>& unlock(const Identity& ssh_key);
    const std::vector<Identity>& unlock(const LockedFile& file);

private:
    // The identities under one passphrase; none for another passphrase.
    using Opening = std::function<std::vector<Identity>(View passphrase)>;
    // `how` says why a passphrase is needed, after the name of the file.
    const std::vector<Identity>& once(View locked, const std::string& shown, const char* how,
                                      const Opening& open);
    std::vector<Identity> try_all(const std::vector<SecretBytes>& passphrases,
                                  const std::string& shown, const char* how, const Opening& open);
    const std::vector<SecretBytes>& passphrases_of_options();

    const FileChoice* const file_ = nullptr;
    const std::vector<SecretBytes> given_;
    UnlockedKeys& keys_;
    const Session& session_;
};

}  // namespace warpseal::cli::age
