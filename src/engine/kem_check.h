// What a batch of key encapsulation must satisfy before a backend sees it.
#pragma once

#include "backends/kem_ops.h"

namespace warpseal {

// WARPSEAL_OK or WARPSEAL_INVALID_ARGUMENT: pointers and strides of what that operation reads and writes, and that they do not overlap.
warpseal_status check_kem(const kem::Params& set, KemOperation operation, const warpseal_kem_batch& batch);

}  // namespace warpseal
