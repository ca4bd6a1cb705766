// Storage of a pool's key pairs by slot, and the operations on them.
#pragma once

#include <cstring>
#include <memory>

#include "backends/kem_catalogue.h"
#include "engine/engine.h"

namespace warpseal {

// The caller's arrays: public keys to hand out, and ciphertexts to decapsulate with pooled keys.
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
    size_t shared_secret_bytes;

    const uint8_t* ciphertext(uint64_t i) const { return ciphertexts + i * ciphertext_stride; }
    uint8_t* secret(uint64_t i) const { return shared_secrets + i * shared_secret_stride; }
    // Sets the item's status. An item without a result gets a shared secret of zeros.
    void set_result(uint64_t i, warpseal_status status) const {
        if (status != WARPSEAL_OK) std::memset(secret(i), 0, shared_secret_bytes);
        if (statuses != nullptr) statuses[i] = status;
    }
    PooledTexts from(uint64_t first) const {
        return {ciphertext(first),
                ciphertext_stride,
                secret(first),
                shared_secret_stride,
                statuses == nullptr ? nullptr : statuses + first,
                shared_secret_bytes};
    }
};

// Thread-safe for calls on different slots.
class KemKeyStore {
public:
    static constexpr uint32_t no_slot = no_pool_slot;
    static constexpr size_t slots_per_call_limit = 8192;

    virtual ~KemKeyStore() = default;
    // Returns false permanently once the secret keys are gone: their GPU is lost, or this process
    // is a fork of the one that generated them.
    virtual bool alive() const = 0;
    // Maximum slots of one call: enough to keep all threads or a GPU busy, with little held back.
    virtual size_t max_slots_per_call() const = 0;
    virtual warpseal_status make(const uint32_t* slots, size_t count) noexcept = 0;
    // Items with no_slot get a meaningless secret and status. statuses[i]: WARPSEAL_OK, or item i's
    // ciphertext is refused.
    virtual warpseal_status decapsulate(const uint32_t* slots, size_t count,
                                        const PooledTexts& texts, int32_t* statuses) noexcept = 0;
    // Zeroizes secret keys; skips no_slot.
    virtual warpseal_status wipe(const uint32_t* slots, size_t count) noexcept = 0;
    void copy_publics(const uint32_t* slots, size_t count, const PooledPublics& out) const;

protected:
    explicit KemKeyStore(const KemSet& set) : set_(set) {}
    bool allocate_publics(uint64_t pairs);
    void store_publics(const uint32_t* slots, size_t count, const uint8_t* contiguous);

    const KemSet& set_;

private:
    std::unique_ptr<uint8_t[]> publics_;
};

// Keeps secret keys in locked host memory; batches take the engine's host-memory calls. Returns
// null if out of memory.
std::shared_ptr<KemKeyStore> host_key_store(Engine& engine, const KemSet& set,
                                            Engine::RandomSource random, uint32_t pairs);
// Keeps secret keys in memory of the first GPU, if the engine is restricted to GPUs. Returns null
// if unavailable.
std::shared_ptr<KemKeyStore> device_key_store(Engine& engine, const KemSet& set,
                                              Engine::RandomSource random, uint32_t pairs);

}  // namespace warpseal
