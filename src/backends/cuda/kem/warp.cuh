// A warp and its byte strings, for the kernels of key encapsulation: the warp's shared memory, and
// strings at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::cuda {

__device__ __forceinline__ uint32_t lane_id() { return threadIdx.x % 32; }
__device__ __forceinline__ uint32_t word_at(const uint8_t* p) {
    return *reinterpret_cast<const uint32_t*>(p);
}
__device__ __forceinline__ void put_word(uint8_t* p, uint32_t word) {
    *reinterpret_cast<uint32_t*>(p) = word;
}

// Returns the warp's own `bytes` bytes of the block's shared memory.
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
constexpr int round16(int bytes) { return (bytes + 15) / 16 * 16; }

// Returns the warp's item: the grid has one warp for each. There is no loop over items, because the
// compiler would keep loop invariants in registers, and spill. The shuffle shows the compiler that
// the index is the same in all lanes.
__device__ __forceinline__ uint64_t warp_item() {
    return uint64_t{blockIdx.x} * (blockDim.x / 32) + __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
}

// A byte string in shared memory, in the words in which it lies in global memory. It starts `first`
// bits into the first word.
struct StagedString {
    const uint32_t* words;
    uint32_t first;

    // Returns the 32 bits from bit `at` on.
    __device__ __forceinline__ uint32_t bits(uint32_t at) const {
        at += first;
        return __funnelshift_r(words[at / 32], words[at / 32 + 1], at);
    }
    // Returns the 64 bits from bit `at` on.
    __device__ __forceinline__ uint64_t bits64(uint32_t at) const {
        at += first;
        const uint32_t *w = words + at / 32, middle = w[1];
        return uint64_t{__funnelshift_r(w[0], middle, at)} |
               uint64_t{__funnelshift_r(middle, w[2], at)} << 32;
    }
};
// Words for a string at any alignment, including those that bits64 reads past its end.
constexpr int staged_words(size_t bytes) { return static_cast<int>((bytes + 3 + 3) / 4 + 2); }

// Returns the word at base + i, with only its bytes from `before` to `end`; reads no others.
__device__ __forceinline__ uint32_t word_within(const uint8_t* base, uint32_t i, uint32_t before,
                                                uint32_t end) {
    if (i >= before && i + 4 <= end) return word_at(base + i);
    uint32_t word = 0;
    for (uint32_t k = i; k < i + 4; ++k)
        if (k >= before && k < end) word |= uint32_t{base[k]} << (8 * (k - i));
    return word;
}

// Loads a string with a whole warp; reads no byte outside it. The caller must synchronize the warp
// before the words are read.
template <int bytes>
__device__ __forceinline__ StagedString load_string(uint32_t* words, const uint8_t* from) {
    const uint32_t before = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) % 4),
                   end = before + bytes;
    const uint8_t* base = from - before;
#pragma unroll 8
    for (uint32_t i = 4 * lane_id(); i < bytes + 3; i += 128)
        words[i / 4] = word_within(base, i, before, end);
    return {words, 8 * before};
}

// Stores a string from words[1] on. The warp must have synchronized after the words were written.
template <int bytes>
__device__ __forceinline__ void store_string(uint8_t* to, const uint32_t* words) {
    const uint32_t before = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) % 4),
                   end = before + bytes;
    uint8_t* base = to - before;
    for (uint32_t i = 4 * lane_id(); i < end; i += 128) {
        const uint32_t at = 8 * (i - before) + 32,
                       word = __funnelshift_r(words[at / 32], words[at / 32 + 1], at);
        if (i >= before && i + 4 <= end) {
            put_word(base + i, word);
        } else {
            for (uint32_t k = i; k < i + 4; ++k)
                if (k >= before && k < end) base[k] = static_cast<uint8_t>(word >> (8 * (k - i)));
        }
    }
}
// Words for a string to store, including those that store_string reads on either side of it.
constexpr int packed_words(size_t bytes) { return static_cast<int>((bytes + 3) / 4 + 2); }

template <int bytes>
__device__ __forceinline__ void fill_zero(uint8_t* to) {
    for (uint32_t i = lane_id(); i < bytes; i += 32) to[i] = 0;
}

}  // namespace warpseal::cuda
