// What a batch of key encapsulation must satisfy before a backend sees it.
#pragma once

#include "backends/kem_backend.h"
#include "engine/kem/key_pool/key_store.h"

namespace warpseal {

// WARPSEAL_OK or WARPSEAL_INVALID_ARGUMENT: pointers and strides of what that operation reads and
// writes, and that they do not overlap.
warpseal_status check_kem(const kem::Params& set, KemOperation operation,
                          const warpseal_kem_batch& batch);
// The same of what a pool takes.
warpseal_status check_kem_acquire(const kem::Params& set, uint64_t count,
                                  const PooledPublics& publics, const uint64_t* handles);
warpseal_status check_kem_handles(const kem::Params& set, uint64_t count, const uint64_t* handles,
                                  const PooledTexts& texts);

}  // namespace warpseal
