// Words: one notation for scalars, SIMD vectors and CUDA threads, and the attributes of algorithm
// functions.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Algorithms are always inlined, so that objects built for different instruction sets share no
// symbol.
#if defined(__CUDACC__)
#define WARPSEAL_INLINE __host__ __device__ __forceinline__
#else
#define WARPSEAL_INLINE inline __attribute__((always_inline))
#endif

// For functions that are too long to inline. They are internal to each object, for the same reason.
#if defined(__CUDACC__)
#define WARPSEAL_CALLED WARPSEAL_INLINE
#else
#define WARPSEAL_CALLED static __attribute__((noinline))
#endif

// For a loop with a constant count that must be fully unrolled.
#if defined(__CUDACC__) || defined(__clang__)
#define WARPSEAL_UNROLL _Pragma("unroll")
#else
#define WARPSEAL_UNROLL _Pragma("GCC unroll 16")
#endif

namespace warpseal {

WARPSEAL_INLINE constexpr uint32_t rotate_left(uint32_t x, int n) {
    return n == 0 ? x : (x << n) | (x >> (32 - n));
}

WARPSEAL_INLINE constexpr uint32_t swap_bytes(uint32_t x) {
#if defined(__CUDA_ARCH__)
    // nvcc does not recognize the shifts as a byte swap.
    if (!__builtin_is_constant_evaluated()) return __byte_perm(x, 0, 0x0123);
#endif
    return (x << 24) | ((x & 0xff00u) << 8) | ((x >> 8) & 0xff00u) | (x >> 24);
}

WARPSEAL_INLINE constexpr uint64_t swap_bytes(uint64_t x) {
    return (uint64_t{swap_bytes(static_cast<uint32_t>(x))} << 32) |
           swap_bytes(static_cast<uint32_t>(x >> 32));
}

WARPSEAL_INLINE uint32_t load_le32(const uint8_t* p) {
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

WARPSEAL_INLINE void store_le32(uint8_t* p, uint32_t x) { memcpy(p, &x, 4); }

WARPSEAL_INLINE uint64_t load_be64(const uint8_t* p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return swap_bytes(x);
}

WARPSEAL_INLINE void store_be64(uint8_t* p, uint64_t x) {
    x = swap_bytes(x);
    memcpy(p, &x, 8);
}

WARPSEAL_INLINE void store_be32(uint8_t* p, uint32_t x) {
    x = swap_bytes(x);
    memcpy(p, &x, 4);
}

}  // namespace warpseal
