// One item of a batch processed by a warp: kernel parameters, the warp's shared memory, and message
// padding.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/ring.cuh"
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

// Returns the warp's own `bytes` bytes of the block's shared memory, for bands and words.
template <int bytes>
__device__ __forceinline__ uint8_t* warp_shared() {
    extern __shared__ uint4 shared[];
    static_assert(bytes % 16 == 0);
    return reinterpret_cast<uint8_t*>(shared) + threadIdx.x / 32 * bytes;
}
template <int bytes>
__device__ __forceinline__ void wipe_shared(uint8_t* memory) {
    __syncwarp();
    for (uint32_t i = 16 * lane_id(); i < bytes; i += 512)
        *reinterpret_cast<uint4*>(memory + i) = uint4{};
}
template <class R>
__device__ __forceinline__ uint8_t* band(uint8_t* memory, int index) {
    return memory + index * R::band_bytes + R::behind;
}
constexpr int round16(int bytes) { return (bytes + 15) / 16 * 16; }

// Returns the warp's item: the grid has one warp for each. There is no loop over items, because the
// compiler would keep loop invariants in registers, and spill. The shuffle shows the compiler that
// the index is the same in all lanes.
__device__ __forceinline__ uint64_t warp_item() {
    return uint64_t{blockIdx.x} * (blockDim.x / 32) + __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
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
