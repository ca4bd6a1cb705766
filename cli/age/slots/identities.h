// SSH keys and plugins as identities of Warpseal files: they find the file keys of key slots that
// hold a stanza.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "c_api/internal_slot_keys.h"
#include "cli/age/format/stanza.h"
#include "cli/age/keys.h"
#include "cli/age/unlock/unlock.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {

// Holds the identities that -i and -j name. Any number of threads may use it.
class SlotIdentities {
public:
    // `open` has SSH keys, locked ones too, and identities of plugins. `locked` has SSH keys in PEM
    // under a passphrase. The passphrases of options are tried on locked keys; without one, it is
    // asked for. The session outlives the object.
    SlotIdentities(std::vector<Identity> open, std::vector<LockedFile> locked,
                   std::vector<SecretBytes> passphrases, std::shared_ptr<UnlockedKeys> keys,
                   const Session& session);
    SlotIdentities(const SlotIdentities&) = delete;
    SlotIdentities& operator=(const SlotIdentities&) = delete;

    // Secrets by which the library asks for file keys. They own the identities. SSH keys come
    // before passphrases; plugins and locked keys come after all other secrets.
    static std::vector<MadeSecret> secrets(const std::shared_ptr<SlotIdentities>& identities);

private:
    struct Result {
        std::optional<Secret> file_key;
        std::optional<Failure> failure;
    };
    Result unwrap_by_ssh_keys(const warpseal_internal_stanza_slot& slot) const;
    // All files of a command may have the same slot, about which a person is asked once.
    Result unwrap_late(const warpseal_internal_stanza_slot& slot);
    Result ask_locked_keys(const Stanza& stanza);
    // Asks plugins about all slots of the file that they have not seen.
    void ask_plugins(const warpseal_internal_stanza_slot& slot);

    // Throws Failure and others.
    warpseal_status unwrap(bool late, const warpseal_internal_stanza_slot& slot, uint8_t* file_key);
    template <bool late>
    static warpseal_status callback(void* user, const warpseal_internal_stanza_slot* slot,
                                    uint8_t* file_key, char* message) noexcept;

    std::vector<Identity> open_;
    const std::vector<LockedFile> locked_;
    const std::shared_ptr<UnlockedKeys> keys_;
    KeyRing ring_;
    std::mutex mutex_;
    std::map<Secret, Result> found_;  // by a digest of the slot's type and parameters
};

}  // namespace warpseal::cli::age
