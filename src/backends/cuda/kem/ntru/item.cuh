// One item of a batch processed by a warp: kernel parameters, bands, and message padding.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/ntru/ring.cuh"
#include "kem/keccak.h"
#include "warpseal/kem.h"

namespace warpseal::cuda::ntru {

// Kernel parameters. Messages are padded for SHA3-256. `valid` is all ones for an item with a valid
// result.
struct ItemJob {
    warpseal_kem_batch batch;
    uint8_t* messages;
    uint8_t* rejected;
    uint32_t* valid;
};

template <class R>
__device__ __forceinline__ uint8_t* band(uint8_t* memory, int index) {
    return memory + index * R::band_bytes + R::behind;
}

// Writes the padding of a message of `bytes` bytes: the SHA3 suffix and the final bit.
template <size_t bytes>
__device__ __forceinline__ void pad_message(uint8_t* message) {
    constexpr size_t end = kem::padded_bytes(bytes);
    for (size_t i = bytes + lane_id(); i < end; i += 32)
        message[i] = static_cast<uint8_t>((i == bytes ? kem::keccak::sha3_suffix : 0) |
                                          (i == end - 1 ? 0x80 : 0));
}

}  // namespace warpseal::cuda::ntru
