// Words and blocks in memory order, and counter arithmetic, against sums byte by byte.
#include "core/block.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.h"

namespace {

using namespace warpseal;
using Text = std::vector<uint8_t>;

TEST(Word, RotatesByEveryCount) {
    EXPECT_EQ(rotate_left(0x80000001u, 0), 0x80000001u);
    for (int n = 0; n < 32; ++n) {
        EXPECT_EQ(rotate_left(1u, n), uint32_t{1} << n);
        EXPECT_EQ(rotate_left(uint32_t{1} << n, 32 - n == 32 ? 0 : 32 - n), 1u);
    }
}

TEST(Word, ByteOrders) {
    const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(load_le32(bytes), 0x04030201u);
    EXPECT_EQ(load_be64(bytes), 0x0102030405060708u);
    EXPECT_EQ(swap_bytes(uint32_t{0x01020304}), 0x04030201u);
    EXPECT_EQ(swap_bytes(uint64_t{0x0102030405060708}), 0x0807060504030201u);
    uint8_t out[16] = {};
    store_le32(out, 0x04030201u);
    store_be32(out + 4, 0x01020304u);
    store_be64(out + 8, 0x0102030405060708u);
    EXPECT_EQ(Text(out, out + 16), (Text{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8}));
}

// Adds i to the last `counting` words of the block, byte by byte.
template <int counting, int n>
void expect_sums(uint64_t test) {
    tests::Random random(test);
    for (int round = 0; round < 5000; ++round) {
        const Text start = random.counter(random.next() >> (1 + random.below(63)), 4 * n);
        const uint64_t i = random.one_in(8) ? ~uint64_t{0} : random.next() >> random.below(64);
        Text expected = start;
        uint32_t carry = 0;
        for (size_t j = 0; j < 4 * counting; ++j) {
            uint8_t& byte = expected[4 * n - 1 - j];
            const uint32_t sum =
                byte + carry + (j < 8 ? static_cast<uint32_t>(i >> (8 * j) & 0xff) : 0);
            byte = static_cast<uint8_t>(sum);
            carry = sum >> 8;
        }
        Text out(4 * n);
        store_block(out.data(), add_big_endian<counting>(load_block<n>(start.data()), i));
        ASSERT_EQ(out, expected) << counting << " of " << n << " words, " << i;
    }
}

TEST(Block, CountsBigEndian) {
    expect_sums<1, 4>(71);
    expect_sums<4, 4>(72);
    expect_sums<1, 2>(73);
    expect_sums<2, 2>(74);
}

TEST(Block, XorsEveryByte) {
    tests::Random random(75);
    const Text a = random.text(16), b = random.text(16);
    Text out(16);
    store_block(out.data(), load_block<4>(a.data()) ^ load_block<4>(b.data()));
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], a[i] ^ b[i]) << i;
}

}  // namespace
