// Key pairs of a pool, by place: where they lie, and what is done with them there.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/secret_memory.h"

namespace warpseal {

// Arrays of a caller's, of public keys that are handed out, and of ciphertexts under pooled keys.
struct PooledPublics {
    uint8_t* at;
    uint64_t stride;
};
struct PooledTexts {
    const uint8_t* ciphertexts;
    uint64_t ciphertext_stride;
    uint8_t* shared_secrets;
    uint64_t shared_secret_stride;
    int32_t* statuses;  // may be null

    uint8_t* secret(uint64_t i) const { return shared_secrets + i * shared_secret_stride; }
    PooledTexts from(uint64_t first) const {
        return {ciphertexts + first * ciphertext_stride, ciphertext_stride, secret(first), shared_secret_stride,
                statuses == nullptr ? nullptr : statuses + first};
    }
};

// In locked memory of the host. Who calls sees to it that no place is in two calls at once.
class HostPairs {
public:
    static constexpr uint32_t nowhere = UINT32_MAX;

    HostPairs(Engine& engine, const kem::Params& set, Engine::RandomSource random) : engine_(engine), set_(set), random_(random) {}
    bool allocate(uint64_t pairs);  // false: out of memory
    // False in a child of the process that allocated: its kernel has wiped the secret keys, and this with them.
    bool alive() const { return *alive_ != 0; }

    warpseal_status make(const uint32_t* places, size_t count) noexcept;
    void give(const uint32_t* places, size_t count, const PooledPublics& out) const;
    // Secrets of items that are nowhere are of no use.
    warpseal_status decapsulate(const uint32_t* places, size_t count, const PooledTexts& texts) noexcept;
    void wipe(const uint32_t* places, size_t count);  // the secret keys; passes over nowhere

private:
    uint8_t* secret_key(uint32_t place) const { return secrets_ + place * set_.secret_key_bytes(); }
    uint8_t* public_key(uint32_t place) const { return publics_.get() + place * set_.public_key_bytes(); }

    Engine& engine_;
    const kem::Params& set_;
    const Engine::RandomSource random_;
    SecretMemory memory_;
    const uint8_t* alive_ = nullptr;
    uint8_t* secrets_ = nullptr;
    std::unique_ptr<uint8_t[]> publics_;
};

}  // namespace warpseal
