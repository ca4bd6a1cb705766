// Numbers modulo p = 2^255 - 19 in eight words of 32 bits, one in each lane. A number is any value
// below 2^256: every function takes and returns all of them, and 2^256 = 38 modulo p.
#pragma once

#include "backends/cuda/kem/x25519/words.cuh"
#include "kem/x25519.h"

namespace warpseal::cuda::x25519 {

inline constexpr uint32_t fold = 38;  // 2^256 modulo p

// Little-endian. Also a scalar, or a coordinate as its bytes have it.
struct Number {
    uint32_t at[8];
};

WARPSEAL_INLINE Number number(uint32_t value) { return {{value, 0, 0, 0, 0, 0, 0, 0}}; }
// Memory has no alignment.
WARPSEAL_INLINE Number load(const uint8_t* bytes) {
    Number out;
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) out.at[i] = load_le32(bytes + 4 * i);
    return out;
}
WARPSEAL_INLINE void store(uint8_t* bytes, const Number& a) {
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) store_le32(bytes + 4 * i, a.at[i]);
}

// A sum is at most 2^257 - 2. With its carry folded, at most 2^256 + 36; with that one's, 74.
WARPSEAL_INLINE Number add(Number a, const Number& b) {
    const uint32_t carry = add_words(a.at, b.at);
    a.at[0] += fold * add_word(a.at, fold * carry);
    return a;
}
// A borrow adds 2^256, so 38 more go. If they borrow, the difference was below 38: its lowest word
// is then 2^32 - 38 or more.
WARPSEAL_INLINE Number subtract(Number a, const Number& b) {
    const uint32_t borrow = subtract_words(a.at, b.at);
    a.at[0] -= fold & subtract_word(a.at, fold & borrow);
    return a;
}

// Returns the sum of words 0 to 8 of `even` and 1 to 8 of `odd`, which is below 2^256 * 2^24.
WARPSEAL_INLINE Number merged(uint32_t (&even)[16], const uint32_t (&odd)[16]) {
    add_words(even + 1, odd + 1);  // at most word 8: no carry
    Number out;
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) out.at[i] = even[i];
    // The product is below 2^30. If adding it carries, what remains is smaller than it.
    out.at[0] += fold * add_word(out.at, fold * even[8]);
    return out;
}

// Products of words whose indices have an even sum are added in `even`, the others in `odd`: each
// row is a chain of 64-bit additions at a fixed parity. Row i has two. The first ends below a word
// that its carry starts; the second ends with that word and a new one, so it has no carry:
// (2^32 - 1)^2 + 1 + 1 < 2^64.
WARPSEAL_INLINE Number multiply(const Number& a, const Number& b) {
    uint32_t even[16], odd[16];
    set_products<4>(even, b.at[0], a.at);
    set_products<4>(odd + 1, b.at[0], a.at + 1);
    even[8] = 0;
    WARPSEAL_UNROLL for (int i = 1; i < 8; ++i) {
        uint32_t* const first = i % 2 == 0 ? even : odd;
        uint32_t* const second = i % 2 == 0 ? odd : even;
        first[i + 8] = add_products<4>(first + i, b.at[i], a.at);
        second[i + 8] = 0;
        add_products<4>(second + i + 1, b.at[i], a.at + 1);
    }
    // The high half is below 2^256, as the product is below 2^512. The low half stays in two.
    add_words(even + 8, odd + 8);
    uint32_t high[8];
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) high[i] = even[8 + i];
    even[8] = add_products<4>(even, fold, high);
    odd[8] = 0;
    add_products<4>(odd + 1, fold, high + 1);  // 38 (2^32 - 1) + 2^32 < 2^64: no carry
    return merged(even, odd);                  // below 2^257 + 38 * 2^256
}

// Adds the products of word i with the words above it, at the parities of their indices' sums. As
// in `multiply`, every other row of a parity carries into a new word.
template <int i>
WARPSEAL_INLINE void add_rows(uint32_t (&even)[16], uint32_t (&odd)[16], const Number& a) {
    constexpr int odd_count = (8 - i) / 2, even_count = (7 - i) / 2;
    const uint32_t odd_carry = add_products<odd_count>(odd + 2 * i + 1, a.at[i], a.at + i + 1);
    if constexpr (i % 2 == 1) odd[2 * (i + odd_count) + 1] = odd_carry;
    if constexpr (even_count > 0) {
        const uint32_t carry = add_products<even_count>(even + 2 * i + 2, a.at[i], a.at + i + 2);
        if constexpr (i % 2 == 0) even[2 * (i + even_count) + 2] = carry;
    }
    if constexpr (i < 6) add_rows<i + 1>(even, odd, a);
}
WARPSEAL_INLINE Number square(const Number& a) {
    uint32_t even[16] = {}, odd[16] = {};
    set_products<4>(odd + 1, a.at[0], a.at + 1);
    set_products<3>(even + 2, a.at[0], a.at + 2);
    add_rows<1>(even, odd, a);
    // Products of different words count twice. The square is below 2^512: nothing carries out.
    add_words(even + 8, odd + 8, add_words(even, odd));
    const uint32_t twice = add_words(even, even);
    add_words(even + 8, even + 8, twice);
    add_squares(even + 8, a.at + 4, add_squares(even, a.at, 0));
    uint32_t high[8];
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) high[i] = even[8 + i];
    even[8] = add_products<4>(even, fold, high);
    set_products<4>(odd + 1, fold, high + 1);
    return merged(even, odd);  // below 39 * 2^256
}

// Returns a + a24 b (RFC 7748, section 5).
WARPSEAL_INLINE Number add_a24(const Number& a, const Number& b) {
    constexpr auto a24 = static_cast<uint32_t>(kem::x25519::a24);
    uint32_t even[16], odd[16];
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) even[i] = a.at[i];
    even[8] = add_products<4>(even, a24, b.at);
    set_products<4>(odd + 1, a24, b.at + 1);
    return merged(even, odd);  // below 121,666 * 2^256
}

// Parameters of kem::x25519::invert.
struct Field {
    using Number = x25519::Number;
    WARPSEAL_INLINE static Number multiply(const Number& a, const Number& b) {
        return x25519::multiply(a, b);
    }
    WARPSEAL_INLINE static Number square(const Number& a) { return x25519::square(a); }
};

// Returns the number below p.
WARPSEAL_INLINE Number reduced(Number a) {
    const uint32_t top = a.at[7] >> 31;
    a.at[7] &= 0x7fffffff;
    add_word(a.at, 19 * top);  // below 2^255 + 19, so below 2 p
    // a + 19 has bit 255 if a is p or more; a - p is a + 19 without that bit.
    Number more = a;
    add_word(more.at, 19);
    add_word(a.at, 19 * (more.at[7] >> 31));
    a.at[7] &= 0x7fffffff;
    return a;
}

WARPSEAL_INLINE void exchange(Number& a, Number& b, uint32_t mask) {
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) exchange(a.at[i], b.at[i], mask);
}

}  // namespace warpseal::cuda::x25519
