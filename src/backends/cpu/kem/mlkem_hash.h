// The hashes of ML-KEM (FIPS 203, section 4.1) over messages of whole 64-bit words and a last one,
// one message in each lane of a Keccak word.
#pragma once

#include "backends/cpu/kem/hash.h"

namespace warpseal::cpu {
namespace {

// Words of a state that a block of each hash fills.
inline constexpr int words_of_shake128 = 21, words_of_sha3_256 = 17, words_of_sha3_512 = 9;
inline constexpr int words_of_shake256 = words_of_sha3_256;

// A sponge whose blocks have `rate` words, on a state that its owner keeps and zeroizes. Word is
// uint64_t or a vector of it.
template <class Word, int rate>
struct WordSponge {
    static constexpr int lanes = hash_lanes<Word>;
    Word (&state)[25];
    int filled = 0;

    explicit WARPSEAL_INLINE WordSponge(Word (&memory)[25]) : state(memory) {
        memset(state, 0, sizeof state);
    }

    WARPSEAL_INLINE void absorb(const Word& word) {
        state[filled] ^= word;
        if (++filled == rate) {
            permute<Word>(state);
            filled = 0;
        }
    }
    // Absorbs `words` words of each lane's message, which at(lane) returns.
    template <class At>
    WARPSEAL_INLINE void absorb_messages(const At& at, int words) {
        const uint8_t* from[lanes];
        for (int i = 0; i < lanes; ++i) from[i] = at(i);
        for (int word = 0; word < words; ++word) {
            uint64_t lane[lanes];
            for (int i = 0; i < lanes; ++i) memcpy(&lane[i], from[i] + 8 * word, 8);
            Word some;
            memcpy(&some, lane, sizeof some);
            absorb(some);
        }
    }
    // Ends the message with bytes in `last`, of which the suffix is the first after the message.
    WARPSEAL_INLINE void finish(const Word& last) {
        state[filled] ^= last;
        state[rate - 1] ^= uint64_t{1} << 63;
        permute<Word>(state);
    }
    WARPSEAL_INLINE void finish(uint8_t suffix) { finish(Word{} + uint64_t{suffix}); }

    // Writes words [first, first + words) of the state for each of `count` lanes.
    template <class To>
    WARPSEAL_INLINE void write(const To& to, int first, int words, int count) const {
        for (int word = 0; word < words; ++word) {
            uint64_t lane[lanes];
            memcpy(lane, &state[first + word], sizeof lane);
            for (int i = 0; i < count; ++i) memcpy(to(i) + 8 * word, &lane[i], 8);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
