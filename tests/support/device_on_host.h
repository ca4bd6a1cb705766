// The CUDA builtins that device code uses, for compiling it on the host: one thread at a time, its
// index set by the test.
#pragma once

#include <cstdint>
#include <cstring>

#define __device__
#define __host__
#define __forceinline__ inline

struct uint4 {
    uint32_t x, y, z, w;
};

struct uint2 {
    uint32_t x, y;
};

struct ThreadNumber {
    uint32_t x, y = 0;
};
inline ThreadNumber threadIdx{0};
inline ThreadNumber blockDim{1};

inline void __syncthreads() {}

// Shared-memory addresses are relative to the last pointer that was converted to one.
inline const void* shared_memory = nullptr;
inline size_t __cvta_generic_to_shared(const void* p) {
    shared_memory = p;
    return 0;
}
inline const void* __cvta_shared_to_generic(size_t address) {
    return static_cast<const unsigned char*>(shared_memory) + address;
}

// Byte i of the result is the byte of y:x (x the low four) selected by digit i of the selector.
// CUDA C++ Programming Guide, "byte permute".
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
    const uint64_t both = uint64_t{y} << 32 | x;
    uint32_t out = 0;
    for (uint32_t i = 0; i < 4; ++i)
        out |= static_cast<uint32_t>(both >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
    return out;
}

// Bits 32 to 63 of the product.
inline int __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }

// Adds the four byte products of a and b to c.
inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
    return c;
}
