// Hashes of ML-KEM that give each item its seeds and secrets, with one item in each lane (FIPS 203,
// algorithms 13 and 16 to 18).
#pragma once

#include "backends/cuda/kem/keccak.cuh"
#include "backends/cuda/kem/mlkem/job.cuh"

namespace warpseal::cuda::mlkem {

using sponge::State, sponge::Strings;

// The warp's items.
struct LaneItems {
    uint64_t first, mine;
    uint32_t count;  // 0 if the warp has none

    __device__ __forceinline__ explicit LaneItems(uint64_t all) {
        first = 32 * warp_item();
        mine = first + lane_id();
        const uint64_t left = first < all ? all - first : 0;
        count = left < 32 ? static_cast<uint32_t>(left) : 32;
    }
    __device__ __forceinline__ bool idle() const { return lane_id() >= count; }
    __device__ __forceinline__ Strings strings(const uint8_t* at, uint64_t stride) const {
        return {at + first * stride, stride, count};
    }
};

// Stores words [first, first + 4) of a state as the item's 32 bytes of an array in scratch.
template <int first>
__device__ __forceinline__ void put_words(uint8_t* array, uint64_t item, const State& state) {
    auto* to = reinterpret_cast<uint4*>(array + 32 * item);
#pragma unroll
    for (int i = 0; i < 2; ++i)
        to[i] = sponge::pair_of_words(state[first + 2 * i], state[first + 2 * i + 1]);
}

// H of strings of `words` words: SHA3-256, in the first four words of the state.
template <int words>
__device__ __forceinline__ void hash_keys(State& state, uint32_t* staging, const Strings& keys) {
    sponge::absorb_message<0, words>(state, staging, keys, kem::keccak::sha3_suffix);
}
template <int k>
inline constexpr int public_key_words = Set<k>::public_key / 8;

// G of strings of four words and `last`: SHA3-512, in the first eight words of the state.
__device__ __forceinline__ void derive(State& state, uint32_t* staging, const Strings& strings,
                                       int words, uint64_t suffix) {
    sponge::absorb_words<0, 4>(state, staging, strings);
    sponge::pad<sponge::rate_of_sha3_512>(state, words, suffix);
    sponge::permute(state);
}
// G of message and hash: the shared secret, and the seed of the noise.
__device__ __forceinline__ void derive_secrets(const Job& job, const LaneItems& items,
                                               uint32_t* staging, const Strings& messages,
                                               const State& hash) {
    State state = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) state[4 + i] = hash[i];
    derive(state, staging, messages, 8, kem::keccak::sha3_suffix);
    if (items.idle()) return;
    put_words<0>(job.key, items.mine, state);
    put_words<4>(job.seed, items.mine, state);
}

// G of d and k: the seeds of the matrix and of the noise.
template <int k>
__global__ void __launch_bounds__(tuning::kem_hash_threads) keypair_seeds(const Job job) {
    uint8_t* memory = warp_shared<sponge::staging_bytes>();
    const LaneItems items(job.batch.count);
    if (items.count == 0) return;
    State state = {};
    derive(state, reinterpret_cast<uint32_t*>(memory),
           items.strings(job.batch.coins, job.batch.coins_stride), 4,
           k | uint64_t{kem::keccak::sha3_suffix} << 8);
    wipe_shared<sponge::staging_bytes>(memory);
    if (items.idle()) return;
    put_words<0>(job.rho, items.mine, state);
    put_words<4>(job.seed, items.mine, state);
}

// Writes H(ek) to the secret keys, whose other parts are complete.
template <int k>
__global__ void __launch_bounds__(tuning::kem_hash_threads) keypair_hash(const Job job) {
    uint8_t* memory = warp_shared<sponge::staging_bytes>();
    auto* staging = reinterpret_cast<uint32_t*>(memory);
    const warpseal_kem_batch& batch = job.batch;
    const LaneItems items(batch.count);
    if (items.count == 0) return;
    State state = {};
    hash_keys<public_key_words<k>>(state, staging,
                                   items.strings(batch.public_keys, batch.public_key_stride));
    // The warp writes one hash after the other, a byte in each lane.
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i)
        staging[9 * lane_id() + i] = static_cast<uint32_t>(state[i / 2] >> (32 * (i % 2)));
    __syncwarp();
    uint8_t* to = batch.secret_keys + items.first * batch.secret_key_stride + Set<k>::vector +
                  Set<k>::public_key;
    for (uint32_t i = 0; i < items.count; ++i, to += batch.secret_key_stride)
        to[lane_id()] = memory[36 * i + lane_id()];
    wipe_shared<sponge::staging_bytes>(memory);
}

template <int k>
__global__ void __launch_bounds__(tuning::kem_hash_threads) encapsulation_seeds(const Job job) {
    uint8_t* memory = warp_shared<sponge::staging_bytes>();
    auto* staging = reinterpret_cast<uint32_t*>(memory);
    const warpseal_kem_batch& batch = job.batch;
    const LaneItems items(batch.count);
    if (items.count == 0) return;
    State state = {};
    hash_keys<public_key_words<k>>(state, staging,
                                   items.strings(batch.public_keys, batch.public_key_stride));
    derive_secrets(job, items, staging, items.strings(batch.coins, batch.coins_stride), state);
    wipe_shared<sponge::staging_bytes>(memory);
}

// Compares H(ek) with the hash in the secret key. Hashes z and the ciphertext, for the secret of a
// rejected one.
template <int k>
__global__ void __launch_bounds__(tuning::kem_hash_threads) decapsulation_seeds(const Job job) {
    constexpr int ciphertext_words = Set<k>::ciphertext / 8;
    uint8_t* memory = warp_shared<sponge::staging_bytes>();
    auto* staging = reinterpret_cast<uint32_t*>(memory);
    const warpseal_kem_batch& batch = job.batch;
    const LaneItems items(batch.count);
    if (items.count == 0) return;
    const uint8_t *key = batch.secret_keys + Set<k>::vector, *hash = key + Set<k>::public_key;
    {
        State state = {};
        hash_keys<public_key_words<k>>(state, staging, items.strings(key, batch.secret_key_stride));
        State given = {};
        sponge::absorb_words<0, 4>(given, staging, items.strings(hash, batch.secret_key_stride));
        uint64_t differences = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) differences |= state[i] ^ given[i];
        if (!items.idle())
            job.refused[items.mine] =
                static_cast<uint32_t>((differences | (0 - differences)) >> 63);
        derive_secrets(job, items, staging, items.strings(job.message, 32), given);
    }
    State state = {};
    sponge::absorb_words<0, 4>(state, staging, items.strings(hash + 32, batch.secret_key_stride));
    sponge::absorb_message<4, ciphertext_words>(
        state, staging, items.strings(batch.ciphertexts, batch.ciphertext_stride),
        kem::keccak::shake_suffix);
    if (!items.idle()) put_words<0>(job.rejected, items.mine, state);
    wipe_shared<sponge::staging_bytes>(memory);
}

}  // namespace warpseal::cuda::mlkem
