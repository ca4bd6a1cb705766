// Key encapsulation on cores: items of a call in host memory.
#pragma once

#include <optional>

#include "engine/engine_impl.h"

namespace warpseal {

// Implementation of a call on the CPU. aes: for drawn coins; null if there are none. prepared: the
// prepared key of all items; null if they have keys of their own.
struct KemCores {
    const KemSet* set = nullptr;
    const CpuKem* kem = nullptr;
    const CpuCipher* aes = nullptr;
    const void* prepared = nullptr;
    std::optional<Workspaces::Lease> own_prepared;  // of a key that the call alone prepares
};

// Selects and tests both as needed. draws: true if the call draws coins.
warpseal_status kem_cores(Engine::Impl& impl, int set, KemOperation operation, bool draws,
                          KemCores& out);
// Runs items of the call. seed: for drawn coins; null if the batch brings its coins. Adds the
// number of items without a result to `failed`.
warpseal_status kem_on_cores(Engine::Impl& impl, const KemCores& cores, KemOperation operation,
                             const warpseal_kem_batch& batch, KemRange range, const uint8_t* seed,
                             uint64_t& failed);

}  // namespace warpseal
