// Key pairs of a pool, by place: where they lie, and what is done with them there.
#pragma once

#include <cstring>
#include <memory>

#include "engine/engine.h"

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

    const uint8_t* ciphertext(uint64_t i) const { return ciphertexts + i * ciphertext_stride; }
    uint8_t* secret(uint64_t i) const { return shared_secrets + i * shared_secret_stride; }
    // An item without a result has a secret of zeros.
    void settle(uint64_t i, warpseal_status status) const {
        if (status != WARPSEAL_OK) std::memset(secret(i), 0, kem::Params::shared_secret_bytes);
        if (statuses != nullptr) statuses[i] = status;
    }
    PooledTexts from(uint64_t first) const {
        return {ciphertext(first), ciphertext_stride, secret(first), shared_secret_stride,
                statuses == nullptr ? nullptr : statuses + first};
    }
};

// From many threads at once, each on places of its own.
class KemKeyStore {
public:
    static constexpr uint32_t no_slot = no_pool_slot;
    static constexpr size_t most_at_once = 8192;

    virtual ~KemKeyStore() = default;
    // False for good once the secret keys are gone: the GPU that had them is lost, or this is a
    // child of the process that made them.
    virtual bool alive() const = 0;
    // How many places a call may have: enough for all threads or a GPU, and little to set aside.
    virtual size_t at_once() const = 0;
    virtual warpseal_status make(const uint32_t* slots, size_t count) noexcept = 0;
    // Items that are nowhere have a secret of no use.
    virtual warpseal_status decapsulate(const uint32_t* slots, size_t count,
                                        const PooledTexts& texts) noexcept = 0;
    virtual warpseal_status wipe(const uint32_t* slots,
                                 size_t count) noexcept = 0;  // secret keys; passes over nowhere
    void give(const uint32_t* slots, size_t count, const PooledPublics& out) const;

protected:
    explicit KemKeyStore(const kem::Params& set) : set_(set) {}
    bool allocate_publics(uint64_t pairs);
    void store_publics(const uint32_t* slots, size_t count, const uint8_t* side_by_side);

    const kem::Params& set_;

private:
    std::unique_ptr<uint8_t[]> publics_;
};

// Secret keys in locked memory of the host; batches go where the engine's calls on host memory go.
// Null: out of memory.
std::shared_ptr<KemKeyStore> host_key_store(Engine& engine, const kem::Params& set,
                                            Engine::RandomSource random, uint32_t pairs);
// In memory of the engine's first GPU, if it may work on nothing else. Null: not there.
std::shared_ptr<KemKeyStore> device_key_store(Engine& engine, const kem::Params& set,
                                              Engine::RandomSource random, uint32_t pairs);

}  // namespace warpseal
