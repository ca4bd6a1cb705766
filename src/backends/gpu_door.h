// The door to GPUs as the engine holds it: CudaDoor, and what is asked of memory and of the link. Apart from ops.h, which every object of
// every cipher is compiled with.
#pragma once

#include "backends/ops.h"

namespace warpseal {

struct GpuDoor : CudaDoor {
    // Whether all of it lies in memory that GPUs copy from and to themselves; and the device on whose memory it lies,
    // WARPSEAL_INVALID_ARGUMENT if on none. Both may be called while a stream is being captured.
    bool (*pinned)(const void* begin, size_t bytes);
    warpseal_status (*device_of)(const void* memory, int* device);
    // What the link gives: as many bytes from `in` as to `out`, both pinned, copied both ways at once, without any work on them.
    warpseal_status (*copy_both_ways)(int device, const void* in, void* out, size_t bytes);
};

// cuda_door() is its first half. Null in a build without CUDA.
const GpuDoor* gpu_door();

}  // namespace warpseal
