// A key of key encapsulation, prepared once for many operations.
#pragma once

#include "backends/kem_catalogue.h"
#include "engine/engine.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Immutable: any number of threads may use one, and a forked child uses its copy. The engine must
// outlive it. Zeroized on destruction.
class PreparedKemKey {
public:
    // Checks and prepares a key of the set. WARPSEAL_INVALID_ARGUMENT: it has another length than
    // the set's, or the check of its scheme refuses it.
    static warpseal_status create(Engine& engine, KemKeyKind kind, const char* set, Bytes key,
                                  std::unique_ptr<PreparedKemKey>& out);

    KemKeyKind kind() const { return kind_; }
    // Runs the key's operation, as Engine::kem does with this key for all items. Ignores the keys
    // of the batch.
    warpseal_status run(const warpseal_kem_batch& batch, Engine::RandomSource random,
                        KemSide side = KemSide::automatic) const;

    // The prepared key for that implementation, or null if it was prepared for another.
    const void* prepared_for(const CpuKem& kem) const {
        return &kem == &kem_ ? prepared() : nullptr;
    }

private:
    PreparedKemKey(Engine& engine, int set, KemKeyKind kind, const CpuKem& kem);
    size_t key_bytes() const;
    uint8_t* key() const { return static_cast<uint8_t*>(memory_.data()); }
    // Behind the key, at a multiple of 64 bytes.
    void* prepared() const { return key() + (key_bytes() + 63) / 64 * 64; }
    bool allocate();
    // Returns WARPSEAL_OK, WARPSEAL_INVALID_ARGUMENT or WARPSEAL_OUT_OF_MEMORY.
    warpseal_status prepare();

    Engine& engine_;
    const int set_;  // index in kem_sets
    const KemKeyKind kind_;
    const CpuKem& kem_;
    mutable SecretMemory memory_;  // written by create() alone
};

}  // namespace warpseal
