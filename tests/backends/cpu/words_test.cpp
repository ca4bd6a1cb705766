// Compares the cores' word type with a GPU's. One function with every operator of
// docs/adding-a-cipher.md compiles for both, and lanes agree.
#include <gtest/gtest.h>

#include <cstring>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary
// interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "backends/cpu/representations/word_sliced.h"
#include "support/random.h"

namespace {

// Each step changes the next one's input, so that no error goes undetected.
template <class Word>
void every_operator(Word& a, Word& b) {
    constexpr uint32_t number = 0x9e3779b9;
    a = (a ^ b) + (a & ~b) - (a | b);
    b = (b << 7) | (b >> 25);
    a = number + (a ^ number) - (number ^ b);
    b = (b & number) + (number - a);
    a = (number & a) | (b | 5u);
    b = (number | b) - 1;
    a ^= b, b += a, a -= b, b |= a >> 3, a &= b << 1;
    a ^= number, b += number, a -= 77u, b |= 1u, a &= ~number;
    a += b;
    b <<= 3, a >>= 1;
    b ^= a + (b << 5);
}

template <class Words>
class WordOfCores : public testing::Test {};
using Widths = testing::Types<warpseal::cpu::Words<16, 1>, warpseal::cpu::Words<16, 2>,
                              warpseal::cpu::Words<32, 2>, warpseal::cpu::Words<64, 4>>;
TYPED_TEST_SUITE(WordOfCores, Widths);

TYPED_TEST(WordOfCores, ComputesAsTheWordOfAGpu) {
    constexpr size_t lanes = sizeof(TypeParam) / 4;
    uint32_t a[lanes], b[lanes];
    tests::Random random(61);
    for (int round = 0; round < 50; ++round) {
        random.fill(reinterpret_cast<uint8_t*>(a), sizeof a);
        random.fill(reinterpret_cast<uint8_t*>(b), sizeof b);
        TypeParam x, y;
        std::memcpy(&x, a, sizeof a);
        std::memcpy(&y, b, sizeof b);
        every_operator(x, y);
        for (size_t i = 0; i < lanes; ++i) every_operator(a[i], b[i]);
        ASSERT_EQ(std::memcmp(&x, a, sizeof a), 0);
        ASSERT_EQ(std::memcmp(&y, b, sizeof b), 0);
    }
}

}  // namespace
