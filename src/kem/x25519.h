// X25519 (RFC 7748): the field, the Montgomery ladder, and multiples of the base point through the
// Edwards curve. One source for a single item and for an item in each lane of a vector.
#pragma once

#include "core/word.h"

namespace warpseal::kem::x25519 {

inline constexpr size_t key_bytes = 32;
inline constexpr int limbs = 5, limb_bits = 51;
inline constexpr uint64_t limb_mask = (uint64_t{1} << limb_bits) - 1;
inline constexpr uint64_t a24 = 121665;  // (A - 2) / 4, to add to AA (RFC 7748, section 5)

// A number modulo p = 2^255 - 19 in limbs of 51 bits, which may exceed that. Word is uint64_t, or a
// vector of it with a number in each lane.
template <class Word>
struct Element {
    Word at[limbs];
};
// A scalar, a coordinate or a result: 32 bytes as words, little-endian.
template <class Word>
struct Bytes {
    Word at[4];
};

// One item: limbs below 2^54 multiply. Products have limbs below 2^51 + 2^13.
struct Single {
    using Word = uint64_t;
    using Number = Element<Word>;
    __extension__ typedef unsigned __int128 Wide;

    WARPSEAL_INLINE static constexpr Number carried(const Wide (&sum)[limbs]) {
        Number out{};
        Wide carry = 0;
        for (int i = 0; i < limbs; ++i) {
            const Wide all = sum[i] + carry;
            out.at[i] = static_cast<uint64_t>(all) & limb_mask;
            carry = all >> limb_bits;
        }
        // The last sum has no factor 19: 5 * 2^108 >> 51 fits, 19 times.
        const uint64_t first = out.at[0] + static_cast<uint64_t>(carry) * 19;
        out.at[0] = first & limb_mask;
        out.at[1] += first >> limb_bits;
        return out;
    }
    WARPSEAL_INLINE static constexpr Number multiply(const Number& a, const Number& b) {
        const uint64_t high[limbs] = {0, 19 * b.at[1], 19 * b.at[2], 19 * b.at[3], 19 * b.at[4]};
        Wide sum[limbs] = {};
        WARPSEAL_UNROLL for (int i = 0; i < limbs; ++i)
            WARPSEAL_UNROLL for (int j = 0; j < limbs; ++j) sum[(i + j) % limbs] +=
            Wide{a.at[i]} * (i + j < limbs ? b.at[j] : high[j]);
        return carried(sum);
    }
    WARPSEAL_INLINE static constexpr Number square(const Number& a) {
        Wide sum[limbs] = {};
        WARPSEAL_UNROLL for (int i = 0; i < limbs; ++i)
            WARPSEAL_UNROLL for (int j = i; j < limbs; ++j) sum[(i + j) % limbs] +=
            Wide{i == j ? a.at[i] : 2 * a.at[i]} * (i + j < limbs ? a.at[j] : 19 * a.at[j]);
        return carried(sum);
    }
    // Returns a + a24 * b for products a and limbs of b below 2^54.
    WARPSEAL_INLINE static constexpr Number add_a24(const Number& a, const Number& b) {
        Wide sum[limbs] = {};
        for (int i = 0; i < limbs; ++i) sum[i] = a.at[i] + Wide{b.at[i]} * a24;
        return carried(sum);
    }
    // Limbs of sums and differences need no carry here, unless they enter another one.
    WARPSEAL_INLINE static constexpr Number shortened(const Number& a) { return a; }
};

template <class Word>
WARPSEAL_INLINE constexpr Element<Word> small(uint64_t value) {
    Element<Word> out{};
    out.at[0] = out.at[0] + value;
    return out;
}

// Carries each limb once: limbs below 2^54 become less than 2^51 + 2^8.
template <class Word>
WARPSEAL_INLINE constexpr Element<Word> carry_once(const Element<Word>& a) {
    Element<Word> out{};
    for (int i = 0; i < limbs; ++i) out.at[i] = a.at[i] & limb_mask;
    for (int i = 1; i < limbs; ++i) out.at[i] = out.at[i] + (a.at[i - 1] >> limb_bits);
    const Word last = a.at[limbs - 1] >> limb_bits;
    out.at[0] = out.at[0] + last + (last << 1) + (last << 4);
    return out;
}

template <class Field>
WARPSEAL_INLINE constexpr typename Field::Number add(const typename Field::Number& a,
                                                     const typename Field::Number& b) {
    typename Field::Number out{};
    for (int i = 0; i < limbs; ++i) out.at[i] = a.at[i] + b.at[i];
    return Field::shortened(out);
}
// Limbs of b are below 2^53 - 76: those of 4 p, which is added.
template <class Field>
WARPSEAL_INLINE constexpr typename Field::Number subtract(const typename Field::Number& a,
                                                          const typename Field::Number& b) {
    typename Field::Number out{};
    for (int i = 0; i < limbs; ++i)
        out.at[i] = a.at[i] + ((limb_mask << 2) - (i == 0 ? 72 : 0)) - b.at[i];
    return Field::shortened(out);
}

template <class Field>
WARPSEAL_INLINE constexpr typename Field::Number square_times(typename Field::Number a, int times) {
    for (int i = 0; i < times; ++i) a = Field::square(a);
    return a;
}
// Returns a^(2^250 - 1) and a^11, from which the inverse and square roots follow.
template <class Field>
struct Power {
    typename Field::Number p250, p11;
};
template <class Field>
WARPSEAL_INLINE constexpr Power<Field> long_power(const typename Field::Number& a) {
    using Number = typename Field::Number;
    const Number p2 = Field::square(a);
    const Number p9 = Field::multiply(square_times<Field>(p2, 2), a);
    const Number p11 = Field::multiply(p9, p2);
    const Number p5 = Field::multiply(Field::square(p11), p9);  // 2^5 - 1
    const Number p10 = Field::multiply(square_times<Field>(p5, 5), p5);
    const Number p20 = Field::multiply(square_times<Field>(p10, 10), p10);
    const Number p40 = Field::multiply(square_times<Field>(p20, 20), p20);
    const Number p50 = Field::multiply(square_times<Field>(p40, 10), p10);
    const Number p100 = Field::multiply(square_times<Field>(p50, 50), p50);
    const Number p200 = Field::multiply(square_times<Field>(p100, 100), p100);
    return {Field::multiply(square_times<Field>(p200, 50), p50), p11};
}
// Returns a^(p - 2): the inverse, or 0 of 0.
template <class Field>
WARPSEAL_INLINE constexpr typename Field::Number invert(const typename Field::Number& a) {
    const Power<Field> power = long_power<Field>(a);
    return Field::multiply(square_times<Field>(power.p250, 5), power.p11);
}

// Reads a coordinate: bit 255 is ignored, and a value of p or more is not refused.
template <class Word>
WARPSEAL_INLINE constexpr Element<Word> decode(const Bytes<Word>& in) {
    Element<Word> out{};
    out.at[0] = in.at[0] & limb_mask;
    out.at[1] = ((in.at[0] >> 51) | (in.at[1] << 13)) & limb_mask;
    out.at[2] = ((in.at[1] >> 38) | (in.at[2] << 26)) & limb_mask;
    out.at[3] = ((in.at[2] >> 25) | (in.at[3] << 39)) & limb_mask;
    out.at[4] = (in.at[3] >> 12) & limb_mask;
    return out;
}
// Returns the number below p. Limbs are below 2^54.
template <class Word>
WARPSEAL_INLINE constexpr Bytes<Word> encode(const Element<Word>& number) {
    Element<Word> a = carry_once(carry_once(number));  // at most 2^51 + 18, so below 2 p
    Word quotient = (a.at[0] + 19) >> limb_bits;
    for (int i = 1; i < limbs; ++i) quotient = (a.at[i] + quotient) >> limb_bits;
    a.at[0] = a.at[0] + quotient + (quotient << 1) + (quotient << 4);
    for (int i = 0; i + 1 < limbs; ++i) {
        a.at[i + 1] = a.at[i + 1] + (a.at[i] >> limb_bits);
        a.at[i] = a.at[i] & limb_mask;
    }
    a.at[limbs - 1] = a.at[limbs - 1] & limb_mask;
    Bytes<Word> out{};
    out.at[0] = a.at[0] | (a.at[1] << 51);
    out.at[1] = (a.at[1] >> 13) | (a.at[2] << 38);
    out.at[2] = (a.at[2] >> 26) | (a.at[3] << 25);
    out.at[3] = (a.at[3] >> 39) | (a.at[4] << 12);
    return out;
}

// Sets the bits of a scalar that RFC 7748, section 5, fixes.
template <class Word>
WARPSEAL_INLINE constexpr Bytes<Word> clamped(Bytes<Word> scalar) {
    scalar.at[0] = scalar.at[0] & ~uint64_t{7};
    scalar.at[3] = (scalar.at[3] & ~(uint64_t{1} << 63)) | uint64_t{1} << 62;
    return scalar;
}

// Exchanges a and b in lanes whose mask is all ones; in the others the mask is 0.
template <class Word>
WARPSEAL_INLINE constexpr void exchange(Element<Word>& a, Element<Word>& b, const Word& mask) {
    for (int i = 0; i < limbs; ++i) {
        const Word both = (a.at[i] ^ b.at[i]) & mask;
        a.at[i] = a.at[i] ^ both;
        b.at[i] = b.at[i] ^ both;
    }
}

// A result as a fraction.
template <class Field>
struct Fraction {
    typename Field::Number over, under;
};

// Hides a mask from the compiler, which could make a branch of it.
template <class Word>
WARPSEAL_INLINE constexpr Word hidden(Word mask) {
    if (!__builtin_is_constant_evaluated()) {
        if constexpr (sizeof(Word) == sizeof(uint64_t))
            __asm__("" : "+r"(mask));
        else
            __asm__("" : "+v"(mask));
    }
    return mask;
}

// The ladder of RFC 7748, section 5: scalar * point, for a clamped scalar.
template <class Field>
WARPSEAL_INLINE Fraction<Field> ladder(const Bytes<typename Field::Word>& scalar,
                                       const typename Field::Number& point) {
    using Word = typename Field::Word;
    using Number = typename Field::Number;
    Number x2 = small<Word>(1), z2 = small<Word>(0), x3 = point, z3 = x2;
    Word before{};
    for (int t = 254; t >= 0; --t) {
        const Word bit = (scalar.at[t / 64] >> (t % 64)) & 1;
        const Word mask = hidden(Word(0 - (bit ^ before)));
        before = bit;
        exchange(x2, x3, mask);
        exchange(z2, z3, mask);
        const Number a = add<Field>(x2, z2), b = subtract<Field>(x2, z2);
        const Number da = Field::multiply(subtract<Field>(x3, z3), a),
                     cb = Field::multiply(add<Field>(x3, z3), b);
        x3 = Field::square(add<Field>(da, cb));
        z3 = Field::multiply(Field::square(subtract<Field>(da, cb)), point);
        const Number aa = Field::square(a), bb = Field::square(b), e = subtract<Field>(aa, bb);
        x2 = Field::multiply(aa, bb);
        z2 = Field::multiply(e, Field::add_a24(aa, e));
    }
    const Word mask = hidden(Word(0 - before));
    exchange(x2, x3, mask);
    exchange(z2, z3, mask);
    return {x2, z2};
}

}  // namespace warpseal::kem::x25519
