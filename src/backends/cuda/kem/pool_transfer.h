// Moves secret keys in device memory into the slots of an ephemeral key pool and back.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

warpseal_status pool_transfer(int device, PoolTransfer what, void* slots, void* items,
                              size_t stride, const uint32_t* numbers, uint64_t count, void* stream);

}  // namespace warpseal::cuda
