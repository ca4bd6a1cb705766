// Kernels of P1's 8-bit representation: 16 threads share a block of text, one byte each.
#pragma once

#include "bench/ladder/byte_threads.h"
#include "bench/ladder/study.h"

namespace warpseal::ladder {

template <class C>
__device__ const typename C::Data byte_data{};

// Shared memory of a block of threads: the S-boxes, the round keys and two bytes for each thread,
// so that one barrier per round suffices. All threads fill it together.
template <class C>
class ByteMemory {
public:
    static constexpr uint32_t box_bytes = sizeof(C::Data::boxes), key_bytes = 16 * (C::rounds + 1),
                              bytes = box_bytes + key_bytes, bytes_per_thread = 2;

    __device__ ByteMemory(unsigned char* shared, const uint32_t* key)
        : boxes_(shared), keys_(shared + box_bytes), exchange_(keys_ + key_bytes) {
        for (uint32_t i = threadIdx.x; i < box_bytes; i += blockDim.x)
            boxes_[i] = byte_data<C>.boxes[i / 256][i % 256];
        for (uint32_t i = threadIdx.x; i < key_bytes; i += blockDim.x)
            keys_[i] = reinterpret_cast<const uint8_t*>(key)[i];
    }

    // Encrypts the byte x of a block of text. `wait` is a barrier of its 16 threads.
    template <class Wait>
    __device__ __forceinline__ uint32_t encrypt(const C& cipher, uint32_t x,
                                                const Wait& wait) const {
        const int byte = threadIdx.x % 16;
        // Otherwise the next block of text would start in the half that ends this one.
        static_assert(C::rounds % 2 == 0);
        x ^= keys_[byte];
#pragma unroll 2
        for (int r = 1; r <= C::rounds; ++r) {
            unsigned char* const mine = exchange_ + r % 2 * blockDim.x + threadIdx.x / 16 * 16;
            mine[byte] = boxes_[cipher.box(r) * 256 + x];
            wait();
            const auto read = [mine](int j) -> uint32_t { return mine[j]; };
            x = (r == C::rounds ? cipher.last(read) : cipher.mix(read)) ^ keys_[16 * r + byte];
        }
        return x;
    }

private:
    unsigned char *boxes_, *keys_, *exchange_;
};

// P1's kernel: a block of 16 threads encrypts one block of text with its own copy of the S-boxes
// and round keys, and ends. Larger blocks of threads encrypt one block of text for each 16.
template <class C>
__global__ void byte_threads(const __grid_constant__ Job<typename C::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const ByteMemory<C> memory(shared, job.key);
    __syncthreads();
    const C cipher(threadIdx.x % 16, byte_data<C>);
    const uint64_t i = uint64_t{blockIdx.x} * (blockDim.x / 16) + threadIdx.x / 16;
    const bool inside = i < job.blocks;
    const uint64_t at = (inside ? i : job.blocks - 1) * 16 + threadIdx.x % 16;
    const uint32_t x = memory.encrypt(cipher, job.in[at], [] { __syncthreads(); });
    if (inside) job.out[at] = static_cast<uint8_t>(x);
}

// Ours: 16 blocks of text share a copy, and the blocks of threads stay for the next ones. The 16
// threads of a block of text are half a warp, so a warp barrier synchronizes them.
template <class C>
__global__ void __launch_bounds__(1024, 1)
    persistent_byte_threads(const __grid_constant__ Job<typename C::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const ByteMemory<C> memory(shared, job.key);
    __syncthreads();
    const C cipher(threadIdx.x % 16, byte_data<C>);
    const uint64_t step = uint64_t{gridDim.x} * (blockDim.x / 16);
    const uint64_t first = uint64_t{blockIdx.x} * (blockDim.x / 16) + threadIdx.x / 16;
    // All threads of a warp stay in the loop; those past the end repeat the last block and store
    // nothing.
    for (uint64_t i = first; i - threadIdx.x / 16 < job.blocks; i += step) {
        const bool inside = i < job.blocks;
        const uint64_t at = (inside ? i : job.blocks - 1) * 16 + threadIdx.x % 16;
        const uint32_t x = memory.encrypt(cipher, job.in[at], [] { __syncwarp(); });
        if (inside) job.out[at] = static_cast<uint8_t>(x);
    }
}

template <class C>
const Study* byte_threads_study() {
    static const Study study{.kernel = reinterpret_cast<const void*>(&byte_threads<C>),
                             .fill = fill_job<typename C::Cipher>,
                             .threads = 16,
                             .threads_together = 16,
                             .stays = false,
                             .shared_bytes = ByteMemory<C>::bytes,
                             .shared_bytes_per_thread = ByteMemory<C>::bytes_per_thread};
    return &study;
}

template <class C>
const Study* persistent_byte_threads_study() {
    static const Study study{.kernel = reinterpret_cast<const void*>(&persistent_byte_threads<C>),
                             .fill = fill_job<typename C::Cipher>,
                             .threads = 256,
                             .threads_together = 16,
                             .shared_bytes = ByteMemory<C>::bytes,
                             .shared_bytes_per_thread = ByteMemory<C>::bytes_per_thread};
    return &study;
}

}  // namespace warpseal::ladder
