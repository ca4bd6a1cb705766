// Multiples of X25519's base point on the birationally equivalent Edwards curve (RFC 7748, section
// 4.1), with a table that the compiler computes.
#pragma once

#include "kem/x25519.h"

namespace warpseal::kem::x25519 {

// A point (X : Y : Z) with T = X Y / Z, on -x^2 + y^2 = 1 + d x^2 y^2.
template <class Field>
struct Point {
    typename Field::Number x, y, z, t;
};
// An affine point as additions take it: y + x, y - x, 2 d x y.
template <class Word>
struct Addend {
    Element<Word> sum, difference, product;
};

// Completes an addition or a doubling: (E : H : G : F) of Hisil, Wong, Carter and Dawson (2008).
template <class Field>
WARPSEAL_INLINE constexpr Point<Field> completed(const typename Field::Number& e,
                                                 const typename Field::Number& f,
                                                 const typename Field::Number& g,
                                                 const typename Field::Number& h) {
    return {Field::multiply(e, f), Field::multiply(g, h), Field::multiply(f, g),
            Field::multiply(e, h)};
}
// The formulas are complete: they hold for all points, the neutral one too.
template <class Field>
WARPSEAL_INLINE constexpr Point<Field> add_point(const Point<Field>& p,
                                                 const Addend<typename Field::Word>& q) {
    using Number = typename Field::Number;
    const Number a = Field::multiply(add<Field>(p.y, p.x), q.sum),
                 b = Field::multiply(subtract<Field>(p.y, p.x), q.difference),
                 c = Field::multiply(p.t, q.product), d = add<Field>(p.z, p.z);
    return completed<Field>(subtract<Field>(a, b), subtract<Field>(d, c), add<Field>(d, c),
                            add<Field>(a, b));
}
template <class Field>
WARPSEAL_INLINE constexpr Point<Field> twice(const Point<Field>& p) {
    using Number = typename Field::Number;
    const Number xx = Field::square(p.x), yy = Field::square(p.y), zz = Field::square(p.z),
                 h = add<Field>(yy, xx), g = carry_once(subtract<Field>(yy, xx));
    return completed<Field>(subtract<Field>(Field::square(add<Field>(p.x, p.y)), h),
                            subtract<Field>(add<Field>(zz, zz), g), g, h);
}

// Entry [i][j] is (j + 1) * 256^i times the base point.
struct BaseTable {
    static constexpr int rows = 32, columns = 8;
    Addend<uint64_t> at[rows][columns];
};

namespace base {

using Number = Single::Number;

constexpr Number negated(const Number& a) {
    return carry_once(subtract<Single>(small<uint64_t>(0), a));
}
constexpr Number quotient(const Number& a, const Number& b) {
    return Single::multiply(a, invert<Single>(b));
}
constexpr bool same(const Number& a, const Number& b) {
    const Bytes<uint64_t> one = encode(a), other = encode(b);
    bool all = true;
    for (int i = 0; i < 4; ++i) all = all && one.at[i] == other.at[i];
    return all;
}
constexpr Number d = quotient(negated(small<uint64_t>(121665)), small<uint64_t>(121666));

// The root of a / b with an even value. p = 5 modulo 8: it is a power of a / b, or that times a
// root of -1, which is 2^((p - 1) / 4).
constexpr Number even_root(const Number& a, const Number& b) {
    const Number square = quotient(a, b);
    // a^((p + 3) / 8) = a^(2^252 - 2), the square of a^(2^251 - 1).
    const auto power = [](const Number& of) {
        return Single::square(Single::multiply(Single::square(long_power<Single>(of).p250), of));
    };
    // (p - 1) / 4 = 2 ((p + 3) / 8) - 1.
    const Number two = small<uint64_t>(2),
                 root_of_minus_one = quotient(Single::square(power(two)), two);
    Number root = power(square);
    if (!same(Single::square(root), square)) root = Single::multiply(root, root_of_minus_one);
    return (encode(root).at[0] & 1) == 0 ? root : negated(root);
}

// The base point: y = 4/5, and x is even (RFC 7748, section 4.1).
constexpr Point<Single> point() {
    const Number y = quotient(small<uint64_t>(4), small<uint64_t>(5)), yy = Single::square(y),
                 one = small<uint64_t>(1),
                 x = even_root(carry_once(subtract<Single>(yy, one)),
                               add<Single>(Single::multiply(d, yy), one));
    return {x, y, one, Single::multiply(x, y)};
}

constexpr Addend<uint64_t> addend(const Point<Single>& p, const Number& inverse_z) {
    const Number x = Single::multiply(p.x, inverse_z), y = Single::multiply(p.y, inverse_z),
                 xy = Single::multiply(x, y);
    return {decode(encode(add<Single>(y, x))), decode(encode(subtract<Single>(y, x))),
            decode(encode(Single::multiply(add<Single>(xy, xy), d)))};
}

constexpr BaseTable make_table() {
    BaseTable out{};
    Point<Single> first = point();
    for (int row = 0; row < BaseTable::rows; ++row) {
        const Addend<uint64_t> one = addend(first, invert<Single>(first.z));
        Point<Single> multiple[BaseTable::columns] = {first};
        // Products of the first denominators: one inversion serves the row.
        Number product[BaseTable::columns] = {first.z};
        for (int i = 1; i < BaseTable::columns; ++i) {
            multiple[i] = add_point(multiple[i - 1], one);
            product[i] = Single::multiply(product[i - 1], multiple[i].z);
        }
        Number inverse = invert<Single>(product[BaseTable::columns - 1]);
        for (int i = BaseTable::columns - 1; i > 0; --i) {
            out.at[row][i] = addend(multiple[i], Single::multiply(inverse, product[i - 1]));
            inverse = Single::multiply(inverse, multiple[i].z);
        }
        out.at[row][0] = one;
        first = multiple[BaseTable::columns - 1];
        for (int i = 0; i < 5; ++i) first = twice(first);  // 8 * 2^5 = 256
    }
    return out;
}
// The base point's u is 9: (1 + y) / (1 - y).
static_assert(same(quotient(add<Single>(small<uint64_t>(1), point().y),
                            subtract<Single>(small<uint64_t>(1), point().y)),
                   small<uint64_t>(9)));

}  // namespace base

constexpr BaseTable base_table = base::make_table();

// Chooses |digit| times the row's point, in each lane. Reads the whole row. digit is from -8 to 8.
template <class Word>
WARPSEAL_INLINE Addend<Word> chosen(const Addend<uint64_t> (&row)[BaseTable::columns],
                                    const Word& digit) {
    const Word negative = hidden(Word(0 - (digit >> 63)));
    const Word magnitude = (digit ^ negative) - negative;
    Addend<Word> out{};
    const auto equals = [&](uint64_t value) {
        return hidden(Word(0 - (((magnitude ^ value) - 1) >> 63)));
    };
    out.sum.at[0] = out.difference.at[0] = equals(0) & 1;
    for (int j = 0; j < BaseTable::columns; ++j) {
        const Word mask = equals(static_cast<uint64_t>(j) + 1);
        for (int i = 0; i < limbs; ++i) {
            out.sum.at[i] = out.sum.at[i] | (mask & row[j].sum.at[i]);
            out.difference.at[i] = out.difference.at[i] | (mask & row[j].difference.at[i]);
            out.product.at[i] = out.product.at[i] | (mask & row[j].product.at[i]);
        }
    }
    exchange(out.sum, out.difference, negative);
    for (int i = 0; i < limbs; ++i) {
        const Word other = (limb_mask << 1) - (i == 0 ? 36 : 0) - out.product.at[i];
        out.product.at[i] = out.product.at[i] ^ ((out.product.at[i] ^ other) & negative);
    }
    out.product = carry_once(out.product);
    return out;
}

// Writes a clamped scalar as 64 digits from -8 to 8, in each lane: digits of 16, carried.
template <class Word>
WARPSEAL_INLINE void signed_digits(Word (&digits)[64], const Bytes<Word>& scalar) {
    Word carry{};
    for (int i = 0; i < 64; ++i) {
        const Word digit = ((scalar.at[i / 16] >> (4 * (i % 16))) & 15) + carry;
        carry = i == 63 ? Word{} : Word((digit + 8) >> 4);
        digits[i] = digit - (carry << 4);
    }
}

// scalar times the base point, for a clamped scalar: u = (Z + Y) / (Z - Y). The denominator is not
// 0, because no such scalar is a multiple of the base point's order.
template <class Field, class Word = typename Field::Word>
WARPSEAL_INLINE Fraction<Field> multiply_base(const Word (&digits)[64], const BaseTable& table) {
    Point<Field> sum{small<Word>(0), small<Word>(1), small<Word>(1), small<Word>(0)};
    for (int odd = 1; odd >= 0; --odd) {
        for (int i = 0; i < BaseTable::rows; ++i)
            sum = add_point<Field>(sum, chosen(table.at[i], digits[2 * i + odd]));
        for (int i = 0; i < 4 * odd; ++i) sum = twice<Field>(sum);
    }
    return {add<Field>(sum.z, sum.y), subtract<Field>(sum.z, sum.y)};
}

}  // namespace warpseal::kem::x25519
