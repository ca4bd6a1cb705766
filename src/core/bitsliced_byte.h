// Bytes as eight bit planes: the byte-sliced representation of a cipher on any machine, and S-boxes
// of key expansion without tables.
#pragma once

#include "core/inversion.h"
#include "core/lut.h"

namespace warpseal {

// The circuit of an S-box as a separate function in each object. Ciphers have many S-boxes:
// inlining them all takes minutes to compile and exceeds the instruction cache.
template <class S, class Word>
WARPSEAL_CALLED constexpr void substitute_in_place(Word* p) {
    static_assert(circuit_is<S>(), "a gate is wrong");
    substitute_bitsliced<S>(p);
}

// One byte of many blocks: bit[i] holds bit i of every block.
template <class Word>
struct BitslicedByte {
    Word bit[8];

    WARPSEAL_INLINE static constexpr BitslicedByte zero() { return {}; }

    friend WARPSEAL_INLINE constexpr BitslicedByte operator^(const BitslicedByte& a,
                                                             const BitslicedByte& b) {
        BitslicedByte c{};
        for (int i = 0; i < 8; ++i) c.bit[i] = a.bit[i] ^ b.bit[i];
        return c;
    }
    friend WARPSEAL_INLINE constexpr BitslicedByte operator&(const BitslicedByte& a,
                                                             const BitslicedByte& b) {
        BitslicedByte c{};
        for (int i = 0; i < 8; ++i) c.bit[i] = a.bit[i] & b.bit[i];
        return c;
    }
    friend WARPSEAL_INLINE constexpr BitslicedByte operator|(const BitslicedByte& a,
                                                             const BitslicedByte& b) {
        BitslicedByte c{};
        for (int i = 0; i < 8; ++i) c.bit[i] = a.bit[i] | b.bit[i];
        return c;
    }
    friend WARPSEAL_INLINE constexpr BitslicedByte operator~(const BitslicedByte& a) {
        BitslicedByte c{};
        for (int i = 0; i < 8; ++i) c.bit[i] = ~a.bit[i];
        return c;
    }
    // Addition modulo 256, with a ripple carry through the planes.
    friend WARPSEAL_INLINE constexpr BitslicedByte operator+(const BitslicedByte& a,
                                                             const BitslicedByte& b) {
        BitslicedByte c{};
        Word carry{};
        for (int i = 0; i < 8; ++i) {
            c.bit[i] = lut<0x96>(a.bit[i], b.bit[i], carry);
            carry = lut<0xe8>(a.bit[i], b.bit[i], carry);
        }
        return c;
    }
    WARPSEAL_INLINE constexpr BitslicedByte& operator^=(const BitslicedByte& other) {
        return *this = *this ^ other;
    }

    template <class S>
    friend WARPSEAL_INLINE constexpr BitslicedByte substitute(BitslicedByte a) {
        substitute_in_place<S>(a.bit);
        return a;
    }
    template <int n>
    friend WARPSEAL_INLINE constexpr BitslicedByte shift_left(const BitslicedByte& a) {
        BitslicedByte c{};
        for (int i = n; i < 8; ++i) c.bit[i] = a.bit[i - n];
        return c;
    }
    template <int n>
    friend WARPSEAL_INLINE constexpr BitslicedByte shift_right(const BitslicedByte& a) {
        BitslicedByte c{};
        for (int i = n; i < 8; ++i) c.bit[i - n] = a.bit[i];
        return c;
    }
    friend WARPSEAL_INLINE constexpr BitslicedByte add3(const BitslicedByte& a,
                                                        const BitslicedByte& b,
                                                        const BitslicedByte& c) {
        return a ^ b ^ c;
    }
};

// Swaps bit i of word j with bit j of word i, in each byte of eight words.
template <int half = 4>
WARPSEAL_INLINE constexpr void transpose_bytes(uint32_t* word) {
    constexpr uint32_t low = half == 4 ? 0x0f0f0f0fu : half == 2 ? 0x33333333u : 0x55555555u;
    for (int i = 0; i < 4; ++i) {
        const int r = i / half * 2 * half + i % half;
        const uint32_t a = word[r], b = word[r + half];
        word[r] = lut<0xca>(low, a, b << half);
        word[r + half] = lut<0xca>(low, a >> half, b);
    }
    if constexpr (half > 1) transpose_bytes<half / 2>(word);
}

// Applies an S-box to the bytes of eight words, by its circuit.
template <class S>
WARPSEAL_INLINE constexpr void substitute_words(uint32_t (&word)[8]) {
    static_assert(circuit_is<S>(), "a gate is wrong");
    transpose_bytes(word);
    substitute_bitsliced<S>(word);
    transpose_bytes(word);
}

// Applies an S-box to the four bytes of a word, by its circuit. Lane r of a plane is bit 8 r of a
// word. Used for key expansion.
struct WordSubstitution {
    template <class S>
    WARPSEAL_INLINE constexpr uint32_t substitute(uint32_t word) const {
        uint32_t p[8] = {};
        for (int i = 0; i < 8; ++i) p[i] = word >> i & 0x01010101u;
        substitute_in_place<S>(p);
        uint32_t result = 0;
        for (int i = 0; i < 8; ++i) result |= (p[i] & 0x01010101u) << i;
        return result;
    }
};

}  // namespace warpseal
