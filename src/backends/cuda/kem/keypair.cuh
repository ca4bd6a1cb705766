// NTRU's key generation, a warp for each pair (specification, section 1.12.1): inverses by powers (Itoh and Tsujii), then Newton's steps.
#pragma once

#include <bit>

#include "backends/cuda/kem/item.cuh"
#include "backends/cuda/kem/poly.cuh"
#include "backends/cuda/kem/sample.cuh"

namespace warpseal::cuda::ntru {

template <const Params& set>
struct KeyGeneration {
    using R = Ring<set.n>;
    static constexpr int shared_bytes = 8 * R::band_bytes;
    // Words of strings lie where bands 4 and 5 are.
    static_assert(4 * coin_words<set> <= 2 * R::band_bytes && 4 * packed_words(set.rq_bytes()) <= 2 * R::band_bytes);
};

// a^(p^k) takes coefficient i to place p^k i, modulo p: from place `factor` i modulo n, with p^k factor = 1. Enough for a right factor.
template <class R>
__device__ __forceinline__ void permute(uint8_t* to, const uint8_t* from, uint32_t factor) {
    uint32_t at = (4 * lane_id() + R::n - 8) * factor % R::n;
    const uint32_t jump = 124 * factor % R::n;
    auto advance = [&](uint32_t by) {
        at += by;
        at = min(at, at - R::n);  // which is huge below n
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

constexpr uint32_t inverse_of(int p, int n) {  // of p modulo n; p is 2 or 3
    int multiple = n + 1;
    while (multiple % p != 0) multiple += n;
    return static_cast<uint32_t>(multiple / p);
}

// power = a^(1 + p + ... + p^(n - 3)), digits modulo p: the exponent of j + k terms is that of j, times p^k, and that of k. The bits of n -
// 2 from the top, each doubling the terms, a one adding another (Itoh and Tsujii, 1988). `power` holds the digits of a already, and a band
// of the same in `a`; both as left factors. The last permutation comes after: turned = power^p.
template <class R, int p, class Reduce>
__device__ __forceinline__ void power_sum(uint8_t* power, uint8_t* turned, const uint8_t* a, const Reduce& reduce) {
    constexpr uint32_t once = inverse_of(p, R::n), terms = R::n - 2;
    uint32_t factor = once;  // for as many terms as there are
    uint32_t bit = std::bit_floor(terms) / 2;
    bool add = false;
    // The last permutation is one of the loop's: places known when this is compiled would be kept for the next item, and spilled.
#pragma unroll 1
    for (;;) {
        permute<R>(turned, power, add || bit == 0 ? once : factor);
        __syncwarp();
        if (bit == 0) return;
        Sums<R> c;
        multiply_add<R, Bytes::integer, Bytes::natural>(c, add ? a : power, turned);
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

// Writes the string of 1 / f in S3, f as trits. With u = f^(3 + 3^2 + ... + 3^(n - 2)), f u is f's norm: 1 or -1, or 0 for f = 0.
template <const Params& set>
__device__ __forceinline__ void write_inverse_s3(uint8_t* out, const uint8_t* f, uint8_t* power, uint8_t* turned) {
    using R = Ring<set.n>;
    constexpr int positive = 3 * 1024;  // a multiple of 3, more than any sum is below zero
    static_assert(2 * set.n <= positive);
    power_sum<R, 3>(power, turned, f, [](int32_t value) { return mod3(value + positive); });
    int first = 0, last = 0;  // coefficients 0 and n - 1 of f u
    for (int i = static_cast<int>(lane_id()); i < set.n; i += 32) {
        const int digit = turned[i];
        first += static_cast<int8_t>(f[-i]) * digit;
        last += static_cast<int8_t>(f[set.n - 1 - i]) * digit;
    }
    const uint32_t norm = mod3(warp_sum(static_cast<uint32_t>(first - last)) + 2 * positive);
    const uint32_t end = turned[set.n - 1];
    __syncwarp();
    for (int i = static_cast<int>(lane_id()); i < set.n; i += 32)
        power[i] = static_cast<uint8_t>(mod3(digit_difference(turned[i], end) * norm));
    __syncwarp();
    pack_ternary<set>(out, power);
}

// Newton: if a v = 1 - 2^p e, and so has p bits right, v + 2^p e v has 2 p. e out of a v, modulo Phi_n: hence coefficient n - 1.
template <class R, class F>
__device__ __forceinline__ void put_error(uint8_t* error, const Sums<R>& c, const F& f) {
    const int32_t last = last_of(c);
    each_pair<R>([&](int k, int i) {
        put_pair(error + i, f(last - c.value[k] + (i == 0 ? 1 : 0)) | f(last - c.value[k + 1] + (i + 1 == R::n ? 1 : 0)) << 8);
    });
    __syncwarp();
    extend_behind<R>(error);
    __syncwarp();
}

// v = 1 / a modulo (q, Phi_n), bands as right factors. v_low holds it modulo 2; a is a left factor. Bits of v that are right: 1, 2, 4, 8,
// all.
template <const Params& set>
__device__ __forceinline__ void newton(uint8_t* v_low, uint8_t* v_high, const uint8_t* a_low, const uint8_t* a_high, uint8_t* error) {
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
            put_error(error, c, [&](int32_t value) { return static_cast<uint32_t>(value) >> right & mask; });
        }
        Sums<R> correction;
        multiply_add<R, Bytes::natural, Bytes::natural>(correction, error, v_low);
        __syncwarp();
        uint8_t* v = right < 8 ? v_low : v_high;
        each_pair<R>([&](int k, int i) {
            const uint32_t both = (correction.value[k] & mask) | (correction.value[k + 1] & mask) << 8;
            put_pair(v + i, right < 8 ? pair_at(v_low + i) | both << right : both);
        });
        __syncwarp();
        extend_little<R>(v);
        __syncwarp();
    }
}

// HRSS, into T+: digits of v, those of even coefficients turned (1 for 2) if sum v[i] v[i + 1] is negative.
template <class R>
__device__ __forceinline__ void correlate(uint8_t* v) {
    int sum = 0;
    each_word<R>([&](int i) {
        const uint32_t here = word_at(v + i);
        sum = __dp4a(static_cast<int>(trits_of(here)), static_cast<int>(trits_of(__byte_perm(here, word_at(v + i + 4), 0x4321))), sum);
    });
    const int all = static_cast<int>(warp_sum(static_cast<uint32_t>(sum)));
    const uint32_t even = static_cast<uint32_t>(all >> 31) & 0x00ff00ff;
    __syncwarp();
    each_word<R>([&](int i) {
        const uint32_t word = word_at(v + i), other = (word & 0x01010101) << 1 | (word >> 1 & 0x01010101);
        put_word(v + i, (word & ~even) | (other & even));
    });
    __syncwarp();
}

// g's digits become the bytes with sign of G = 3 g, in HRSS 3 (x - 1) g.
template <const Params& set>
__device__ __forceinline__ void scale_g(uint8_t* g) {
    using R = Ring<set.n>;
    uint32_t scaled[(set.n - 1 + 127) / 128];
    each_word<R>([&](int i) {
        const uint32_t trits = trits_of(word_at(g + i));
        uint32_t value = trits;
        if constexpr (set.family == Family::hrss) {
            const uint32_t digits = word_at(g + i), previous = i == 0 ? digits << 8 : __byte_perm(word_at(g + i - 4), digits, 0x6543);
            value = __vsub4(trits_of(previous), trits);
        }
        scaled[i / 128] = __vadd4(__vadd4(value, value), value);
    });
    const uint32_t end = set.family == Family::hrss ? 3 * trits_of(g[set.n - 2]) : 0;
    __syncwarp();
    each_word<R>([&](int i) { put_word(g + i, scaled[i / 128]); });
    if (lane_id() == 0) g[set.n - 1] = static_cast<uint8_t>(end);
}

// Digits of f and g; both zero if one is: there is no such key. Whether there is.
template <const Params& set>
__device__ __forceinline__ bool sample_fg(uint8_t* f, uint8_t* g, uint32_t* words, const uint8_t* coins) {
    using R = Ring<set.n>;
    sample_pair<set>(f, g, words, coins);
    if constexpr (set.family == Family::hrss) {
        correlate<R>(f);
        correlate<R>(g);
    }
    uint32_t any_f = 0, any_g = 0;
    each_word<R>([&](int i) { any_f |= word_at(f + i), any_g |= word_at(g + i); });
    const bool usable = (__ballot_sync(0xffffffffu, any_f != 0) != 0) & (__ballot_sync(0xffffffffu, any_g != 0) != 0);
    const uint32_t keep = usable ? 0xffffffffu : 0;
    each_word<R>([&](int i) {
        put_word(f + i, word_at(f + i) & keep);
        put_word(g + i, word_at(g + i) & keep);
    });
    __syncwarp();
    return usable;
}

// v = 1 / (f G) in Sq, as right factors.
template <const Params& set>
__device__ __forceinline__ void invert_product(uint8_t* v_low, uint8_t* v_high, const uint8_t* f, const uint8_t* g, uint8_t* power,
                                               uint8_t* turned, uint8_t* a_low, uint8_t* a_high) {
    using R = Ring<set.n>;
    {
        Sums<R> c;
        multiply_add<R, Bytes::integer, Bytes::integer>(c, f, g);
        put_q<set>(a_low, a_high, c, [](int32_t value) { return static_cast<uint32_t>(value); });
        auto lowest = [](int32_t value) { return static_cast<uint32_t>(value & 1); };
        put_band(power, c, lowest);
        put_band(v_low, c, lowest);
    }
    __syncwarp();
    extend_behind<R>(a_low);
    extend_behind<R>(a_high);
    extend_behind<R>(power);
    extend_behind<R>(v_low);
    __syncwarp();
    power_sum<R, 2>(power, turned, v_low, [](int32_t value) { return static_cast<uint32_t>(value & 1); });
    for (int i = 4 * static_cast<int>(lane_id()) - 8; i < R::n; i += 128) put_word(v_low + i, word_at(turned + i));
    __syncwarp();
    newton<set>(v_low, v_high, a_low, a_high, turned);
}

// Writes the strings of f^2 v and of G^2 v, which are 1 / h (in Sq) and h, with v = 1 / (f G). The rest is scratch.
template <const Params& set>
__device__ __forceinline__ void write_h(uint8_t* inverse, uint8_t* h, const uint8_t* f, const uint8_t* g, const uint8_t* v_low,
                                        const uint8_t* v_high, uint8_t* low, uint8_t* high, uint8_t* coefficients, uint32_t* words) {
    using R = Ring<set.n>;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        const uint8_t* factor = k == 0 ? f : g;
        {
            Sums<R> c;
            multiply_q<R, Bytes::integer>(c, factor, v_low, v_high);
            __syncwarp();
            put_q<set>(low, high, c, [](int32_t value) { return static_cast<uint32_t>(value); });
        }
        __syncwarp();
        extend_little<R>(low);
        extend_little<R>(high);
        __syncwarp();
        Sums<R> c;
        multiply_q<R, Bytes::integer>(c, factor, low, high);
        __syncwarp();
        const int32_t last = k == 0 ? last_of(c) : 0;
        write_q<set>(k == 0 ? inverse : h, c, coefficients, words, [&](int, int32_t value) { return value - last; });
        __syncwarp();
    }
}

template <const Params& set>
__device__ __forceinline__ void keypair_item(const ItemJob& job, uint64_t item, uint8_t* memory) {
    using R = Ring<set.n>;
    const warpseal_kem_batch& batch = job.batch;
    uint8_t *f = band<R>(memory, 0), *g = band<R>(memory, 1), *power = band<R>(memory, 2), *turned = band<R>(memory, 3);
    uint8_t *a_low = band<R>(memory, 4), *a_high = band<R>(memory, 5), *v_low = band<R>(memory, 6), *v_high = band<R>(memory, 7);
    auto* words = reinterpret_cast<uint32_t*>(memory + 4 * R::band_bytes);
    uint8_t* secret_key = batch.secret_keys + item * batch.secret_key_stride;
    {
        const uint8_t* coins = batch.coins + item * batch.coins_stride;
        const bool usable = sample_fg<set>(f, g, words, coins);
        uint8_t* prf_key = secret_key + 2 * set.ternary_bytes() + set.rq_bytes();
        prf_key[lane_id()] = static_cast<uint8_t>(coins[set.sample_coins() + lane_id()] & (usable ? 0xff : 0));
        static_assert(Params::prf_key_bytes == 32);
        if (lane_id() == 0 && batch.statuses != nullptr) batch.statuses[item] = usable ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
    }
    pack_ternary<set>(secret_key, f);
    each_word<R>([&](int i) { put_word(power + i, word_at(f + i)); });
    if (lane_id() == 0) power[set.n - 1] = 0;
    __syncwarp();
    digits_to_trits<R>(f);
    scale_g<set>(g);
    __syncwarp();
    extend<R>(f);
    extend<R>(g);
    extend<R>(power);
    __syncwarp();
    write_inverse_s3<set>(secret_key + set.ternary_bytes(), f, power, turned);
    __syncwarp();
    invert_product<set>(v_low, v_high, f, g, power, turned, a_low, a_high);

    uint8_t* public_key = batch.public_keys + item * batch.public_key_stride;
    write_h<set>(secret_key + 2 * set.ternary_bytes(), public_key, f, g, v_low, v_high, power, turned, memory + 2 * R::band_bytes, words);
}

template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_blocks<n>) keypair(const ItemJob job) {
    constexpr int bytes = KeyGeneration<set_of(n)>::shared_bytes;
    uint8_t* memory = own_shared<bytes>();
    const uint64_t item = own_item();
    if (item >= job.batch.count) return;
    keypair_item<set_of(n)>(job, item, memory);
    wipe_shared<bytes>(memory);
}

}  // namespace warpseal::cuda::ntru
