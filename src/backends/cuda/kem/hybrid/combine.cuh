// Kernels of combine.h, with an item in each lane.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/hybrid/combine.h"
#include "backends/cuda/kem/keccak.cuh"
#include "backends/cuda/kem/lanes.cuh"
#include "warpseal/kem.h"

namespace warpseal::cuda::hybrid {

using kem::Combiner;

// Strings in words of 64 bits, little-endian, at any alignment.
template <int words>
__device__ __forceinline__ void load_words(uint64_t* out, const uint8_t* bytes) {
#pragma unroll
    for (int i = 0; i < words; ++i) out[i] = sponge::load_word(bytes + 8 * i);
}
template <int words>
__device__ __forceinline__ void store_words(uint8_t* bytes, const uint64_t* from) {
#pragma unroll
    for (int i = 0; i < 8 * words; ++i) bytes[i] = static_cast<uint8_t>(from[i / 8] >> 8 * (i % 8));
}
__device__ __forceinline__ void zeroize(uint8_t* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes[i] = 0;
}

// SHAKE256 of the seed. Internal linkage, because tests compile it for the host too.
static __global__ void __launch_bounds__(tuning::kem_hash_threads)
    expand_seeds(const ExpandJob job) {
    const uint64_t item = lane_item();
    if (item >= job.count) return;
    uint64_t state[25] = {};
    load_words<4>(state, string_of(job.seeds, item));
    if (job.copies.at != nullptr) store_words<4>(string_of(job.copies, item), state);
    sponge::pad<sponge::rate_of_shake256>(state, 4, kem::keccak::shake_suffix);
    sponge::permute(state);
    store_words<kem::HybridParams::expanded_bytes / 8>(string_of(job.expanded, item), state);
}

// Returns SHA3-256 of ML-KEM's secret, X25519's, its ciphertext and public key, and the label
// \.//^\ (draft-connolly-cfrg-xwing-kem): 134 bytes, one block.
__device__ __forceinline__ void combine_xwing(uint64_t (&secret)[4], const CombineJob& job,
                                              uint64_t item) {
    constexpr uint64_t label = 0x5c5e2f2f2e5c;
    uint64_t state[25] = {};
    load_words<4>(state, string_of(job.mlkem_secrets, item));
#pragma unroll
    for (int i = 0; i < 4; ++i) state[4 + i] = secret[i];
    load_words<4>(state + 8, string_of(job.x25519_ciphertexts, item));
    load_words<4>(state + 12, string_of(job.x25519_public_keys, item));
    sponge::pad<sponge::rate_of_sha3_256>(state, 16,
                                          label | uint64_t{kem::keccak::sha3_suffix} << 48);
    sponge::permute(state);
#pragma unroll
    for (int i = 0; i < 4; ++i) secret[i] = state[i];
}

// Writes the secret and the status of each item. X25519's secret is zero for a point of low order,
// whatever the scalar is. So a refusal tells nothing of secrets, and the lane may branch on it.
template <Combiner combiner>
__global__ void __launch_bounds__(tuning::kem_hash_threads) combine_secrets(const CombineJob job) {
    constexpr size_t mlkem_secret_bytes = combiner == Combiner::concatenation ? 32 : 0;
    constexpr size_t ciphertext_bytes =
        (combiner == Combiner::none ? kem::x25519_set : kem::x25519mlkem768).ciphertext_bytes();
    const uint64_t item = lane_item();
    if (item >= job.count) return;
    uint64_t secret[4];
    load_words<4>(secret, string_of(job.x25519_secrets, item));
    const uint64_t any = secret[0] | secret[1] | secret[2] | secret[3];
    bool refused = any == 0;
    if constexpr (combiner != Combiner::none) refused = refused || job.mlkem_statuses[item] != 0;
    if constexpr (combiner == Combiner::xwing) combine_xwing(secret, job, item);
    if (refused) {
#pragma unroll
        for (uint64_t& word : secret) word = 0;
    }
    uint8_t* const out = string_of(job.secrets, item);
    store_words<4>(out + mlkem_secret_bytes, secret);
    if (job.statuses != nullptr)
        job.statuses[item] = refused ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK;
    if (!refused) return;
    if constexpr (mlkem_secret_bytes > 0) zeroize(out, mlkem_secret_bytes);
    if (job.ciphertexts.at != nullptr) zeroize(string_of(job.ciphertexts, item), ciphertext_bytes);
}

}  // namespace warpseal::cuda::hybrid
