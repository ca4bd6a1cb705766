// X25519 of many items in device memory: products with given points and with the base point.
#pragma once

#include "backends/cipher_backend.h"
#include "backends/cuda/kem/lanes.h"

namespace warpseal::cuda::x25519 {

// Strings have 32 bytes. Scalars are clamped and points reduced, as RFC 7748 says; a point of low
// order gives zeros. An item's output may be its own input.
struct ProductJob {
    uint64_t count;
    Input scalars;
    Input points;  // the base point if null
    Output products;
    Output copies;  // of the scalars, with the base point; none if null
};

// Queues the job on a stream of the current device.
warpseal_status multiply(const ProductJob& job, void* stream);

}  // namespace warpseal::cuda::x25519
