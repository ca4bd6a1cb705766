// S-boxes as types: an inversion in the field of FIPS 197 between two affine maps, or any function.
// Also the algebra that derives the maps.
#pragma once

#include "core/field.h"
#include "core/word.h"

namespace warpseal {

// An affine map of GF(2)^8: bit i of y is the parity of row[i] & x, plus bit i of the constant.
struct Affine {
    uint8_t row[8];
    uint8_t constant;
};

constexpr uint8_t parity(uint8_t x) {
    x = static_cast<uint8_t>(x ^ (x >> 4));
    return static_cast<uint8_t>(0x6996 >> (x & 15) & 1);
}

constexpr uint8_t apply(const Affine& map, uint8_t x) {
    uint8_t y = map.constant;
    for (int i = 0; i < 8; ++i) y = static_cast<uint8_t>(y ^ parity(map.row[i] & x) << i);
    return y;
}

// Builds a map from its images: bit j of x contributes column[j], and 0 maps to `constant`.
constexpr Affine affine(const uint8_t (&column)[8], uint8_t constant) {
    Affine map{{}, constant};
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            map.row[i] = static_cast<uint8_t>(map.row[i] | (column[j] >> i & 1) << j);
    return map;
}

inline constexpr Affine identity = {{1, 2, 4, 8, 16, 32, 64, 128}, 0};
// Affine map of the AES S-box, FIPS 197 5.1.1.
inline constexpr Affine sub_bytes = {{0xf1, 0xe3, 0xc7, 0x8f, 0x1f, 0x3e, 0x7c, 0xf8}, 0x63};

// Returns x -> map(x) ^ c.
constexpr Affine plus(Affine map, uint8_t c) {
    map.constant = static_cast<uint8_t>(map.constant ^ c);
    return map;
}

// Returns x -> second(first(x)).
constexpr Affine compose(const Affine& second, const Affine& first) {
    uint8_t column[8] = {};
    const uint8_t constant = apply(second, first.constant);
    for (int j = 0; j < 8; ++j)
        column[j] = static_cast<uint8_t>(apply(second, apply(first, static_cast<uint8_t>(1 << j))) ^
                                         constant);
    return affine(column, constant);
}

// Returns the inverse of an invertible map.
constexpr Affine inverse(const Affine& map) {
    uint8_t image[256] = {};
    for (int x = 0; x < 256; ++x)
        image[apply(map, static_cast<uint8_t>(x))] = static_cast<uint8_t>(x);
    uint8_t column[8] = {};
    for (int j = 0; j < 8; ++j) column[j] = static_cast<uint8_t>(image[1 << j] ^ image[0]);
    return affine(column, image[0]);
}

namespace field {

// Returns the product modulo a polynomial of degree 8, given with its leading bit.
constexpr uint8_t multiply_modulo(unsigned polynomial, uint8_t a, uint8_t b) {
    unsigned product = 0;
    for (int i = 7; i >= 0; --i) {
        product <<= 1;
        product ^= (product >> 8 & 1) * polynomial;
        product ^= (b >> i & 1u) * a;
    }
    return static_cast<uint8_t>(product);
}

// Returns x^n. If n is a power of two, this is a linear map: repeated squaring.
constexpr uint8_t power_modulo(unsigned polynomial, uint8_t x, unsigned n) {
    uint8_t result = 1;
    for (; n != 0; n >>= 1, x = multiply_modulo(polynomial, x, x))
        if (n & 1) result = multiply_modulo(polynomial, result, x);
    return result;
}

// Returns the linear map x -> x^(2^n) in the field of FIPS 197.
constexpr Affine frobenius(int n) {
    uint8_t column[8] = {};
    for (int j = 0; j < 8; ++j)
        column[j] = power_modulo(0x11b, static_cast<uint8_t>(1 << j), 1u << n);
    return affine(column, 0);
}

// Returns a field isomorphism from GF(2^8) modulo another polynomial to the field of FIPS 197: x
// maps to a root of that polynomial. An inversion in the other field is the isomorphism, an
// inversion here, and the isomorphism back.
constexpr Affine isomorphism(unsigned polynomial) {
    for (unsigned root = 2; root < 256; ++root) {
        uint8_t column[8] = {}, power = 1, sum = 0;
        for (int j = 0; j <= 8; ++j, power = multiply(power, static_cast<uint8_t>(root))) {
            if (polynomial >> j & 1) sum = static_cast<uint8_t>(sum ^ power);
            if (j < 8) column[j] = power;
        }
        if (sum == 0) return affine(column, 0);
    }
    return {};
}

}  // namespace field

// An S-box is a type S with one of two definitions. With `static constexpr Affine in, out`, S(x) =
// out(inverse(in(x))), where inverse is that of FIPS 197 (0 for 0). With `static constexpr uint8_t
// substitute(uint8_t x)`, it is that function.
template <class S>
concept InversionSBox = requires {
    S::in.row[0] + S::out.row[0];
};

template <class S>
constexpr uint8_t value(uint8_t x) {
    if constexpr (InversionSBox<S>)
        return apply(S::out, field::inverse(apply(S::in, x)));
    else
        return S::substitute(x);
}

// True if S is equal to the definition of its standard.
template <class S, class Definition>
constexpr bool is_s_box(const Definition& definition) {
    for (int x = 0; x < 256; ++x)
        if (value<S>(static_cast<uint8_t>(x)) != definition(static_cast<uint8_t>(x))) return false;
    return true;
}

}  // namespace warpseal
