// GHASH (SP 800-38D section 6.4) in GF(2^128), in constant time by integer multiplication, with
// words of 32 or 64 bits.
#pragma once

#include "core/block.h"

namespace warpseal::macs::ghash {

// A field element. The block is a big-endian number, whose least significant word is word 0. The
// standard's bit 0 (the coefficient of x^0) is thus the top bit of the last word. Products of such
// reflected numbers are shifted down by one bit, which `reduce` corrects.
template <class Word>
struct Element {
    static constexpr int bits = 8 * sizeof(Word);
    static constexpr int words = 128 / bits;
    Word word[words];
    WARPSEAL_INLINE constexpr Element() : word{} {}
};

template <class Word>
WARPSEAL_INLINE constexpr Element<Word> operator^(const Element<Word>& a, const Element<Word>& b) {
    Element<Word> c;
    for (int i = 0; i < Element<Word>::words; ++i) c.word[i] = a.word[i] ^ b.word[i];
    return c;
}

WARPSEAL_INLINE constexpr void assign(Element<uint32_t>& e, const Block<4>& b) {
    for (int i = 0; i < 4; ++i) e.word[i] = swap_bytes(b.word[3 - i]);
}
WARPSEAL_INLINE constexpr void assign(Element<uint64_t>& e, const Block<4>& b) {
    for (int i = 0; i < 2; ++i)
        e.word[i] = uint64_t{swap_bytes(b.word[2 - 2 * i])} << 32 | swap_bytes(b.word[3 - 2 * i]);
}

template <class Word>
WARPSEAL_INLINE constexpr Element<Word> from_block(const Block<4>& b) {
    Element<Word> e;
    assign(e, b);
    return e;
}

template <class Word>
WARPSEAL_INLINE constexpr Block<4> to_block(const Element<Word>& e) {
    Block<4> b{};
    for (int i = 0; i < 4; ++i) {
        const int bit = 32 * (3 - i);
        b.word[i] = swap_bytes(static_cast<uint32_t>(e.word[bit / Element<Word>::bits] >>
                                                     (bit % Element<Word>::bits)));
    }
    return b;
}

// Carry-less product from integer products of every fourth bit; the bits in between absorb the
// carries. At most 8 terms meet in a position of a 32-bit product, so no carry reaches the next
// used position. In the low half of a 64-bit product up to 16 meet, but only in the top position,
// where the carry is lost.
template <class Product>
WARPSEAL_INLINE constexpr Product multiply_with_holes(Product a, Product b) {
    constexpr Product every_fourth = static_cast<Product>(0x1111111111111111u);
    Product x[4] = {}, y[4] = {};
    for (int i = 0; i < 4; ++i) {
        x[i] = a & (every_fourth << i);
        y[i] = b & (every_fourth << i);
    }
    Product z = 0;
    for (int i = 0; i < 4; ++i)
        z |= (x[0] * y[i] ^ x[1] * y[(i + 3) & 3] ^ x[2] * y[(i + 2) & 3] ^ x[3] * y[(i + 1) & 3]) &
             (every_fourth << i);
    return z;
}

WARPSEAL_INLINE constexpr uint64_t reverse_bits(uint64_t x) {
    x = (x & 0x5555555555555555u) << 1 | (x >> 1 & 0x5555555555555555u);
    x = (x & 0x3333333333333333u) << 2 | (x >> 2 & 0x3333333333333333u);
    x = (x & 0x0f0f0f0f0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0fu);
    return swap_bytes(x);
}

WARPSEAL_INLINE constexpr void multiply_words(uint32_t a, uint32_t b, uint32_t& high,
                                              uint32_t& low) {
    const uint64_t product = multiply_with_holes<uint64_t>(a, b);
    high = static_cast<uint32_t>(product >> 32);
    low = static_cast<uint32_t>(product);
}

// The high half is the low half of the reflected product, reflected.
WARPSEAL_INLINE constexpr void multiply_words(uint64_t a, uint64_t b, uint64_t& high,
                                              uint64_t& low) {
    low = multiply_with_holes<uint64_t>(a, b);
    high = reverse_bits(multiply_with_holes<uint64_t>(reverse_bits(a), reverse_bits(b))) >> 1;
}

// Karatsuba multiplication: three products of half the length.
template <int n, class Word>
WARPSEAL_INLINE constexpr void multiply_numbers(const Word* a, const Word* b, Word* product) {
    if constexpr (n == 1) {
        multiply_words(a[0], b[0], product[1], product[0]);
    } else {
        constexpr int h = n / 2;
        Word a_sum[h] = {}, b_sum[h] = {}, middle[n] = {};
        for (int i = 0; i < h; ++i) {
            a_sum[i] = a[i] ^ a[i + h];
            b_sum[i] = b[i] ^ b[i + h];
        }
        multiply_numbers<h>(a, b, product);
        multiply_numbers<h>(a + h, b + h, product + n);
        multiply_numbers<h>(a_sum, b_sum, middle);
        for (int i = 0; i < n; ++i) middle[i] ^= product[i] ^ product[i + n];
        for (int i = 0; i < n; ++i) product[i + h] ^= middle[i];
    }
}

// Reduces a product modulo x^128 + x^7 + x^2 + x + 1, reflected: the low half is XORed into the
// high half.
template <class Word>
WARPSEAL_INLINE constexpr Element<Word> reduce(Word (&v)[2 * Element<Word>::words]) {
    constexpr int n = Element<Word>::words, bits = Element<Word>::bits;
    for (int i = 2 * n - 1; i > 0; --i) v[i] = v[i] << 1 | v[i - 1] >> (bits - 1);
    v[0] <<= 1;
    for (int i = 0; i < n; ++i) {
        v[i + n] ^= v[i] ^ v[i] >> 1 ^ v[i] >> 2 ^ v[i] >> 7;
        v[i + n - 1] ^= v[i] << (bits - 1) ^ v[i] << (bits - 2) ^ v[i] << (bits - 7);
    }
    Element<Word> e;
    for (int i = 0; i < n; ++i) e.word[i] = v[i + n];
    return e;
}

template <class Word>
WARPSEAL_INLINE constexpr Element<Word> multiply(const Element<Word>& a, const Element<Word>& b) {
    Word product[2 * Element<Word>::words] = {};
    multiply_numbers<Element<Word>::words>(a.word, b.word, product);
    return reduce<Word>(product);
}

// Reduction steps, for any element type E with `^` and `multiply`. absorb: the GHASH accumulator
// after one more block. combine: the accumulator after a segment with its own GHASH value. The
// number of blocks is public.
template <class E>
WARPSEAL_INLINE constexpr E absorb(const E& sum, const E& h, const E& block) {
    return multiply(sum ^ block, h);
}

template <class E>
WARPSEAL_INLINE constexpr E combine(const E& sum, const E& h_to_the_blocks, const E& part) {
    return multiply(sum, h_to_the_blocks) ^ part;
}

// Returns h^n, for n > 0.
template <class E>
WARPSEAL_INLINE constexpr E power(E h, uint64_t n) {
    for (; (n & 1) == 0; n >>= 1) h = multiply(h, h);
    E result = h;
    while (n >>= 1) {
        h = multiply(h, h);
        if (n & 1) result = multiply(result, h);
    }
    return result;
}

// Returns the last block, which holds both lengths in bits (SP 800-38D 7.1 step 5).
WARPSEAL_INLINE constexpr Block<4> length_block(uint64_t aad_bytes, uint64_t text_bytes) {
    const uint64_t a = aad_bytes * 8, t = text_bytes * 8;
    return {{swap_bytes(static_cast<uint32_t>(a >> 32)), swap_bytes(static_cast<uint32_t>(a)),
             swap_bytes(static_cast<uint32_t>(t >> 32)), swap_bytes(static_cast<uint32_t>(t))}};
}

}  // namespace warpseal::macs::ghash
