// GHASH by words of 32 and 64 bits, against the standard's definition, one bit at a time.
#include "macs/ghash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/random.h"

namespace {

using namespace warpseal;

// SP 800-38D 6.3, one bit at a time.
Block<4> multiply_by_bits(const Block<4>& x, const Block<4>& y) {
    uint8_t a[16], v[16], z[16] = {};
    store_block(a, x);
    store_block(v, y);
    for (int i = 0; i < 128; ++i) {
        if (a[i / 8] >> (7 - i % 8) & 1)
            for (int j = 0; j < 16; ++j) z[j] = static_cast<uint8_t>(z[j] ^ v[j]);
        const bool low = (v[15] & 1) != 0;
        for (int j = 15; j > 0; --j) v[j] = static_cast<uint8_t>(v[j] >> 1 | v[j - 1] << 7);
        v[0] = static_cast<uint8_t>(v[0] >> 1 ^ (low ? 0xe1 : 0));
    }
    return load_block<4>(z);
}

template <class Word>
class GhashOf : public testing::Test {};
using HashWords = testing::Types<uint32_t, uint64_t>;
TYPED_TEST_SUITE(GhashOf, HashWords);

TYPED_TEST(GhashOf, MultipliesAsTheStandardDoes) {
    using namespace macs::ghash;
    tests::Random random(5);
    for (int i = 0; i < 3000; ++i) {
        Block<4> a, b;
        for (int w = 0; w < 4; ++w) {  // all ones make the most carries
            a.word[w] = i % 5 == 0 ? 0xffffffffu : static_cast<uint32_t>(random.next());
            b.word[w] = i % 7 == 0    ? 0xffffffffu
                        : i % 11 == 0 ? 0
                                      : static_cast<uint32_t>(random.next());
        }
        const Block<4> wanted = multiply_by_bits(a, b),
                       got = to_block(multiply(from_block<TypeParam>(a), from_block<TypeParam>(b)));
        ASSERT_EQ(std::memcmp(&got, &wanted, 16), 0) << i;
    }
}

TYPED_TEST(GhashOf, SegmentsCombineToTheWhole) {
    using namespace macs::ghash;
    using E = Element<TypeParam>;
    const std::vector<uint8_t> bytes = tests::Random(6).text(16 * 101);
    const auto block = [&](size_t i) {
        return from_block<TypeParam>(load_block<4>(bytes.data() + 16 * i));
    };
    const E h = block(100);
    E whole;
    for (size_t i = 0; i < 100; ++i) whole = absorb(whole, h, block(i));
    for (size_t cut = 1; cut < 100; ++cut) {
        E first, second;
        for (size_t i = 0; i < cut; ++i) first = absorb(first, h, block(i));
        for (size_t i = cut; i < 100; ++i) second = absorb(second, h, block(i));
        const Block<4> got = to_block(combine(first, power(h, 100 - cut), second)),
                       wanted = to_block(whole);
        ASSERT_EQ(std::memcmp(&got, &wanted, 16), 0) << "cut at " << cut;
    }
}

}  // namespace
