// Stream-ordered scratch memory, from a private pool that retains what a call released. Mapping new
// memory for each call would cost more than the kernels of a call of some MiB. The caller's default
// pool is not used, so its settings stay as they are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

namespace warpseal::cuda {

// Scratch memory of the caller. Without memory, a call allocates its scratch itself.
struct Workspace {
    uint8_t* memory;
    size_t bytes;
};

// Allocates scratch on the current device.
warpseal_status acquire_scratch(size_t bytes, cudaStream_t stream, uint8_t** out);
// Zeroizes the scratch, then frees it.
warpseal_status release_scratch(uint8_t* work, size_t bytes, cudaStream_t stream);

}  // namespace warpseal::cuda
