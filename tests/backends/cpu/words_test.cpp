// Compares the cores' word type with a GPU's: every operator of docs/adding-a-cipher.md and S-boxes
// of four bits compile for both, and lanes agree.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary
// interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "backends/cpu/representations/word_sliced.h"
#include "core/sbox4.h"
#include "support/random.h"
#include "support/word_operators.h"

namespace {

template <class Words>
class WordOfCores : public testing::Test {};
using Widths = testing::Types<warpseal::cpu::Words<16, 1>, warpseal::cpu::Words<16, 2>,
                              warpseal::cpu::Words<32, 2>, warpseal::cpu::Words<64, 4>>;
TYPED_TEST_SUITE(WordOfCores, Widths);

uint32_t key(int i) { return i == 0 ? 0x12345678 : 0xfedcba90; }

TYPED_TEST(WordOfCores, ComputesAsTheWordOfAGpu) {
    constexpr size_t lanes = sizeof(TypeParam) / 4;
    uint32_t a[lanes], b[lanes];
    tests::Random random(61);
    for (int round = 0; round < 50; ++round) {
        random.fill(reinterpret_cast<uint8_t*>(a), sizeof a);
        random.fill(reinterpret_cast<uint8_t*>(b), sizeof b);
        TypeParam x, y;
        std::memcpy(&x.v, a, sizeof a);
        std::memcpy(&y.v, b, sizeof b);
        tests::every_operator(x, y, [](int i) { return TypeParam(key(i)); });
        for (size_t i = 0; i < lanes; ++i) tests::every_operator(a[i], b[i], key);
        ASSERT_EQ(std::memcmp(&x.v, a, sizeof a), 0);
        ASSERT_EQ(std::memcmp(&y.v, b, sizeof b), 0);
    }
}

// S-boxes of Serpent and of Noekeon, a table with equal outputs, and the identity.
using Tables = std::integer_sequence<uint64_t, 0x38f1a65bed42709c, 0xfc27905a1be86d34,
                                     0x0fb8c963d124a75e, 0x1df0e82b74ca9356, 0x7a2c48f0591e3db6,
                                     0xffff0000fffc1234, 0x0123456789abcdef>;

template <uint64_t table, class Word>
void expect_sbox4(tests::Random& random) {
    constexpr size_t lanes = sizeof(Word) / 4;
    uint32_t in[4][lanes], out[4][lanes];
    for (auto& word : in) random.fill(reinterpret_cast<uint8_t*>(word), sizeof word);
    Word w[4];
    std::memcpy(static_cast<void*>(w), in, sizeof w);
    warpseal::substitute4<table>(w[0], w[1], w[2], w[3]);
    std::memcpy(out, w, sizeof w);
    for (size_t i = 0; i < 32 * lanes; ++i) {
        const auto nibble = [&](const uint32_t(&word)[4][lanes]) {
            unsigned x = 0;
            for (int b = 0; b < 4; ++b) x |= (word[b][i / 32] >> (i % 32) & 1) << b;
            return x;
        };
        ASSERT_EQ(nibble(out), table >> (60 - 4 * nibble(in)) & 15);
    }
}

template <class Word, uint64_t... table>
void expect_tables(std::integer_sequence<uint64_t, table...>) {
    tests::Random random(62);
    (expect_sbox4<table, Word>(random), ...);
    (expect_sbox4<table, uint32_t>(random), ...);
}

TYPED_TEST(WordOfCores, AppliesSBoxesOfFourBits) { expect_tables<TypeParam>(Tables{}); }

// The search for circuits keeps its quality: Serpent's S-boxes and their inverses take at most ten
// gates, and Noekeon's takes seven.
TEST(SBoxOfFourBits, TakesFewGates) {
    using warpseal::circuit4::circuit, warpseal::inverse4;
    EXPECT_LE(circuit<0x38f1a65bed42709c>.gates, 9);
    EXPECT_LE(circuit<inverse4(0x38f1a65bed42709c)>.gates, 9);
    EXPECT_LE(circuit<0x0fb8c963d124a75e>.gates, 10);
    EXPECT_LE(circuit<0x7a2c48f0591e3db6>.gates, 7);
}

TEST(SBoxOfFourBits, InverseUndoes) {
    static_assert(warpseal::inverse4(0x7a2c48f0591e3db6) == 0x7a2c48f0591e3db6);  // an involution
    static_assert(warpseal::inverse4(0x123456789abcdef0) == 0xf0123456789abcde);
}

}  // namespace
