// Loads and stores of blocks in global memory at any alignment. No byte outside the text is
// accessed.
#pragma once

#include "core/block.h"

namespace warpseal::cuda {

// Returns the widest access in bytes (16, 8, 4 or 1) for addresses and strides that were ORed
// together.
__device__ __forceinline__ uint32_t width_of(uintptr_t addresses) {
    const uint32_t bits = static_cast<uint32_t>(addresses);
    return (bits & 15) == 0 ? 16 : (bits & 7) == 0 ? 8 : (bits & 3) == 0 ? 4 : 1;
}
__device__ __forceinline__ uint32_t common_width(const void* a, const void* b) {
    return width_of(reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b));
}

__device__ __forceinline__ void load_aligned(Block<4>& b, const uint8_t* p) {
    const uint4 v = *reinterpret_cast<const uint4*>(p);
    b = {{v.x, v.y, v.z, v.w}};
}
__device__ __forceinline__ void load_aligned(Block<2>& b, const uint8_t* p) {
    const uint2 v = *reinterpret_cast<const uint2*>(p);
    b = {{v.x, v.y}};
}
__device__ __forceinline__ void store_aligned(uint8_t* p, const Block<4>& b) {
    *reinterpret_cast<uint4*>(p) = {b.word[0], b.word[1], b.word[2], b.word[3]};
}
__device__ __forceinline__ void store_aligned(uint8_t* p, const Block<2>& b) {
    *reinterpret_cast<uint2*>(p) = {b.word[0], b.word[1]};
}

// Loads `bytes` bytes at p and pads with zeros. p must be a multiple of `width`.
template <int n>
__device__ __forceinline__ Block<n> load_partial(const uint8_t* p, uint32_t bytes, uint32_t width) {
    Block<n> b{};
    if (bytes == 4 * n && width >= 4 * n) {
        load_aligned(b, p);
    } else if (bytes == 4 * n && width >= 4) {
#pragma unroll
        for (int i = 0; i < n; ++i) b.word[i] = reinterpret_cast<const uint32_t*>(p)[i];
    } else {
#pragma unroll
        for (int i = 0; i < 4 * n; ++i)
            if (i < bytes) b.word[i / 4] |= uint32_t{p[i]} << (8 * (i % 4));
    }
    return b;
}

template <int n>
__device__ __forceinline__ void store_partial(uint8_t* p, const Block<n>& b, uint32_t bytes,
                                              uint32_t width) {
    if (bytes == 4 * n && width >= 4 * n) {
        store_aligned(p, b);
    } else if (bytes == 4 * n && width >= 4) {
#pragma unroll
        for (int i = 0; i < n; ++i) reinterpret_cast<uint32_t*>(p)[i] = b.word[i];
    } else {
#pragma unroll
        for (int i = 0; i < 4 * n; ++i)
            if (i < bytes) p[i] = static_cast<uint8_t>(b.word[i / 4] >> (8 * (i % 4)));
    }
}

// Returns the block with all bytes from `bytes` on set to zero.
template <int n>
__device__ __forceinline__ Block<n> first_bytes(Block<n> b, uint32_t bytes) {
#pragma unroll
    for (int i = 0; i < n; ++i) {
        const int rest = static_cast<int>(bytes) - 4 * i;
        b.word[i] &= rest >= 4 ? 0xffffffffu : rest <= 0 ? 0u : (1u << (8 * rest)) - 1;
    }
    return b;
}

// Returns the first `bytes` bytes of `first`, followed by the other bytes of `rest`.
template <int n>
__device__ __forceinline__ Block<n> splice(const Block<n>& first, const Block<n>& rest,
                                           uint32_t bytes) {
    return first_bytes(first ^ rest, bytes) ^ rest;
}

// Returns the number of bytes in block i of a text of `bytes` bytes.
template <int n>
__device__ __forceinline__ uint32_t bytes_in_block(uint64_t bytes, uint64_t i) {
    const uint64_t rest = bytes - 4 * n * i;
    return rest < 4 * n ? static_cast<uint32_t>(rest) : 4 * n;
}

}  // namespace warpseal::cuda
