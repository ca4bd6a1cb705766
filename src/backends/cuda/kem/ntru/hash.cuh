// NTRU shared secrets: SHA3-256 of the messages that the other kernels wrote, with one state in
// each lane.
#pragma once

#include "backends/cuda/kem/ntru/item.cuh"

namespace warpseal::cuda::ntru {

namespace keccak = kem::keccak;

// Item i's message is at i * bytes, padded to whole blocks. `valid` is all ones if the item is
// valid. Otherwise its secret is the hash of the other message, or zero if there is none.
struct HashJob {
    uint64_t count;
    const uint8_t* message;
    const uint8_t* other;
    const uint32_t* valid;
    uint8_t* secret;
    uint64_t secret_stride;
};

struct Digest {
    uint64_t word[4];
};

__constant__ const keccak::Constants round_constants = keccak::round_constants();

// Hashes the messages of `count` items, at most 32; each lane returns its own item's digest. The
// warp reads the messages together and transposes them through `transposed`, where lanes are an odd
// number of words apart.
template <int blocks>
__device__ __forceinline__ Digest sha3_256(const uint8_t* messages, uint32_t count,
                                           uint64_t* transposed) {
    constexpr uint32_t words = keccak::rate / 8;
    uint64_t state[25] = {};
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k < words; ++k) {
            const uint32_t i = 32 * k + lane_id(), item = i / words;
            if (item < count)
                transposed[i] = *reinterpret_cast<const uint64_t*>(
                    messages + (uint64_t{item} * blocks + block) * keccak::rate + i % words * 8);
        }
        __syncwarp();
#pragma unroll
        for (uint32_t k = 0; k < words; ++k) state[k] ^= transposed[lane_id() * words + k];
        kem::keccak_f(state, round_constants.of);
    }
    return {{state[0], state[1], state[2], state[3]}};
}

inline constexpr int hash_shared_bytes = 32 * keccak::rate;

// other_blocks is 0 if there is no other message.
template <int blocks, int other_blocks>
__global__ void __launch_bounds__(tuning::kem_hash_threads) hash(const HashJob job) {
    uint8_t* memory = warp_shared<hash_shared_bytes>();
    auto* mine = reinterpret_cast<uint64_t*>(memory);
    const uint64_t first = 32 * warp_item();
    if (first >= job.count) return;
    const uint32_t count = job.count - first < 32 ? static_cast<uint32_t>(job.count - first) : 32;
    Digest digest = sha3_256<blocks>(job.message + first * blocks * keccak::rate, count, mine);
    const uint64_t item = first + lane_id();
    const uint64_t valid = lane_id() < count ? uint64_t{0} - (job.valid[item] & 1) : 0;
    for (uint64_t& word : digest.word) word &= valid;
    if constexpr (other_blocks > 0) {
        const Digest other =
            sha3_256<other_blocks>(job.other + first * other_blocks * keccak::rate, count, mine);
#pragma unroll
        for (int i = 0; i < 4; ++i) digest.word[i] |= other.word[i] & ~valid;
    }
    wipe_shared<hash_shared_bytes>(memory);
    if (lane_id() >= count) return;
    uint8_t* out = job.secret + item * job.secret_stride;
#pragma unroll
    for (int i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(digest.word[i / 8] >> (8 * (i % 8)));
}

}  // namespace warpseal::cuda::ntru
