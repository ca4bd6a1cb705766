// GF(2^8) at compile time, to compute tables and to verify circuits (FIPS 197 section 4).
#pragma once

#include <stdint.h>

namespace warpseal::field {

// Returns the product modulo x^8 + x^4 + x^3 + x + 1.
constexpr uint8_t multiply(uint8_t a, uint8_t b) {
    uint8_t product = 0;
    for (int i = 0; i < 8; ++i) {
        if ((b >> i) & 1) product = static_cast<uint8_t>(product ^ a);
        a = static_cast<uint8_t>((a << 1) ^ ((a >> 7) * 0x1b));
    }
    return product;
}

// Returns a^254: the inverse of a, or 0 for 0.
constexpr uint8_t inverse(uint8_t a) {
    uint8_t result = 1;
    for (int i = 0; i < 7; ++i) {
        a = multiply(a, a);
        result = multiply(result, a);
    }
    return result;
}

}  // namespace warpseal::field
