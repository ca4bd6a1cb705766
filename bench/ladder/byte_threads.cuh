// Kernel of P1's 8-bit representation: 16 threads share a block of text, one byte each.
#pragma once

#include "ladder/byte_threads.h"
#include "ladder/study.h"

namespace warpseal::ladder {

template <class C>
__device__ const typename C::Data byte_data{};

// Shared memory holds the S-boxes, the round keys and two bytes for each thread, so that one
// barrier per round suffices. The 16 threads are half a warp, or a block of 16, so a warp barrier
// synchronizes them.
template <class C>
__global__ void __launch_bounds__(1024, 1)
    byte_threads(const __grid_constant__ Job<typename C::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int key_bytes = 16 * (C::rounds + 1);
    // Otherwise the next block of text would start in the half that ends this one.
    static_assert(C::rounds % 2 == 0);
    constexpr int box_count = sizeof(C::Data::boxes) / 256;
    unsigned char *const boxes = shared, *const keys = boxes + box_count * 256,
                         *const exchange = keys + key_bytes;
    for (uint32_t i = threadIdx.x; i < box_count * 256; i += blockDim.x)
        boxes[i] = byte_data<C>.boxes[i / 256][i % 256];
    for (uint32_t i = threadIdx.x; i < key_bytes; i += blockDim.x)
        keys[i] = reinterpret_cast<const uint8_t*>(job.key)[i];
    __syncthreads();

    const int byte = threadIdx.x % 16;
    const C cipher(byte, byte_data<C>);
    const uint64_t step = uint64_t{gridDim.x} * (blockDim.x / 16);
    const uint64_t first = uint64_t{blockIdx.x} * (blockDim.x / 16) + threadIdx.x / 16;
    // All threads of a warp stay in the loop; those past the end repeat the last block and store
    // nothing.
    for (uint64_t i = first; i - threadIdx.x / 16 < job.blocks; i += step) {
        const bool inside = i < job.blocks;
        const uint64_t at = (inside ? i : job.blocks - 1) * 16 + byte;
        uint32_t x = job.in[at] ^ keys[byte];
#pragma unroll 2
        for (int r = 1; r <= C::rounds; ++r) {
            unsigned char* const mine = exchange + r % 2 * blockDim.x + threadIdx.x / 16 * 16;
            mine[byte] = boxes[cipher.box(r) * 256 + x];
            __syncwarp();
            const auto read = [mine](int j) -> uint32_t { return mine[j]; };
            x = (r == C::rounds ? cipher.last(read) : cipher.mix(read)) ^ keys[16 * r + byte];
        }
        if (inside) job.out[at] = static_cast<uint8_t>(x);
    }
}

template <class C>
const Study* byte_threads_study() {
    static const Study study{.kernel = reinterpret_cast<const void*>(&byte_threads<C>),
                             .fill = fill_job<typename C::Cipher>,
                             .threads = 256,
                             .threads_together = 16,
                             .shared_bytes = sizeof(C::Data::boxes) + 16 * (C::rounds + 1),
                             .shared_bytes_per_thread = 2};
    return &study;
}

}  // namespace warpseal::ladder
