// Slot keys of passphrases that the files of one run share, so that Argon2id runs once for all.
#pragma once

#include <list>
#include <mutex>

#include "container/derive.h"

namespace warpseal::container {

// Thread-safe. Derives one key at a time, so a run needs the memory of one derivation.
class SlotKeys {
public:
    // Holds the keys of that many salts. Of more, those used least recently are derived again.
    static constexpr size_t most_keys = 256;

    // Sets the salt of new slots for that passphrase and cost: random, and the same for each file
    // of the run. Returns false without random bytes.
    bool salt_for(Bytes passphrase, Argon2Cost cost, uint8_t salt[argon2_salt_bytes]);
    // Returns what argon2id() returns, from memory if it was derived before.
    warpseal_status derive(Bytes passphrase, const uint8_t salt[argon2_salt_bytes], Argon2Cost cost,
                           Secret<32>& out);

private:
    // Identifies a passphrase and what it is used for, without holding it.
    using Name = Secret<hmac_bytes>;
    struct Salt {
        Name name;
        uint8_t salt[argon2_salt_bytes];
    };
    struct Derived {
        Name name;
        Secret<32> key;
    };

    bool name(Bytes passphrase, Bytes salt, Argon2Cost cost, Name& out);

    std::mutex mutex_;  // fork: belongs to a run of the program, which no child continues
    bool has_run_key_ = false;
    Secret<32> run_key_;  // of the names
    std::list<Salt> salts_;
    std::list<Derived> keys_;  // the one used last is first
};

}  // namespace warpseal::container
