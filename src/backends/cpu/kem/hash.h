// SHA3-256 and SHAKE256 of messages of equal length, one in each lane of a Keccak word.
#pragma once

#include "core/secret.h"
#include "kem/keccak.h"

namespace warpseal::cpu {
namespace {

// Number of messages hashed at once. Word is uint64_t or a vector of it.
template <class Word>
constexpr int hash_lanes = sizeof(Word) / 8;

template <class Word>
__attribute__((noinline)) void permute(Word (&state)[25]) {
    kem::keccak_f(state, kem::keccak::constants.of);
}

// Hashes messages of `bytes` bytes. Message i is at messages + i * stride, with space for its
// padding (kem::padded_bytes), which is written here. Writes hash i, in whole 64-bit words, to
// hashes + i * hash_bytes. Lanes from `count` on hash what their memory holds, and write nothing.
template <class Word>
WARPSEAL_INLINE void sponge(uint8_t* hashes, size_t hash_bytes, uint8_t* messages, size_t stride,
                            size_t bytes, int count, uint8_t suffix) {
    constexpr int lanes = hash_lanes<Word>;
    for (int i = 0; i < count; ++i) kem::pad(messages + i * stride, bytes, suffix);
    Word state[25] = {};
    for (size_t at = 0; at < kem::padded_bytes(bytes); at += kem::keccak::rate) {
        for (size_t word = 0; word < kem::keccak::rate / 8; ++word) {
            uint64_t lane[lanes];
            for (int i = 0; i < lanes; ++i)
                memcpy(&lane[i], messages + i * stride + at + 8 * word, 8);
            Word part;
            memcpy(&part, lane, sizeof part);
            state[word] ^= part;
        }
        permute<Word>(state);
    }
    for (size_t at = 0; at < hash_bytes; at += 8) {
        const size_t word = at % kem::keccak::rate / 8;
        if (at != 0 && word == 0) permute<Word>(state);
        uint64_t lane[lanes];
        memcpy(lane, &state[word], sizeof lane);
        for (int i = 0; i < count; ++i) memcpy(hashes + i * hash_bytes + at, &lane[i], 8);
    }
    wipe(state, sizeof state);
}

template <class Word>
WARPSEAL_INLINE void sha3_256(uint8_t (*hashes)[32], uint8_t* messages, size_t stride, size_t bytes,
                              int count) {
    sponge<Word>(hashes[0], 32, messages, stride, bytes, count, kem::keccak::sha3_suffix);
}

}  // namespace
}  // namespace warpseal::cpu
