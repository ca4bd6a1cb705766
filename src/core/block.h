// Blocks: input and output of a cipher, as words in memory order, and counter arithmetic.
#pragma once

#include "core/word.h"

namespace warpseal {

// A block in memory order: word 0 holds the first four bytes, with the first byte in its low bits.
template <int word_count>
struct Block {
    static constexpr int words = word_count;
    static constexpr int bytes = 4 * word_count;
    uint32_t word[word_count];
};

template <int n>
WARPSEAL_INLINE constexpr Block<n> operator^(const Block<n>& a, const Block<n>& b) {
    Block<n> c{};
    for (int i = 0; i < n; ++i) c.word[i] = a.word[i] ^ b.word[i];
    return c;
}

template <int n>
WARPSEAL_INLINE Block<n> load_block(const uint8_t* p) {
    Block<n> b;
    memcpy(b.word, p, sizeof b.word);
    return b;
}

template <int n>
WARPSEAL_INLINE void store_block(uint8_t* p, const Block<n>& b) {
    memcpy(p, b.word, sizeof b.word);
}

// Adds i to the block as a big-endian number, modulo the lowest `counting` words. The words above
// them do not change.
template <int counting, int n>
WARPSEAL_INLINE constexpr Block<n> add_big_endian(Block<n> b, uint64_t i) {
    for (int k = n - 1; k >= n - counting; --k) {
        const uint64_t sum = swap_bytes(b.word[k]) + (i & 0xffffffffu);
        b.word[k] = swap_bytes(static_cast<uint32_t>(sum));
        i = (i >> 32) + (sum >> 32);
    }
    return b;
}

}  // namespace warpseal
