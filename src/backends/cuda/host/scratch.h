// Work space in stream order, from a pool of our own that keeps what a call gave back: mapped anew
// for each, it would cost more than the kernels of a call of some MiB, and the caller's pool is the
// caller's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

namespace warpseal::cuda {

// Of the current device.
warpseal_status acquire_scratch(size_t bytes, cudaStream_t stream, uint8_t** out);
// Wipes it first.
warpseal_status release_scratch(uint8_t* work, size_t bytes, cudaStream_t stream);

}  // namespace warpseal::cuda
