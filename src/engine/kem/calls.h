// Key encapsulation in host memory, for a set that the caller has found.
#pragma once

#include "engine/engine_impl.h"

namespace warpseal {

class PreparedKemKey;

// Checks and runs a call. set: index in kem_sets. key: null, or the key that all items share, to
// which the batch's keys point too, with stride 0.
warpseal_status run_kem(Engine::Impl& impl, int set, KemOperation operation,
                        const warpseal_kem_batch& batch, Engine::RandomSource random, KemSide side,
                        const PreparedKemKey* key);

}  // namespace warpseal
