// An item of a batch in the hands of a warp: what kernels get, the warp's shared memory, and
// messages as the hash wants them.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/ring.cuh"
#include "kem/keccak.h"
#include "warpseal/kem.h"

namespace warpseal::cuda::ntru {

// What the kernels get. Messages are padded for SHA3-256; valid is a mask of all ones for an item
// that has a result of its own.
struct ItemJob {
    warpseal_kem_batch batch;
    uint8_t* messages;
    uint8_t* rejected;
    uint32_t* valid;
};

// The bands and words of a warp, of `bytes` bytes each in the block's shared memory.
template <int bytes>
__device__ __forceinline__ uint8_t* own_shared() {
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

// One of the grid for each warp, and no loop over items: of that the compiler would keep what is
// the same for all, which spills. The same in all lanes, which it sees by the shuffle.
__device__ __forceinline__ uint64_t own_item() {
    return uint64_t{blockIdx.x} * (blockDim.x / 32) + __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
}

// Padding of a message of so many bytes: SHA3's suffix and the last bit.
template <size_t bytes>
__device__ __forceinline__ void pad_message(uint8_t* message) {
    constexpr size_t end = kem::padded_bytes(bytes);
    for (size_t i = bytes + lane_id(); i < end; i += 32)
        message[i] = static_cast<uint8_t>((i == bytes ? kem::keccak::sha3_suffix : 0) |
                                          (i == end - 1 ? 0x80 : 0));
}

}  // namespace warpseal::cuda::ntru
