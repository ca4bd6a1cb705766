// Remembers derived keys under a keyed hash of passphrase, salt and cost.
#include "container/slot_keys.h"

#include <algorithm>

#include "container/bytes.h"
#include "container/random.h"

namespace warpseal::container {

// The hash is keyed, because a fast unkeyed one would make guessing the passphrase cheap for who
// reads this memory alone.
bool SlotKeys::name(Bytes passphrase, Bytes salt, Argon2Cost cost, Name& out) {
    if (!has_run_key_ && !random_bytes(run_key_.data(), run_key_.size())) return false;
    has_run_key_ = true;
    uint8_t front[10] = {};
    put32(front, cost.passes);
    put32(front + 4, cost.memory_kib);
    put16(front + 8, salt.size);
    const Bytes parts[] = {{front, sizeof front}, salt, passphrase};
    hmac({run_key_.data(), run_key_.size()}, {parts, 3}, out.data());
    return true;
}

bool SlotKeys::salt_for(Bytes passphrase, Argon2Cost cost, uint8_t salt[argon2_salt_bytes]) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Name wanted;
    if (!name(passphrase, {}, cost, wanted)) return false;
    auto found = std::find_if(salts_.begin(), salts_.end(), [&](const Salt& one) {
        return equal_secret(one.name.data(), wanted.data(), wanted.size());
    });
    if (found == salts_.end()) {
        uint8_t drawn[argon2_salt_bytes];
        if (!random_bytes(drawn, sizeof drawn)) return false;
        found = salts_.emplace(salts_.end());
        memcpy(found->name.data(), wanted.data(), wanted.size());
        memcpy(found->salt, drawn, sizeof drawn);
    }
    memcpy(salt, found->salt, argon2_salt_bytes);
    return true;
}

warpseal_status SlotKeys::derive(Bytes passphrase, const uint8_t salt[argon2_salt_bytes],
                                 Argon2Cost cost, Secret<32>& out) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Name wanted;
    if (!name(passphrase, {salt, argon2_salt_bytes}, cost, wanted)) return WARPSEAL_NO_RANDOM;
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const Derived& one) {
        return equal_secret(one.name.data(), wanted.data(), wanted.size());
    });
    if (found != keys_.end()) {
        keys_.splice(keys_.begin(), keys_, found);
        memcpy(out.data(), found->key.data(), out.size());
        return WARPSEAL_OK;
    }
    const warpseal_status status = argon2id(passphrase, salt, cost, out);
    if (status != WARPSEAL_OK) return status;
    keys_.emplace_front();
    memcpy(keys_.front().name.data(), wanted.data(), wanted.size());
    memcpy(keys_.front().key.data(), out.data(), out.size());
    if (keys_.size() > most_keys) keys_.pop_back();
    return WARPSEAL_OK;
}

}  // namespace warpseal::container
