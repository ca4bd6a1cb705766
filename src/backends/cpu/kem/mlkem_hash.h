// The hashes of ML-KEM (FIPS 203, section 4.1) over messages of whole 64-bit words and a last one,
// one message in each lane of a Keccak word.
#pragma once

#include <utility>

#include "backends/cpu/kem/hash.h"

namespace warpseal::cpu {
namespace {

// Words of a state that a block of each hash fills.
inline constexpr int words_of_shake128 = 21, words_of_sha3_256 = 17, words_of_sha3_512 = 9;
inline constexpr int words_of_shake256 = words_of_sha3_256;

// Transposes a square of 64-bit words: lane j of vector i is exchanged with lane i of vector j.
template <int step, class Word, size_t... p>
WARPSEAL_INLINE void exchange(Word& a, Word& b, std::index_sequence<p...>) {
    constexpr int lanes = hash_lanes<Word>;
    const Word low = __builtin_shufflevector(a, b, (p & step ? lanes + p - step : p)...);
    b = __builtin_shufflevector(a, b, (p & step ? lanes + p : p + step)...);
    a = low;
}
template <int step = 1, class Word>
WARPSEAL_INLINE void transpose_words(Word (&v)[hash_lanes<Word>]) {
    constexpr int lanes = hash_lanes<Word>;
    if constexpr (step < lanes) {
        WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) if ((i & step) == 0)
            exchange<step>(v[i], v[i + step], std::make_index_sequence<lanes>());
        transpose_words<2 * step>(v);
    }
}

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
        const int squares = lanes > 1 ? words / lanes * lanes : 0;
        if constexpr (lanes > 1)
            for (int word = 0; word < squares; word += lanes) {
                Word some[lanes];
                for (int i = 0; i < lanes; ++i) memcpy(&some[i], from[i] + 8 * word, sizeof(Word));
                transpose_words(some);
                for (const Word& one : some) absorb(one);
            }
        for (int word = squares; word < words; ++word) {
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
        if (lanes > 1 && words >= lanes) {
            // The last words may be written twice.
            for (int word = 0; word < words; word += lanes)
                write_square(to, first, word + lanes <= words ? word : words - lanes, count);
            return;
        }
        for (int word = 0; word < words; ++word) {
            uint64_t lane[lanes];
            memcpy(lane, &state[first + word], sizeof lane);
            for (int i = 0; i < count; ++i) memcpy(to(i) + 8 * word, &lane[i], 8);
        }
    }

private:
    template <class To>
    WARPSEAL_INLINE void write_square(const To& to, int first, int word, int count) const {
        Word some[lanes];
        for (int i = 0; i < lanes; ++i) some[i] = state[first + word + i];
        if constexpr (lanes > 1) transpose_words(some);
        for (int i = 0; i < count; ++i) memcpy(to(i) + 8 * word, &some[i], sizeof(Word));
    }
};

}  // namespace
}  // namespace warpseal::cpu
