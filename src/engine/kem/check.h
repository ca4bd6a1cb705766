// Validation of key encapsulation batches before a backend sees them.
#pragma once

#include "backends/kem_catalogue.h"
#include "engine/kem/key_pool/key_store.h"

namespace warpseal {

// Returns WARPSEAL_OK or WARPSEAL_INVALID_ARGUMENT. Checks pointers, strides and overlap of the
// arrays that the operation uses.
warpseal_status check_kem(const KemSet& set, KemOperation operation,
                          const warpseal_kem_batch& batch);
// Check the arguments of key pool calls in the same way.
warpseal_status check_kem_acquire(const KemSet& set, uint64_t count, const PooledPublics& publics,
                                  const uint64_t* handles);
warpseal_status check_kem_handles(const KemSet& set, uint64_t count, const uint64_t* handles,
                                  const PooledTexts& texts);

}  // namespace warpseal
