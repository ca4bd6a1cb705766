// GF(2^8): the product against long division of polynomials, and inverses.
#include "core/field.h"

#include <gtest/gtest.h>

namespace {

using namespace warpseal;

// Multiplies without carries, then divides by x^8 + x^4 + x^3 + x + 1.
uint8_t product_by_division(unsigned a, unsigned b) {
    unsigned product = 0;
    for (int i = 0; i < 8; ++i)
        if ((b >> i & 1) != 0) product ^= a << i;
    for (int i = 15; i >= 8; --i)
        if ((product >> i & 1) != 0) product ^= 0x11bu << (i - 8);
    return static_cast<uint8_t>(product);
}

TEST(Field, EveryProduct) {
    EXPECT_EQ(field::multiply(0x57, 0x83), 0xc1);  // FIPS 197, 4.2
    for (unsigned a = 0; a < 256; ++a)
        for (unsigned b = 0; b < 256; ++b)
            ASSERT_EQ(field::multiply(static_cast<uint8_t>(a), static_cast<uint8_t>(b)),
                      product_by_division(a, b))
                << a << " times " << b;
}

TEST(Field, EveryInverse) {
    EXPECT_EQ(field::inverse(0), 0);
    for (unsigned a = 1; a < 256; ++a)
        ASSERT_EQ(product_by_division(a, field::inverse(static_cast<uint8_t>(a))), 1) << a;
}

}  // namespace
