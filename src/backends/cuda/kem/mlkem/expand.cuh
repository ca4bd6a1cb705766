// ML-KEM's matrix and noise from their seeds, with one hash state in each lane (FIPS 203,
// algorithms 7 and 8).
#pragma once

#include "backends/cuda/kem/keccak.cuh"
#include "backends/cuda/kem/mlkem/codec.cuh"
#include "backends/cuda/kem/mlkem/job.cuh"

namespace warpseal::cuda::mlkem {

using sponge::State;

// --- matrix

// Shared memory of a lane's polynomial: an odd number of words apart, so that lanes seldom meet in
// a bank.
inline constexpr int poly_words = n / 2, lane_words = poly_words + 1,
                     matrix_shared_bytes = round16(32 * 4 * lane_words);

// Appends the candidates of a block that are below q to the polynomial, until there are 256, and
// returns how many there are. They are public.
__device__ __forceinline__ uint32_t append_below_q(uint16_t* to, uint32_t have,
                                                   const State& state) {
#pragma unroll
    for (int i = 0; i < 64 * sponge::rate_of_shake128 / 12; ++i) {
        const int word = 12 * i / 64, shift = 12 * i % 64;
        uint64_t bits = state[word] >> shift;
        if (shift > 52) bits |= state[word + 1] << (64 - shift);
        const uint32_t candidate = static_cast<uint32_t>(bits) & 0xfff;
        const bool kept = candidate < q && have < n;
        if (kept) to[have] = static_cast<uint16_t>(candidate);
        have += kept ? 1 : 0;
    }
    return have;
}

// SampleNTT for each polynomial of the items' matrices, transposed if an encryption follows.
template <int k, bool transposed>
__global__ void __launch_bounds__(tuning::mlkem_matrix_threads) expand_matrix(const Job job) {
    auto* words = reinterpret_cast<uint32_t*>(warp_shared<matrix_shared_bytes>());
    const uint64_t polys = job.batch.count * (k * k), first = 32 * warp_item();
    if (first >= polys) return;
    const auto count = static_cast<uint32_t>(polys - first < 32 ? polys - first : 32);
    // Idle lanes repeat the last polynomial.
    const uint64_t poly = first + (lane_id() < count ? lane_id() : count - 1);
    const uint8_t* rho = job.matrix_seed + poly / (k * k) * job.matrix_seed_stride;
    const auto at = static_cast<uint32_t>(poly % (k * k)), row = at / k, column = at % k;
    State state = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) state[i] = sponge::load_word(rho + 8 * i);
    state[4] = transposed ? row | column << 8 : column | row << 8;
    sponge::pad<sponge::rate_of_shake128>(state, 4, uint64_t{kem::keccak::shake_suffix} << 16);
    auto* mine = reinterpret_cast<uint16_t*>(words + lane_id() * lane_words);
    uint32_t have = 0;
#pragma unroll 1
    do {
        sponge::permute(state);
        have = append_below_q(mine, have, state);
    } while (__ballot_sync(0xffffffffu, have < n) != 0);
    __syncwarp();
    auto* to = reinterpret_cast<uint32_t*>(job.matrix) + first * poly_words;
#pragma unroll 4
    for (uint32_t i = 0; i < count; ++i)
#pragma unroll
        for (uint32_t word = lane_id(); word < poly_words; word += 32)
            to[i * poly_words + word] = words[i * lane_words + word];
    wipe_shared<matrix_shared_bytes>(reinterpret_cast<uint8_t*>(words));
}

// --- noise

// Thirty-two coefficients of width 3 from three words.
__device__ __forceinline__ uint4 noise_of_words(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t words[3] = {a, b, c};
    uint32_t out[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int word = 24 * i / 64, shift = 24 * i % 64;
        uint64_t bits = words[word] >> shift;
        if (shift > 40) bits |= words[word + 1] << (64 - shift);
        out[i / 2] |= noise_of_width_3(static_cast<uint32_t>(bits) & 0xffffff) << (16 * (i % 2));
    }
    return {out[0], out[1], out[2], out[3]};
}

// Writes the noise of a state that has absorbed the seed; permutes it if a block is not enough.
template <int eta>
__device__ __forceinline__ void write_noise(uint4* to, State& state) {
    if constexpr (eta == 2) {
#pragma unroll
        for (int i = 0; i < 8; ++i)
            to[i] = sponge::pair_of_words(noise_of_width_2(state[2 * i]),
                                          noise_of_width_2(state[2 * i + 1]));
    } else {
        static_assert(eta == 3);
#pragma unroll
        for (int i = 0; i < 5; ++i)
            to[i] = noise_of_words(state[3 * i], state[3 * i + 1], state[3 * i + 2]);
        const uint64_t last = state[15], end = state[16];
        sponge::permute(state);
        to[5] = noise_of_words(last, end, state[0]);
        to[6] = noise_of_words(state[1], state[2], state[3]);
        to[7] = noise_of_words(state[4], state[5], state[6]);
    }
}

// The noise of each item. Polynomials of width eta1 come first, so that most warps have one width.
template <int k, bool keypair>
__global__ void __launch_bounds__(tuning::kem_hash_threads) draw_noise(const Job job) {
    constexpr uint32_t each = noise_polys<k, keypair>,
                       wide = keypair || Set<k>::eta1 == Set<k>::eta2 ? each : k;
    const uint64_t poly = 32 * warp_item() + lane_id(), wide_polys = job.batch.count * wide;
    if (poly >= job.batch.count * each) return;
    const bool is_wide = poly < wide_polys;
    uint64_t item = poly / wide;
    uint32_t number = static_cast<uint32_t>(poly % wide);
    if constexpr (wide < each) {
        constexpr uint32_t narrow = each - wide;
        if (!is_wide) {
            item = (poly - wide_polys) / narrow;
            number = wide + static_cast<uint32_t>((poly - wide_polys) % narrow);
        }
    }
    const auto* seed = reinterpret_cast<const uint64_t*>(job.seed + 32 * item);
    State state = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) state[i] = seed[i];
    state[4] = number;
    sponge::pad<sponge::rate_of_shake256>(state, 4, uint64_t{kem::keccak::shake_suffix} << 8);
    sponge::permute(state);
    auto* to = reinterpret_cast<uint4*>(job.noise) + (item * each + number) * (noise_bytes / 16);
    if (is_wide)
        write_noise<Set<k>::eta1>(to, state);
    else
        write_noise<Set<k>::eta2>(to, state);
}

}  // namespace warpseal::cuda::mlkem
