// Operations on the coefficients of NTRU products and bands (specification, sections 1.7 to 1.9).
#pragma once

#include "backends/cuda/kem/ntru/codec.cuh"

namespace warpseal::cuda::ntru {

// Calls f(k, i) for each pair of coefficients: value[k] and value[k + 1] are coefficients i and i +
// 1.
template <class R, class F>
__device__ __forceinline__ void each_pair(const F& f) {
#pragma unroll
    for (int k = 0; k < R::sums; k += 2) f(k, 32 * k + 2 * static_cast<int>(lane_id()));
}
__device__ __forceinline__ uint32_t pair_at(const uint8_t* p) {
    return *reinterpret_cast<const uint16_t*>(p);
}
__device__ __forceinline__ void put_pair(uint8_t* p, uint32_t pair) {
    *reinterpret_cast<uint16_t*>(p) = static_cast<uint16_t>(pair);
}

// Returns coefficient n - 1, in all lanes.
template <class R>
__device__ __forceinline__ int32_t last_of(const Sums<R>& c) {
    return __shfl_sync(0xffffffffu, c.value[(R::n - 1) / 64 * 2], (R::n - 1) % 64 / 2);
}

// Writes a band of f(value), which must be a byte.
template <class R, class F>
__device__ __forceinline__ void put_band(uint8_t* band, const Sums<R>& c, const F& f) {
    each_pair<R>([&](int k, int i) { put_pair(band + i, f(c.value[k]) | f(c.value[k + 1]) << 8); });
}

// Shifts a product by one byte. The high band of a factor is multiplied first; only 16 bits of the
// result matter.
template <class R>
__device__ __forceinline__ void move_up(Sums<R>& c) {
#pragma unroll
    for (int32_t& value : c.value) value = (value & 0xff) << 8;
}
// Computes c = a b modulo (2^16, x^n - 1), with a in one band and b in two. The loops over products
// are not unrolled, because instruction caches are small.
template <class R, Bytes a_kind>
__device__ __forceinline__ void multiply_q(Sums<R>& c, const uint8_t* a, const uint8_t* b_low,
                                           const uint8_t* b_high) {
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        move_up(c);
        multiply_add<R, a_kind, Bytes::natural>(c, a, k == 0 ? b_high : b_low);
    }
}

// Writes the two bands of f(value) modulo q.
template <const Params& set, class R, class F>
__device__ __forceinline__ void put_q(uint8_t* low, uint8_t* high, const Sums<R>& c, const F& f) {
    each_pair<R>([&](int k, int i) {
        const uint32_t first = f(c.value[k]) & (set.q() - 1),
                       second = f(c.value[k + 1]) & (set.q() - 1);
        put_pair(low + i, (first & 0xff) | second << 8);
        put_pair(high + i, first >> 8 | (second & 0xff00));
    });
}

// Writes the string of f(i, value) modulo q for coefficients i < n - 1. `coefficients` and `words`
// are scratch. The warp must have synchronized since their last use.
template <const Params& set, class R, class F>
__device__ __forceinline__ void write_q(uint8_t* out, const Sums<R>& c, uint8_t* coefficients,
                                        uint32_t* words, const F& f) {
    each_pair<R>([&](int k, int i) {
        const uint32_t first = i < set.n - 1 ? f(i, c.value[k]) & (set.q() - 1) : 0;
        const uint32_t second = i + 1 < set.n - 1 ? f(i + 1, c.value[k + 1]) & (set.q() - 1) : 0;
        put_word(coefficients + 2 * i, first | second << 16);
    });
    __syncwarp();
    pack_q<set>(words, reinterpret_cast<const uint16_t*>(coefficients));
    __syncwarp();
    store_string<set.rq_bytes()>(out, words);
}

// Returns the centred representative of value modulo q, modulo 3. The upper half of the range
// subtracts q; -q modulo 3 is 2 if log_q is even, else 1.
template <const Params& set>
__device__ __forceinline__ uint32_t centred_mod3(int32_t value) {
    const uint32_t x = value & (set.q() - 1);
    return mod3(x + (x >> (set.log_q - 1)) * (set.log_q % 2 == 0 ? 2 : 1));
}

// Returns a - b modulo 3. Used to reduce digits of S3 modulo Phi_n.
__device__ __forceinline__ uint32_t digit_difference(uint32_t a, uint32_t b) {
    const uint32_t x = a + 3 - b;
    return x - (x >= 3 ? 3 : 0);
}

// Replaces the digits of m by lift(m), as signed bytes; coefficient n - 1 of m must be zero.
// HPS: lift(m) is the trits of m. HRSS: it is (x - 1) b with b = m / (x - 1) in S3.
// For b (x - 1) = m + t Phi_n, b[i - 1] - b[i] = m[i] + t. The sum of these around the circle is
// zero, so t = -(sum of m) / n modulo 3. With b[n - 1] = 0, b[i] = -(m[0] + ... + m[i]) - (i + 1)
// t.
template <const Params& set>
__device__ __forceinline__ void lift(uint8_t* m) {
    using R = Ring<set.n>;
    if constexpr (set.family == Family::hps) {
        digits_to_trits<R>(m);
    } else {
        // -1 / n = 1 modulo 3, and 6144 exceeds the sums below.
        static_assert(set.n % 3 == 2 && 4 * set.n < 6144);
        constexpr int own = (set.n / 4 + 31) / 32;  // consecutive words of a lane
        const int first = 4 * own * static_cast<int>(lane_id());
        uint32_t word[own], sum = 0;
#pragma unroll
        for (int k = 0; k < own; ++k) {
            word[k] = first + 4 * k < set.n - 1 ? word_at(m + first + 4 * k) : 0;
            sum = __dp4a(word[k], 0x01010101u, sum);
        }
        uint32_t before = sum;
#pragma unroll
        for (int apart = 1; apart < 32; apart *= 2) {
            const uint32_t other = __shfl_up_sync(0xffffffffu, before, apart);
            before += lane_id() >= apart ? other : 0;
        }
        const uint32_t t = mod3(__shfl_sync(0xffffffffu, before, 31));
        before = before - sum + mod3(first) * t;
#pragma unroll
        for (int k = 0; k < own; ++k) {
            uint32_t digits = 0;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                before += (word[k] >> (8 * j) & 3) + t;
                digits |= mod3(6144 - before) << (8 * j);
            }
            if (first + 4 * k < set.n - 1) put_word(m + first + 4 * k, digits);
        }
        __syncwarp();
        // m is now b; the byte before the first is b[n - 1] = 0.
        uint32_t lifted[(set.n - 1 + 127) / 128];
        each_word<R>([&](int i) {
            const uint32_t here = word_at(m + i),
                           previous =
                               i == 0 ? here << 8 : __byte_perm(word_at(m + i - 4), here, 0x6543);
            lifted[i / 128] = __vsub4(trits_of(previous), trits_of(here));
        });
        const uint32_t end = trits_of(m[set.n - 2]);
        __syncwarp();
        each_word<R>([&](int i) { put_word(m + i, lifted[i / 128]); });
        if (lane_id() == 0) m[set.n - 1] = static_cast<uint8_t>(end);
    }
}

// Extends a band for use as a left factor, which is read over all coefficients that a product
// covers. A right factor needs only extend_factor.
template <class R>
__device__ __forceinline__ void extend(uint8_t* band) {
    extend_behind<R>(band);
    __syncwarp();
    extend_ahead<R>(band);
}

}  // namespace warpseal::cuda::ntru
