// NTRU key generation (specification, section 1.12.1) in three kernels. The first samples and the
// last writes one pair with each warp. The second inverts each group with one warp for Sq and one
// for S3.
#pragma once

#include "backends/cuda/kem/ntru/invert.cuh"
#include "backends/cuda/kem/ntru/sample.cuh"

namespace warpseal::cuda::ntru {

// Shared memory of a warp.
template <const Params& set>
struct KeyGeneration {
    using R = Ring<set.n>;
    static constexpr int draw_bytes = 4 * R::band_bytes, invert_bytes = 6 * R::band_bytes,
                         write_bytes = 8 * R::band_bytes;
    // The words of strings share memory with two bands.
    static_assert(4 * coin_words<set> <= 2 * R::band_bytes &&
                  4 * packed_words(set.rq_bytes()) <= 2 * R::band_bytes);
};

// Maps v to T+ for HRSS. If the sum of v[i] v[i + 1] is negative, negates the even coefficients
// (swaps digits 1 and 2).
template <class R>
__device__ __forceinline__ void correlate(uint8_t* v) {
    int sum = 0;
    each_word<R>([&](int i) {
        const uint32_t here = word_at(v + i);
        sum =
            __dp4a(static_cast<int>(trits_of(here)),
                   static_cast<int>(trits_of(__byte_perm(here, word_at(v + i + 4), 0x4321))), sum);
    });
    const int all = static_cast<int>(warp_sum(static_cast<uint32_t>(sum)));
    const uint32_t even = static_cast<uint32_t>(all >> 31) & 0x00ff00ff;
    __syncwarp();
    each_word<R>([&](int i) {
        const uint32_t word = word_at(v + i),
                       other = (word & 0x01010101) << 1 | (word >> 1 & 0x01010101);
        put_word(v + i, (word & ~even) | (other & even));
    });
    __syncwarp();
}

// Replaces the digits of g by the signed bytes of G = 3 g, in HRSS 3 (x - 1) g.
template <const Params& set>
__device__ __forceinline__ void scale_g(uint8_t* g) {
    using R = Ring<set.n>;
    uint32_t scaled[(set.n - 1 + 127) / 128];
    each_word<R>([&](int i) {
        const uint32_t trits = trits_of(word_at(g + i));
        uint32_t value = trits;
        if constexpr (set.family == Family::hrss) {
            const uint32_t digits = word_at(g + i),
                           previous = i == 0 ? digits << 8
                                             : __byte_perm(word_at(g + i - 4), digits, 0x6543);
            value = __vsub4(trits_of(previous), trits);
        }
        scaled[i / 128] = __vadd4(__vadd4(value, value), value);
    });
    const uint32_t end = set.family == Family::hrss ? 3 * trits_of(g[set.n - 2]) : 0;
    __syncwarp();
    each_word<R>([&](int i) { put_word(g + i, scaled[i / 128]); });
    if (lane_id() == 0) g[set.n - 1] = static_cast<uint8_t>(end);
}

// Samples the digits of f and g. If one is zero there is no such key: sets both to zero and returns
// false.
template <const Params& set>
__device__ __forceinline__ bool sample_fg(uint8_t* f, uint8_t* g, uint32_t* words,
                                          const uint8_t* coins) {
    using R = Ring<set.n>;
    sample_pair<set>(f, g, words, coins);
    if constexpr (set.family == Family::hrss) {
        correlate<R>(f);
        correlate<R>(g);
    }
    uint32_t any_f = 0, any_g = 0;
    each_word<R>([&](int i) { any_f |= word_at(f + i), any_g |= word_at(g + i); });
    const bool usable = (__ballot_sync(0xffffffffu, any_f != 0) != 0) &
                        (__ballot_sync(0xffffffffu, any_g != 0) != 0);
    const uint32_t kept_mask = usable ? 0xffffffffu : 0;
    each_word<R>([&](int i) {
        put_word(f + i, word_at(f + i) & kept_mask);
        put_word(g + i, word_at(g + i) & kept_mask);
    });
    __syncwarp();
    return usable;
}

// Samples f and g, writes the string of f, and computes a = f G.
template <const Params& set>
__device__ __forceinline__ void draw_pair(const PairJob& job, uint64_t item, uint8_t* memory) {
    using R = Ring<set.n>;
    const warpseal_kem_batch& batch = job.batch;
    uint8_t *f = band<R>(memory, 0), *g = band<R>(memory, 1), *low = band<R>(memory, 2),
            *high = band<R>(memory, 3);
    auto* words = reinterpret_cast<uint32_t*>(memory + 2 * R::band_bytes);
    uint8_t* secret_key = batch.secret_keys + item * batch.secret_key_stride;
    const uint8_t* coins = batch.coins + item * batch.coins_stride;
    const bool usable = sample_fg<set>(f, g, words, coins);
    uint8_t* prf_key = secret_key + 2 * set.ternary_bytes() + set.rq_bytes();
    prf_key[lane_id()] =
        static_cast<uint8_t>(coins[set.sample_coins() + lane_id()] & (usable ? 0xff : 0));
    static_assert(Params::prf_key_bytes == 32);
    if (lane_id() == 0) {
        if (batch.statuses != nullptr)
            batch.statuses[item] = usable ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
        job.usable[item] = usable ? 0xffffffffu : 0;
    }
    pack_ternary<set>(secret_key, f);
    store_band<R>(f, job, item, pair_f);
    __syncwarp();
    digits_to_trits<R>(f);
    scale_g<set>(g);
    __syncwarp();
    store_band<R>(g, job, item, pair_g);
    extend<R>(f);
    extend_factor<R>(g);
    Sums<R> c;
    multiply_add<R, Bytes::integer, Bytes::integer>(c, f, g);
    __syncwarp();
    put_q<set>(low, high, c, [](int32_t value) { return static_cast<uint32_t>(value); });
    __syncwarp();
    // 1 for an unusable pair, so that a group's product is not zero.
    if (lane_id() == 0) low[0] |= usable ? 0 : 1;
    __syncwarp();
    store_band<R>(low, job, item, pair_a_low);
    store_band<R>(high, job, item, pair_a_high);
}

// Writes the strings of f^2 v and G^2 v, which are 1 / h (in Sq) and h, for v = 1 / (f G). The
// other arguments are scratch.
template <const Params& set>
__device__ __forceinline__ void write_h(uint8_t* inverse, uint8_t* h, const uint8_t* f,
                                        const uint8_t* g, const uint8_t* v_low,
                                        const uint8_t* v_high, uint8_t* low, uint8_t* high,
                                        uint8_t* coefficients, uint32_t* words) {
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
        extend_factor<R>(low);
        extend_factor<R>(high);
        __syncwarp();
        Sums<R> c;
        multiply_q<R, Bytes::integer>(c, factor, low, high);
        __syncwarp();
        const int32_t last = k == 0 ? last_of(c) : 0;
        write_q<set>(k == 0 ? inverse : h, c, coefficients, words,
                     [&](int, int32_t value) { return value - last; });
        __syncwarp();
    }
}

template <const Params& set>
__device__ __forceinline__ void write_pair(const PairJob& job, uint64_t item, uint8_t* memory) {
    using R = Ring<set.n>;
    const warpseal_kem_batch& batch = job.batch;
    uint8_t *f = band<R>(memory, 0), *g = band<R>(memory, 1), *low = band<R>(memory, 2),
            *high = band<R>(memory, 3);
    auto* words = reinterpret_cast<uint32_t*>(memory + 4 * R::band_bytes);
    uint8_t *v_low = band<R>(memory, 6), *v_high = band<R>(memory, 7);
    load_band<R>(f, job, item, pair_f);
    load_band<R>(g, job, item, pair_g);
    load_band<R>(v_low, job, item, pair_product_low);
    load_band<R>(v_high, job, item, pair_product_high);
    __syncwarp();
    digits_to_trits<R>(f);
    __syncwarp();
    extend<R>(f);
    extend<R>(g);
    extend_factor<R>(v_low);
    extend_factor<R>(v_high);
    __syncwarp();
    uint8_t *public_key = batch.public_keys + item * batch.public_key_stride,
            *inverse = batch.secret_keys + item * batch.secret_key_stride + 2 * set.ternary_bytes();
    write_h<set>(inverse, public_key, f, g, v_low, v_high, low, high, memory + 2 * R::band_bytes,
                 words);
}

template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_encapsulate_blocks<n>)
    keypair_draw(const PairJob job) {
    constexpr int bytes = KeyGeneration<set_of(n)>::draw_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const uint64_t item = warp_item();
    if (item >= job.batch.count) return;
    draw_pair<set_of(n)>(job, item, memory);
    wipe_shared<bytes>(memory);
}

// The grid has two rows; the slower inversion, in Sq, comes first.
template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_blocks<n>)
    keypair_invert(const PairJob job) {
    constexpr int bytes = KeyGeneration<set_of(n)>::invert_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const uint64_t begin = warp_item() * job.group;
    if (begin >= job.batch.count) return;
    const uint64_t end = min(begin + job.group, job.batch.count);
    if (blockIdx.y == 0) {
        invert_group_sq<set_of(n)>(job, begin, end, memory);
    } else {
        invert_group_s3<set_of(n)>(job, begin, end, memory);
    }
    wipe_shared<bytes>(memory);
}

template <int n>
__global__ void __launch_bounds__(tuning::kem_threads<n>, tuning::kem_blocks<n>)
    keypair_write(const PairJob job) {
    constexpr int bytes = KeyGeneration<set_of(n)>::write_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const uint64_t item = warp_item();
    if (item >= job.batch.count) return;
    write_pair<set_of(n)>(job, item, memory);
    wipe_shared<bytes>(memory);
}

}  // namespace warpseal::cuda::ntru
