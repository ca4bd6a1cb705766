// Multiples of X25519's base point on the Edwards curve, one in each lane: the method of
// kem/x25519_base.h, with its table in words of 32 bits.
#pragma once

#include "backends/cuda/kem/x25519/ladder.cuh"
#include "kem/x25519_base.h"

namespace warpseal::cuda::x25519 {

using kem::x25519::BaseTable;

// A point (X : Y : Z) with T = X Y / Z, on -x^2 + y^2 = 1 + d x^2 y^2.
struct Point {
    Number x, y, z, t;
};
// An affine point as additions take it: y + x, y - x, 2 d x y.
struct alignas(16) Addend {
    Number sum, difference, product;
};
// Entry [i][j] is (j + 1) * 256^i times the base point.
struct AddendTable {
    Addend at[BaseTable::rows][BaseTable::columns];
};

constexpr Number words_of(const kem::x25519::Element<uint64_t>& element) {
    const kem::x25519::Bytes<uint64_t> bytes = kem::x25519::encode(element);
    Number out{};
    for (int i = 0; i < 8; ++i)
        out.at[i] = static_cast<uint32_t>(bytes.at[i / 2] >> (32 * (i % 2)));
    return out;
}
constexpr AddendTable addend_table() {
    AddendTable out{};
    for (int i = 0; i < BaseTable::rows; ++i)
        for (int j = 0; j < BaseTable::columns; ++j) {
            const auto& from = kem::x25519::base_table.at[i][j];
            out.at[i][j] = {words_of(from.sum), words_of(from.difference), words_of(from.product)};
        }
    return out;
}

// Completes an addition or a doubling: (E : H : G : F) of Hisil, Wong, Carter and Dawson (2008).
WARPSEAL_INLINE Point completed(const Number& e, const Number& f, const Number& g,
                                const Number& h) {
    return {multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h)};
}
// The formulas are complete: they hold for all points, the neutral one too.
WARPSEAL_INLINE Point add_point(const Point& p, const Addend& q) {
    const Number a = multiply(add(p.y, p.x), q.sum), b = multiply(subtract(p.y, p.x), q.difference),
                 c = multiply(p.t, q.product), d = add(p.z, p.z);
    return completed(subtract(a, b), subtract(d, c), add(d, c), add(a, b));
}
WARPSEAL_INLINE Point twice(const Point& p) {
    const Number xx = square(p.x), yy = square(p.y), zz = square(p.z), h = add(yy, xx),
                 g = subtract(yy, xx);
    return completed(subtract(square(add(p.x, p.y)), h), subtract(add(zz, zz), g), g, h);
}

// Adds `from` where the mask is all ones.
WARPSEAL_INLINE void choose(Number& out, const Number& from, uint32_t mask) {
    WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) out.at[i] |= mask & from.at[i];
}
// Chooses |digit| times the row's point. Reads the whole row, at addresses that all lanes share.
// digit is from -8 to 8.
WARPSEAL_INLINE Addend chosen(const Addend (&row)[BaseTable::columns], uint32_t digit) {
    const uint32_t negative = hidden(0 - (digit >> 31)), magnitude = (digit ^ negative) - negative;
    // All ones if the magnitude, at most 8, is `value`.
    const auto equals = [&](uint32_t value) {
        return hidden(0 - (((magnitude ^ value) - 1) >> 31));
    };
    Addend out{};
    out.sum.at[0] = out.difference.at[0] = equals(0) & 1;
    WARPSEAL_ROLLED for (int j = 0; j < BaseTable::columns; ++j) {
        const uint32_t mask = equals(static_cast<uint32_t>(j) + 1);
        choose(out.sum, row[j].sum, mask);
        choose(out.difference, row[j].difference, mask);
        choose(out.product, row[j].product, mask);
    }
    exchange(out.sum, out.difference, negative);
    Number other = subtract(number(0), out.product);
    exchange(out.product, other, negative);
    return out;
}

// Adds 8 to each of the lower 63 digits of 16 of a clamped scalar, so that a digit minus 8 is a
// signed one, from -8 to 7. The highest digit, at most 7, has no 8 and takes a carry. The sum is
// below 2^256.
WARPSEAL_INLINE Number signed_digits(Number scalar) {
    const uint32_t eights[8] = {0x88888888, 0x88888888, 0x88888888, 0x88888888,
                                0x88888888, 0x88888888, 0x88888888, 0x08888888};
    add_words(scalar.at, eights);
    return scalar;
}

// Returns scalar times the base point, for a clamped scalar: u = (Z + Y) / (Z - Y). The denominator
// is not 0, because no such scalar is a multiple of the base point's order. Digits 2 i + 1 come
// first, then, after four doublings, digits 2 i. Words move through a fixed register.
WARPSEAL_INLINE Fraction multiply_base(const Number& scalar, const AddendTable& table) {
    Number digits = signed_digits(scalar);
    Point sum{number(0), number(1), number(1), number(0)};
    WARPSEAL_ROLLED for (int odd = 1; odd >= 0; --odd) {
        WARPSEAL_ROLLED for (int row = 0; row < BaseTable::rows; ++row) {
            const uint32_t byte = digits.at[0] & 0xff, digit = odd == 1 ? byte >> 4 : byte & 15;
            // The whole number turns by a byte, so that it is back after all rows.
            const uint32_t first = digits.at[0];
            WARPSEAL_UNROLL for (int i = 0; i < 7; ++i) digits.at[i] =
                digits.at[i] >> 8 | digits.at[i + 1] << 24;
            digits.at[7] = digits.at[7] >> 8 | first << 24;
            const bool highest = odd == 1 && row == BaseTable::rows - 1;
            sum = add_point(sum, chosen(table.at[row], digit - (highest ? 0 : 8)));
        }
        WARPSEAL_ROLLED for (int i = 0; i < 4 * odd; ++i) sum = twice(sum);
    }
    return {add(sum.z, sum.y), subtract(sum.z, sum.y)};
}

}  // namespace warpseal::cuda::x25519
