// Keccak-f[1600] with one state in each lane, and messages of many items that a warp absorbs
// together (FIPS 202).
#pragma once

#include "backends/cuda/kem/warp.cuh"
#include "kem/keccak.h"

namespace warpseal::cuda {

namespace sponge {

// Lanes of 64 bits before the capacity.
inline constexpr int rate_of_sha3_512 = 9, rate_of_sha3_256 = 17, rate_of_shake256 = 17,
                     rate_of_shake128 = 21;
__constant__ const kem::keccak::Constants round_constants = kem::keccak::round_constants();

using State = uint64_t[25];

// The XOR of three words, in one instruction for each half.
__device__ __forceinline__ uint64_t xor3(uint64_t a, uint64_t b, uint64_t c) {
#if defined(__CUDA_ARCH__)
    const auto half = [](uint64_t x, uint64_t y, uint64_t z) {
        uint32_t out;
        asm("lop3.b32 %0, %1, %2, %3, 0x96;"
            : "=r"(out)
            : "r"(static_cast<uint32_t>(x)), "r"(static_cast<uint32_t>(y)),
              "r"(static_cast<uint32_t>(z)));
        return out;
    };
    return uint64_t{half(a >> 32, b >> 32, c >> 32)} << 32 | half(a, b, c);
#else
    return a ^ b ^ c;
#endif
}

// Theta adds two parities to a lane in one instruction. A round is then 121 LOP3 and 58 SHF, which
// share a pipe.
__device__ __forceinline__ void permute(State& a) {
#pragma unroll 1
    for (int round = 0; round < kem::keccak::rounds; ++round) {
        uint64_t c[5], turned[5], b[25];
#pragma unroll
        for (int x = 0; x < 5; ++x)
            c[x] = xor3(xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
#pragma unroll
        for (int x = 0; x < 5; ++x) turned[x] = kem::keccak::rotate(c[x], 1);
#pragma unroll
        for (int i = 0; i < 25; ++i) a[i] = xor3(a[i], c[(i % 5 + 4) % 5], turned[(i % 5 + 1) % 5]);
        b[0] = a[0];
        kem::keccak::walk<0, 1, 0>(b, a);
#pragma unroll
        for (int row = 0; row < 25; row += 5)
#pragma unroll
            for (int i = 0; i < 5; ++i)
                a[row + i] = b[row + i] ^ (~b[row + (i + 1) % 5] & b[row + (i + 2) % 5]);
        a[0] ^= round_constants.of[round];
    }
}

// XORs the suffix and the last bit of the padding after `words` words of a block.
template <int rate>
__device__ __forceinline__ void pad(State& state, int words, uint64_t suffix) {
#pragma unroll
    for (int i = 0; i < rate; ++i) state[i] ^= i == words ? suffix : 0;
    state[rate - 1] ^= uint64_t{1} << 63;
}

// Eight bytes at any address.
__device__ __forceinline__ uint64_t load_word(const uint8_t* from) {
    uint64_t word = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) word |= uint64_t{from[i]} << (8 * i);
    return word;
}

// Two words as they lie in memory.
__device__ __forceinline__ uint4 pair_of_words(uint64_t low, uint64_t high) {
    return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
            static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
}

// Strings of the items of a warp, one for each lane: item i has its own at `at` + i * stride.
struct Strings {
    const uint8_t* at;
    uint64_t stride;
    uint32_t count;  // of items, 1 to 32
};

// Shared memory for a block of each item. Items are an odd number of words apart, so that lanes
// read without bank conflicts.
inline constexpr int block_words = staged_words(8 * rate_of_shake256);
static_assert(block_words % 2 == 1);
inline constexpr int staging_bytes = round16(32 * 4 * block_words);

// Loads bytes [begin, begin + bytes) of each string, at most a block, and returns the lane's own.
// Idle lanes get the last item's.
__device__ __forceinline__ StagedString load_strings(uint32_t* words, const Strings& strings,
                                                     uint64_t begin, uint32_t bytes) {
    __syncwarp();
#pragma unroll 4
    for (uint32_t i = 0; i < strings.count; ++i) {
        const uint8_t* from = strings.at + i * strings.stride + begin;
        const auto before = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) % 4);
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const uint32_t at = 4 * lane_id() + 128 * part;
            if (at < before + bytes)
                words[i * block_words + at / 4] =
                    word_within(from - before, at, before, before + bytes);
        }
    }
    __syncwarp();
    const uint32_t mine = lane_id() < strings.count ? lane_id() : strings.count - 1;
    const auto address = reinterpret_cast<uintptr_t>(strings.at + mine * strings.stride + begin);
    return {words + mine * block_words, 8 * static_cast<uint32_t>(address % 4)};
}

// XORs strings of `words` words to a state from word `first` on.
template <int first, int words>
__device__ __forceinline__ void absorb_words(State& state, uint32_t* staging,
                                             const Strings& strings) {
    const StagedString mine = load_strings(staging, strings, 0, 8 * words);
#pragma unroll
    for (int i = 0; i < words; ++i) state[first + i] ^= mine.bits64(64 * i);
}

// Absorbs strings of `words` words after `prefix` words that the state has already received, with
// the padding, and permutes. `rate` is 17.
template <int prefix, int words>
__device__ __forceinline__ void absorb_message(State& state, uint32_t* staging,
                                               const Strings& strings, uint8_t suffix) {
    constexpr int rate = rate_of_shake256, total = prefix + words, blocks = total / rate + 1;
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
        const int begin = block == 0 ? prefix : 0, end = block == blocks - 1 ? total % rate : rate;
        const StagedString mine =
            load_strings(staging, strings, 8 * static_cast<uint32_t>(block * rate + begin - prefix),
                         8 * static_cast<uint32_t>(end - begin));
#pragma unroll
        for (int i = 0; i < rate; ++i)
            if (i >= begin && i < end)
                state[i] ^= mine.bits64(64 * static_cast<uint32_t>(i - begin));
        if (block == blocks - 1) pad<rate>(state, total % rate, suffix);
        permute(state);
    }
}

}  // namespace sponge
}  // namespace warpseal::cuda
