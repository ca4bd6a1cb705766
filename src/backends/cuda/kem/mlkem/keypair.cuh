// ML-KEM key generation after its first hash and without its last, with half a warp for each key
// pair (FIPS 203, algorithm 13).
#pragma once

#include "backends/cuda/kem/mlkem/vector.cuh"

namespace warpseal::cuda::mlkem {

// Shared memory of a half warp: a matrix, the vector s, and a string to store.
template <int k>
struct KeyGeneration {
    static constexpr int factors = matrix_bytes, string = factors + k * factor_bytes,
                         half_bytes =
                             skewed(string + round16(4 * packed_words(Set<k>::public_key))),
                         shared_bytes = 2 * half_bytes;
    static constexpr int polys = noise_polys<k, true>;
};

// Sums of products are divided by -2^32, by which s is therefore multiplied.
inline constexpr int s_scale = minus_2_to_32;
inline constexpr uint32_t undo_s_scale = factor(kem::mlkem::power(s_scale, q - 2)),
                          by_one = factor(1);  // reduces
static_assert(3 * (s_scale < 0 ? -s_scale : s_scale) <= most_input);

// Writes s to the string and as factors.
template <int k>
__device__ __forceinline__ void make_s(const uint32_t* noise, const LaneFactors& forward,
                                       uint8_t* memory) {
    using Shared = KeyGeneration<k>;
    auto* matrix = reinterpret_cast<int16_t*>(memory);
    auto* factors = reinterpret_cast<int16_t*>(memory + Shared::factors);
#pragma unroll 1
    for (int j = 0; j < k; ++j) {
        Coefficients c;
        load_noise<Set<k>::eta1>(c, noise + j * (noise_bytes / 4), s_scale);
        ntt(c, matrix, forward);
        put_factor(factors + factor_numbers * j, c, forward);
#pragma unroll
        for (int32_t& coefficient : c) coefficient = canonical(multiply(coefficient, undo_s_scale));
        encode_row<12>(reinterpret_cast<uint32_t*>(memory + Shared::string), 384 * j, c);
    }
}

// Writes t = A s + e to the string.
template <int k>
__device__ __forceinline__ void make_t(const uint32_t* noise, const int16_t* a,
                                       const LaneFactors& forward, uint8_t* memory) {
    using Shared = KeyGeneration<k>;
    auto* matrix = reinterpret_cast<int16_t*>(memory);
    const auto* factors = reinterpret_cast<const int16_t*>(memory + Shared::factors);
#pragma unroll 1
    for (int i = 0; i < k; ++i) {
        Coefficients sum = {}, e;
        multiply_add_matrix<k>(sum, a + n * k * i, factors);
        reduce_all(sum);
        load_noise<Set<k>::eta1>(e, noise + (k + i) * (noise_bytes / 4), 1);
        ntt(e, matrix, forward);
#pragma unroll
        for (int j = 0; j < 16; ++j) e[j] = canonical(multiply(e[j] + sum[j], by_one));
        encode_row<12>(reinterpret_cast<uint32_t*>(memory + Shared::string), 384 * i, e);
    }
}

// The warp stores the strings of one pair after the other. Hashes of the keys follow later.
template <int k>
__device__ __forceinline__ void make_pairs(const Job& job, const HalfItems& items,
                                           uint8_t* memory) {
    using Shared = KeyGeneration<k>;
    const warpseal_kem_batch& batch = job.batch;
    const uint64_t item = items.mine();
    uint8_t* mine = memory + items.half * Shared::half_bytes;
    const uint32_t* noise = job.noise + item * Shared::polys * (noise_bytes / 4);
    const LaneFactors forward(forward_factors);
    make_s<k>(noise, forward, mine);
    store_both(memory + Shared::string, Shared::half_bytes, items,
               [&](uint32_t i, const uint32_t* words) {
                   store_string<Set<k>::vector>(
                       batch.secret_keys + items.of(i) * batch.secret_key_stride, words);
               });
    make_t<k>(noise, job.matrix + item * (n * k * k), forward, mine);
    if (half_lane() < 8)
        put_word(mine + Shared::string + 4 + Set<k>::vector + 4 * half_lane(),
                 word_at(job.rho + 32 * item + 4 * half_lane()));
    store_both(memory + Shared::string, Shared::half_bytes, items,
               [&](uint32_t i, const uint32_t* words) {
                   const uint64_t at = items.of(i);
                   uint8_t* secret_key = batch.secret_keys + at * batch.secret_key_stride;
                   store_string<Set<k>::public_key>(
                       batch.public_keys + at * batch.public_key_stride, words);
                   store_string<Set<k>::public_key>(secret_key + Set<k>::vector, words);
                   secret_key[Set<k>::vector + Set<k>::public_key + 32 + lane_id()] =
                       batch.coins[at * batch.coins_stride + 32 + lane_id()];
                   if (batch.statuses != nullptr && lane_id() == 0)
                       batch.statuses[at] = WARPSEAL_OK;
               });
}

template <int k>
__global__ void __launch_bounds__(tuning::mlkem_threads, tuning::mlkem_blocks)
    keypair(const Job job) {
    constexpr int bytes = KeyGeneration<k>::shared_bytes;
    uint8_t* memory = warp_shared<bytes>();
    const HalfItems items(job.batch.count);
    if (items.none()) return;
    make_pairs<k>(job, items, memory);
    wipe_shared<bytes>(memory);
}

}  // namespace warpseal::cuda::mlkem
