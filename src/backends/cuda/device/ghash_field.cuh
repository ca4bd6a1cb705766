// GF(2^128) multiplication for GHASH in constant time by a precomputed multiplier, and sums over
// the lanes of a warp.
#pragma once

#include "macs/ghash.h"

namespace warpseal::cuda {

using Element = macs::ghash::Element<uint32_t>;

// Precomputed multiplier. Carry-less products come from integer products of every fourth bit, as in
// macs/ghash.h. The nine split words are constant-bank operands. Splitting at every fifth bit would
// let additions replace XORs, but needs 225 wide products instead of 144, and the GPU is shorter of
// those.
struct Multiplier {
    uint32_t limb[9][4];  // [Karatsuba word][bits that are i modulo 4]
};

// Returns a times x^-1. The product of reflected elements has an extra factor x, which this removes
// in advance.
WARPSEAL_INLINE Element divide_by_x(const Element& a) {
    Element b;
    const uint32_t out = a.word[3] >> 31;
    for (int i = 3; i > 0; --i) b.word[i] = a.word[i] << 1 | a.word[i - 1] >> 31;
    b.word[0] = (a.word[0] << 1) | out;
    b.word[3] ^= out * 0xc2000000u;
    return b;
}

// Computes the nine words whose products give a product of four words: two levels of Karatsuba.
WARPSEAL_INLINE void karatsuba_words(const Element& a, uint32_t (&k)[9]) {
    k[0] = a.word[0];
    k[1] = a.word[1];
    k[3] = a.word[2];
    k[4] = a.word[3];
    k[6] = a.word[0] ^ a.word[2];
    k[7] = a.word[1] ^ a.word[3];
    for (int i = 0; i < 9; i += 3) k[i + 2] = k[i] ^ k[i + 1];
}

WARPSEAL_INLINE Multiplier multiplier(const Element& h) {
    Multiplier m;
    uint32_t k[9];
    karatsuba_words(divide_by_x(h), k);
    for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 4; ++j) m.limb[i][j] = k[i] & (0x11111111u << j);
    return m;
}

// Each position accumulates at most 8 terms, so no carry reaches the next one.
WARPSEAL_INLINE uint64_t multiply_words(uint32_t a, const uint32_t (&h)[4]) {
    uint64_t x[4], product = 0;
    for (int i = 0; i < 4; ++i) x[i] = a & (0x11111111u << i);
    for (int i = 0; i < 4; ++i)
        product |=
            (x[0] * h[i] ^ x[1] * h[(i + 3) & 3] ^ x[2] * h[(i + 2) & 3] ^ x[3] * h[(i + 1) & 3]) &
            (0x1111111111111111u << i);
    return product;
}

WARPSEAL_INLINE Element multiply(const Element& a, const Multiplier& h) {
    uint32_t k[9];
    karatsuba_words(a, k);
    // Three products of two words by two words, least significant word first.
    uint32_t p[3][4];
    for (int i = 0; i < 3; ++i) {
        const uint64_t low = multiply_words(k[3 * i], h.limb[3 * i]),
                       high = multiply_words(k[3 * i + 1], h.limb[3 * i + 1]);
        const uint64_t middle = multiply_words(k[3 * i + 2], h.limb[3 * i + 2]) ^ low ^ high;
        p[i][0] = static_cast<uint32_t>(low);
        p[i][1] = static_cast<uint32_t>(low >> 32) ^ static_cast<uint32_t>(middle);
        p[i][2] = static_cast<uint32_t>(high) ^ static_cast<uint32_t>(middle >> 32);
        p[i][3] = static_cast<uint32_t>(high >> 32);
    }
    uint32_t low[4], high[4];
    for (int i = 0; i < 4; ++i) p[2][i] ^= p[0][i] ^ p[1][i];
    for (int i = 0; i < 2; ++i) {
        low[i] = p[0][i];
        low[i + 2] = p[0][i + 2] ^ p[2][i];
        high[i] = p[1][i] ^ p[2][i + 2];
        high[i + 2] = p[1][i + 2];
    }
    // Reduction modulo x^128 + x^7 + x^2 + x + 1, reflected. The low half is XORed into the high
    // half; the bits shifted out of low[0] are reduced first.
    low[3] ^= low[0] << 31 ^ low[0] << 30 ^ low[0] << 25;
    Element r;
    for (int i = 0; i < 4; ++i) {
        const uint32_t v = low[i], above = i < 3 ? low[i + 1] : 0;
        r.word[i] =
            high[i] ^ v ^ (v >> 1 | above << 31) ^ (v >> 2 | above << 30) ^ (v >> 7 | above << 25);
    }
    return r;
}

// Squaring is linear: each bit moves to twice its exponent.
WARPSEAL_INLINE Element square(const Element& a) {
    uint32_t v[8];
    for (int i = 0; i < 8; ++i) {
        uint32_t x = i % 2 == 0 ? a.word[i / 2] & 0xffff : a.word[i / 2] >> 16;
        x = (x | x << 8) & 0x00ff00ffu;
        x = (x | x << 4) & 0x0f0f0f0fu;
        x = (x | x << 2) & 0x33333333u;
        v[i] = (x | x << 1) & 0x55555555u;
    }
    return macs::ghash::reduce<uint32_t>(v);
}

// Powers of H for one warp: H^32 for rows of 32 blocks, H^(32 - lane) to combine the lanes, H^(2^b)
// for the distance to the end of the text.
struct HashKey {
    Multiplier row;
    Element lane_power[32];
    Element bit_power[32];
};

#ifdef __CUDACC__

// Not inlined: one copy of the code, for calls off the hot path. Only kernels and inlined functions
// may call it, see docs/decisions/0005-calls-on-a-gpu.md.
__device__ __noinline__ inline Element multiply_once(Element a, Element b) {
    return multiply(a, multiplier(b));
}

// Broadcasts a block or an element of one lane.
template <class B>
__device__ __forceinline__ B from_lane(B b, int lane) {
#pragma unroll
    for (int w = 0; w < B::words; ++w) b.word[w] = __shfl_sync(0xffffffffu, b.word[w], lane);
    return b;
}

__device__ __forceinline__ Element exchange(const Element& e, int distance) {
    Element r;
    for (int i = 0; i < 4; ++i) r.word[i] = __shfl_xor_sync(0xffffffffu, e.word[i], distance);
    return r;
}

// The sum and the product of all lanes' elements, in every lane.
__device__ __forceinline__ Element sum_of_lanes(Element e) {
    for (int distance = 1; distance < 32; distance *= 2) e = e ^ exchange(e, distance);
    return e;
}
__device__ inline Element product_of_lanes(Element e) {
#pragma unroll 1
    for (int distance = 1; distance < 32; distance *= 2)
        e = multiply_once(e, exchange(e, distance));
    return e;
}

__device__ __forceinline__ Element one() {
    Element e;
    e.word[3] = 0x80000000u;
    return e;
}

// Returns e times H^n. n must be public.
__device__ __forceinline__ Element times_power(Element e, const HashKey& hash, uint32_t n) {
#pragma unroll 1
    for (int b = 0; n != 0; ++b, n >>= 1)
        if (n & 1) e = multiply_once(e, hash.bit_power[b]);
    return e;
}

#endif

}  // namespace warpseal::cuda
