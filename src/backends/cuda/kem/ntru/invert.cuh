// Inverses of NTRU polynomials, with one warp for each group of pairs. One inversion uses powers
// (Itoh and Tsujii) and Newton steps, the others of the group use products.
#pragma once

#include <bit>

#include "backends/cuda/kem/ntru/pairs.cuh"

namespace warpseal::cuda::ntru {

// Raises a to the power p^k modulo p, which moves coefficient i to position p^k i. Coefficient i
// thus comes from position `factor` i modulo n, with p^k factor = 1. Writes what a right factor
// needs.
template <class R>
__device__ __forceinline__ void permute(uint8_t* to, const uint8_t* from, uint32_t factor) {
    uint32_t at = (4 * lane_id() + R::n - 8) * factor % R::n;
    const uint32_t jump = 124 * factor % R::n;
    auto advance = [&](uint32_t by) {
        at += by;
        at = min(at, at - R::n);  // at - n wraps to a large number if at < n
    };
#pragma unroll
    for (int first = -8; first < R::n; first += 128) {
        const int i = first + 4 * static_cast<int>(lane_id());
        uint32_t word = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            word |= uint32_t{from[at]} << (8 * k);
            advance(factor);
        }
        advance(jump);
        if (i < R::n) put_word(to + i, word);
    }
}

constexpr uint32_t inverse_of(int p, int n) {  // inverse of p modulo n; p is 2 or 3
    int multiple = n + 1;
    while (multiple % p != 0) multiple += n;
    return static_cast<uint32_t>(multiple / p);
}

// Computes power = a^(1 + p + ... + p^(n - 3)), as digits modulo p (Itoh and Tsujii, 1988). The
// exponent of j + k terms is that of j times p^k, plus that of k. The loop goes over the bits of n
// - 2 from the top: each doubles the terms, and a one adds another. `power` must already hold the
// digits of a, and `a` a copy; both as left factors. At the end, permuted = power^p.
template <class R, int p, class Reduce>
__device__ __forceinline__ void power_sum(uint8_t* power, uint8_t* permuted, const uint8_t* a,
                                          const Reduce& reduce) {
    constexpr uint32_t once = inverse_of(p, R::n), terms = R::n - 2;
    uint32_t factor = once;  // for the current number of terms
    uint32_t bit = std::bit_floor(terms) / 2;
    bool add = false;
    // The last permutation is part of the loop. As a separate call, its compile-time positions
    // would be kept in registers for the next item, and spilled.
#pragma unroll 1
    for (;;) {
        permute<R>(permuted, power, add || bit == 0 ? once : factor);
        __syncwarp();
        if (bit == 0) return;
        Sums<R> c;
        multiply_add<R, Bytes::natural, Bytes::natural>(c, add ? a : power, permuted);
        __syncwarp();
        put_band(power, c, reduce);
        __syncwarp();
        extend_behind<R>(power);
        __syncwarp();
        factor = (add ? once : factor) * factor % R::n;
        add = !add && (terms & bit) != 0;
        bit = add ? bit : bit / 2;
    }
}

// Inverts a in S3, as digits modulo 3. The input and the result are left factors. With u = a^(3 +
// 3^2 + ... + 3^(n - 2)), a u is the norm of a: 1 or -1.
template <class R>
__device__ __forceinline__ void invert_s3(uint8_t* a, uint8_t* power, uint8_t* permuted) {
    // A multiple of 3 that exceeds the magnitude of any negative difference.
    constexpr int positive = 3 * 2048;
    static_assert(4 * R::n <= positive);
    for (int i = 4 * static_cast<int>(lane_id()) - R::behind; i < R::ahead; i += 128)
        put_word(power + i, word_at(a + i));
    __syncwarp();
    power_sum<R, 3>(power, permuted, a,
                    [](int32_t value) { return mod3(static_cast<uint32_t>(value)); });
    int first = 0, last = 0;  // coefficients 0 and n - 1 of a u
    for (int i = static_cast<int>(lane_id()); i < R::n; i += 32) {
        const int digit = permuted[i];
        first += a[-i] * digit;
        last += a[R::n - 1 - i] * digit;
    }
    const uint32_t norm = mod3(warp_sum(static_cast<uint32_t>(first - last)) + positive);
    const uint32_t end = permuted[R::n - 1];
    __syncwarp();
    for (int i = static_cast<int>(lane_id()); i < R::n; i += 32)
        a[i] = static_cast<uint8_t>(mod3(digit_difference(permuted[i], end) * norm));
    __syncwarp();
    extend<R>(a);
    __syncwarp();
}

// Newton step. If a v = 1 - 2^p e, v has p correct bits and v + 2^p e v has 2 p. Computes e from c
// = a v. Reduction modulo Phi_n subtracts coefficient n - 1.
template <class R, class F>
__device__ __forceinline__ void put_error(uint8_t* error, const Sums<R>& c, const F& f) {
    const int32_t last = last_of(c);
    each_pair<R>([&](int k, int i) {
        put_pair(error + i, f(last - c.value[k] + (i == 0 ? 1 : 0)) |
                                f(last - c.value[k + 1] + (i + 1 == R::n ? 1 : 0)) << 8);
    });
    __syncwarp();
    extend_behind<R>(error);
    __syncwarp();
}

// Computes v = 1 / a modulo (q, Phi_n), in bands as right factors. v_low must hold v modulo 2; a is
// a left factor. The number of correct bits of v is 1, 2, 4, 8, then all.
template <const Params& set>
__device__ __forceinline__ void newton(uint8_t* v_low, uint8_t* v_high, const uint8_t* a_low,
                                       const uint8_t* a_high, uint8_t* error) {
    using R = Ring<set.n>;
#pragma unroll 1
    for (int right = 1; right <= 8; right *= 2) {
        const uint32_t mask = right < 8 ? (1u << right) - 1 : (1u << (set.log_q - 8)) - 1;
        {
            Sums<R> c;
#pragma unroll 1
            for (int k = right < 8 ? 1 : 0; k < 2; ++k) {
                move_up(c);
                multiply_add<R, Bytes::natural, Bytes::natural>(c, k == 0 ? a_high : a_low, v_low);
            }
            put_error(error, c,
                      [&](int32_t value) { return static_cast<uint32_t>(value) >> right & mask; });
        }
        Sums<R> correction;
        multiply_add<R, Bytes::natural, Bytes::natural>(correction, error, v_low);
        __syncwarp();
        uint8_t* v = right < 8 ? v_low : v_high;
        each_pair<R>([&](int k, int i) {
            const uint32_t both = (correction.value[k] & mask) | (correction.value[k + 1] & mask)
                                                                     << 8;
            put_pair(v + i, right < 8 ? pair_at(v_low + i) | both << right : both);
        });
        __syncwarp();
        extend_factor<R>(v);
        __syncwarp();
    }
}

// Inverts a in Sq, in two bands.
template <const Params& set>
__device__ __forceinline__ void invert_sq(uint8_t* a_low, uint8_t* a_high, uint8_t* v_low,
                                          uint8_t* v_high, uint8_t* power, uint8_t* permuted) {
    using R = Ring<set.n>;
    for (int i = 4 * static_cast<int>(lane_id()) - R::behind; i < R::ahead; i += 128) {
        const uint32_t lowest = word_at(a_low + i) & 0x01010101;
        put_word(power + i, lowest);
        put_word(v_low + i, lowest);
    }
    __syncwarp();
    power_sum<R, 2>(power, permuted, v_low,
                    [](int32_t value) { return static_cast<uint32_t>(value & 1); });
    for (int i = 4 * static_cast<int>(lane_id()) - 8; i < R::n; i += 128)
        put_word(v_low + i, word_at(permuted + i));
    __syncwarp();
    newton<set>(v_low, v_high, a_low, a_high, permuted);
    for (int i = 4 * static_cast<int>(lane_id()); i < R::n; i += 128) {
        put_word(a_low + i, word_at(v_low + i));
        put_word(a_high + i, word_at(v_high + i));
    }
    __syncwarp();
    extend<R>(a_low);
    extend<R>(a_high);
    __syncwarp();
}

// Montgomery's trick for pairs [begin, end): only the product of all f is inverted. That inverse
// times the product of all but the last is the inverse of the last. Times the last, it is the
// inverse of the product of those before.
//
// Writes 1 / f in S3 into the secret keys. An unusable pair has f = 1 here, and zeros are written
// for it.
template <const Params& set>
__device__ __forceinline__ void invert_group_s3(const PairJob& job, uint64_t begin, uint64_t end,
                                                uint8_t* memory) {
    using R = Ring<set.n>;
    uint8_t *product = band<R>(memory, 0), *own = band<R>(memory, 1), *other = band<R>(memory, 2);
    auto load_f = [&](uint8_t* to, uint64_t item) {
        load_band<R>(to, job, item, pair_f);
        __syncwarp();
        if (lane_id() == 0) to[0] |= static_cast<uint8_t>(~job.usable[item] & 1);
        __syncwarp();
    };
    auto multiply = [&](uint8_t* to) {
        extend_factor<R>(own);
        Sums<R> c;
        multiply_add<R, Bytes::natural, Bytes::natural>(c, product, own);
        __syncwarp();
        put_band(to, c, [](int32_t value) { return mod3(static_cast<uint32_t>(value)); });
        __syncwarp();
        extend_behind<R>(to);
        __syncwarp();
    };
    load_f(product, begin);
    extend<R>(product);
    __syncwarp();
#pragma unroll 1
    for (uint64_t i = begin + 1; i < end; ++i) {
        store_band<R>(product, job, i - 1, pair_s3_product);
        load_f(own, i);
        multiply(product);
    }
    invert_s3<R>(product, other, own);
#pragma unroll 1
    for (uint64_t i = end - 1;; --i) {
        uint8_t* inverse = i == begin ? product : other;
        if (i != begin) {
            load_band<R>(own, job, i - 1, pair_s3_product);
            __syncwarp();
            multiply(other);
        }
        const uint32_t last = inverse[set.n - 1], usable = job.usable[i];
        __syncwarp();
        for (int k = static_cast<int>(lane_id()); k < set.n; k += 32)
            inverse[k] = static_cast<uint8_t>(digit_difference(inverse[k], last) & usable);
        __syncwarp();
        pack_ternary<set>(
            job.batch.secret_keys + i * job.batch.secret_key_stride + set.ternary_bytes(), inverse);
        if (i == begin) return;
        load_f(own, i);
        multiply(product);
    }
}

// Computes c = a b modulo 2^16, with two bands each: the product of the high bands vanishes.
template <class R>
__device__ __forceinline__ void multiply_bands(Sums<R>& c, const uint8_t* a_low,
                                               const uint8_t* a_high, const uint8_t* b_low,
                                               const uint8_t* b_high) {
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
        if (k == 2) move_up(c);
        multiply_add<R, Bytes::natural, Bytes::natural>(c, k == 0 ? a_high : a_low,
                                                        k == 1 ? b_high : b_low);
    }
}

// Inverts the a of pairs [begin, end) in Sq. 1 / a replaces the products in device memory. An
// unusable pair has a = 1.
template <const Params& set>
__device__ __forceinline__ void invert_group_sq(const PairJob& job, uint64_t begin, uint64_t end,
                                                uint8_t* memory) {
    using R = Ring<set.n>;
    uint8_t *low = band<R>(memory, 0), *high = band<R>(memory, 1), *own_low = band<R>(memory, 2),
            *own_high = band<R>(memory, 3);
    uint8_t *other_low = band<R>(memory, 4), *other_high = band<R>(memory, 5);
    auto load = [&](uint8_t* to_low, uint8_t* to_high, uint64_t item, PairBand which) {
        load_band<R>(to_low, job, item, which);
        load_band<R>(to_high, job, item, static_cast<PairBand>(which + 1));
        __syncwarp();
    };
    auto store = [&](const uint8_t* from_low, const uint8_t* from_high, uint64_t item) {
        store_band<R>(from_low, job, item, pair_product_low);
        store_band<R>(from_high, job, item, pair_product_high);
    };
    auto multiply = [&](uint8_t* to_low, uint8_t* to_high) {
        extend_factor<R>(own_low);
        extend_factor<R>(own_high);
        Sums<R> c;
        multiply_bands<R>(c, low, high, own_low, own_high);
        __syncwarp();
        put_q<set>(to_low, to_high, c, [](int32_t value) { return static_cast<uint32_t>(value); });
        __syncwarp();
        extend_behind<R>(to_low);
        extend_behind<R>(to_high);
        __syncwarp();
    };
    load(low, high, begin, pair_a_low);
    extend<R>(low);
    extend<R>(high);
    __syncwarp();
#pragma unroll 1
    for (uint64_t i = begin + 1; i < end; ++i) {
        store(low, high, i - 1);
        load(own_low, own_high, i, pair_a_low);
        multiply(low, high);
    }
    invert_sq<set>(low, high, own_low, own_high, other_low, other_high);
#pragma unroll 1
    for (uint64_t i = end - 1; i != begin; --i) {
#pragma unroll 1
        for (int k = 0; k < 2; ++k) {  // its inverse, then that of the product before it
            load(own_low, own_high, k == 0 ? i - 1 : i, k == 0 ? pair_product_low : pair_a_low);
            multiply(k == 0 ? other_low : low, k == 0 ? other_high : high);
        }
        store(other_low, other_high, i);
    }
    store(low, high, begin);
}

}  // namespace warpseal::cuda::ntru
