// NTRU sampling with a warp: bytes modulo 3, and a sort in registers for ternary polynomials of
// fixed weight (specification, section 1.10).
#pragma once

#include "backends/cuda/kem/ntru/codec.cuh"

namespace warpseal::cuda::ntru {

// Reduces four bytes modulo 3. 16 and 4 are 1 modulo 3, so digits can be added; the sums are at
// most 30, 10, 5 and 3.
__device__ __forceinline__ uint32_t mod3_of_bytes(uint32_t x) {
    x = (x & 0x0f0f0f0fu) + (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x03030303u) + (x >> 2 & 0x07070707u);
    x = (x & 0x03030303u) + (x >> 2 & 0x03030303u);
    x = (x & 0x03030303u) + (x >> 2 & 0x01010101u);
    return x - 3 * (x & x >> 1 & 0x01010101u);
}

// Takes one byte of coins for each digit; coefficient n - 1 is zero.
template <const Params& set>
__device__ __forceinline__ void sample_iid(uint8_t* digits, const StagedString& coins) {
    each_word<Ring<set.n>>([&](int i) { put_word(digits + i, mod3_of_bytes(coins.bits(8 * i))); });
    if (lane_id() == 0) digits[set.n - 1] = 0;
}

__device__ __forceinline__ void order(int32_t& a, int32_t& b) {
    const int32_t low = min(a, b);
    b = max(a, b);
    a = low;
}

// Sorts by (lane, register index) with Batcher's bitonic sort without directions. Runs of 2, 4, 8,
// ... numbers are merged from two: first by comparing with the mirror image, then by halving. The
// sequence of operations does not depend on the data.
template <int registers>
__device__ __forceinline__ void sort(int32_t (&x)[registers]) {
#pragma unroll
    for (int run = 2; run <= registers; run *= 2) {
#pragma unroll
        for (int i = 0; i < registers; ++i)
            if (i % run < run / 2) order(x[i], x[i / run * run + run - 1 - i % run]);
#pragma unroll
        for (int apart = run / 4; apart > 0; apart /= 2)
#pragma unroll
            for (int i = 0; i < registers; ++i)
                if ((i & apart) == 0) order(x[i], x[i + apart]);
    }
#pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
        const bool lower = (lane_id() & (run / 2)) == 0;
#pragma unroll
        for (int i = 0; i < registers / 2; ++i) {
            const int j = registers - 1 - i;
            const int32_t a = __shfl_xor_sync(0xffffffffu, x[j], run - 1),
                          b = __shfl_xor_sync(0xffffffffu, x[i], run - 1);
            x[i] = lower ? min(x[i], a) : max(x[i], a);
            x[j] = lower ? min(x[j], b) : max(x[j], b);
        }
#pragma unroll
        for (int apart = run / 4; apart > 0; apart /= 2) {
            const bool low = (lane_id() & apart) == 0;
#pragma unroll
            for (int i = 0; i < registers; ++i) {
                const int32_t a = __shfl_xor_sync(0xffffffffu, x[i], apart);
                x[i] = low ? min(x[i], a) : max(x[i], a);
            }
        }
#pragma unroll
        for (int apart = registers / 2; apart > 0; apart /= 2)
#pragma unroll
            for (int i = 0; i < registers; ++i)
                if ((i & apart) == 0) order(x[i], x[i + apart]);
    }
}

// Orders digits by their keys. A key is 30 bits of coins above the digit, compared as a signed
// number. Coefficient n - 1 and the rest of its word are zero.
template <const Params& set>
__device__ __forceinline__ void sample_fixed(uint8_t* digits, const StagedString& coins) {
    constexpr int registers = set.n <= 512 ? 16 : set.n <= 1024 ? 32 : 64;
    int32_t x[registers];
#pragma unroll
    for (int k = 0; k < registers; ++k) {
        const int i = 32 * k + static_cast<int>(lane_id());
        const uint32_t digit = i < set.weight() ? 1 : i < 2 * set.weight() ? 2 : 0;
        // No digit is 3, so the padding sorts after all keys.
        x[k] = i < set.n - 1 ? static_cast<int32_t>(coins.bits(30 * i) << 2 | digit) : INT32_MAX;
    }
    sort(x);
#pragma unroll
    for (int k = 0; k < registers; k += 4) {
        const int i = registers * static_cast<int>(lane_id()) + k;
        const uint32_t word =
            (x[k] & 3) | (x[k + 1] & 3) << 8 | (x[k + 2] & 3) << 16 | (x[k + 3] & 3) << 24;
        if (i < set.n) put_word(digits + i, i < set.n - 1 ? word : 0);
    }
}

// Words for the coins of one polynomial; `sample_pair` samples two (f and g, or r and m), one after
// the other.
template <const Params& set>
inline constexpr int coin_words = staged_words(set.family == Family::hps ? set.fixed_coins()
                                                                         : set.iid_coins());

template <const Params& set>
__device__ __forceinline__ void sample_pair(uint8_t* first, uint8_t* second, uint32_t* words,
                                            const uint8_t* coins) {
    const StagedString iid = load_string<set.iid_coins()>(words, coins);
    __syncwarp();
    sample_iid<set>(first, iid);
    __syncwarp();
    if constexpr (set.family == Family::hps) {
        const StagedString fixed = load_string<set.fixed_coins()>(words, coins + set.iid_coins());
        __syncwarp();
        sample_fixed<set>(second, fixed);
    } else {
        const StagedString more = load_string<set.iid_coins()>(words, coins + set.iid_coins());
        __syncwarp();
        sample_iid<set>(second, more);
    }
    __syncwarp();
}

}  // namespace warpseal::cuda::ntru
