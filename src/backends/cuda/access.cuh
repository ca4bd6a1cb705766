// Blocks in and out of global memory at any alignment, with never a byte outside.
#pragma once

#include "core/block.h"

namespace warpseal::cuda {

// The widest access that suits two addresses: 16, 4 or 1 bytes.
__device__ __forceinline__ uint32_t common_width(const void* a, const void* b) {
    const uint32_t bits = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b));
    return (bits & 15) == 0 ? 16 : (bits & 3) == 0 ? 4 : 1;
}

// The first `bytes` bytes at p, followed by zeros; p is a multiple of width.
__device__ __forceinline__ Block<4> load_part(const uint8_t* p, uint32_t bytes, uint32_t width) {
    Block<4> b{};
    if (bytes == 16 && width == 16) {
        const uint4 v = *reinterpret_cast<const uint4*>(p);
        b = {{v.x, v.y, v.z, v.w}};
    } else if (bytes == 16 && width == 4) {
#pragma unroll
        for (int i = 0; i < 4; ++i) b.word[i] = reinterpret_cast<const uint32_t*>(p)[i];
    } else {
#pragma unroll
        for (int i = 0; i < 16; ++i)
            if (i < bytes) b.word[i / 4] |= uint32_t{p[i]} << (8 * (i % 4));
    }
    return b;
}

__device__ __forceinline__ void store_part(uint8_t* p, const Block<4>& b, uint32_t bytes, uint32_t width) {
    if (bytes == 16 && width == 16) {
        *reinterpret_cast<uint4*>(p) = {b.word[0], b.word[1], b.word[2], b.word[3]};
    } else if (bytes == 16 && width == 4) {
#pragma unroll
        for (int i = 0; i < 4; ++i) reinterpret_cast<uint32_t*>(p)[i] = b.word[i];
    } else {
#pragma unroll
        for (int i = 0; i < 16; ++i)
            if (i < bytes) p[i] = static_cast<uint8_t>(b.word[i / 4] >> (8 * (i % 4)));
    }
}

// The first `bytes` bytes of the block, followed by zeros.
__device__ __forceinline__ Block<4> keep_first(Block<4> b, uint32_t bytes) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int rest = static_cast<int>(bytes) - 4 * i;
        b.word[i] &= rest >= 4 ? 0xffffffffu : rest <= 0 ? 0u : (1u << (8 * rest)) - 1;
    }
    return b;
}

// How many bytes of a text of `bytes` lie in its block i.
__device__ __forceinline__ uint32_t bytes_in_block(uint64_t bytes, uint64_t i) {
    const uint64_t rest = bytes - 16 * i;
    return rest < 16 ? static_cast<uint32_t>(rest) : 16;
}

}  // namespace warpseal::cuda
