// Secret keys of a pool, in device memory: to their places and back.
#pragma once

#include "backends/gpu_door.h"

namespace warpseal::cuda {

warpseal_status kem_placed(int device, KemPlaced what, void* places, void* items, size_t stride,
                           const uint32_t* numbers, uint64_t count, void* stream);

}  // namespace warpseal::cuda
