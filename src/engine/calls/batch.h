// Batches in host memory, below the checks of the struct that describes them.
#pragma once

#include <vector>

#include "engine/engine_impl.h"

namespace warpseal {

// Messages [begin, end) of a batch have `bytes` bytes of AAD each, side by side from `data` on.
struct AadGroup {
    uint64_t begin, end;
    const uint8_t* data;
    uint64_t bytes;
};
// Groups of all messages in their order. Empty: the batch itself describes the AAD.
using AadGroups = std::vector<AadGroup>;

// Checks and runs a batch. With groups, the batch has no AAD of its own.
warpseal_status run_host_batch(Engine::Impl& impl, const Key& key, warpseal_mode mode,
                               Direction direction, const warpseal_batch& batch,
                               const AadGroups& groups, Engine::Threads threads,
                               const char** target);

}  // namespace warpseal
