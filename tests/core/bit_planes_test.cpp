// Bitsliced representation: plane i holds bit i of every block, for each word type.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary
// interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "core/bit_planes.h"
#include "support/random.h"

namespace {

using warpseal::BitPlanes;

using Vector128 = uint64_t __attribute__((vector_size(16)));
using Vector256 = uint64_t __attribute__((vector_size(32)));
using Vector512 = uint64_t __attribute__((vector_size(64)));

template <class Word>
class PlanesOf : public testing::Test {};
using Words = testing::Types<uint32_t, uint64_t, Vector128, Vector256, Vector512>;
TYPED_TEST_SUITE(PlanesOf, Words);

template <class Word>
bool lane(const Word& word, size_t j) {
    uint8_t bytes[sizeof(Word)];
    std::memcpy(bytes, &word, sizeof word);
    return (bytes[j / 8] >> (j % 8) & 1) != 0;
}

template <class Word, int block_bytes>
void expect_transposed() {
    const std::vector<uint8_t> blocks =
        tests::Random(1).text(BitPlanes<Word>::blocks * block_bytes);
    Word plane[8 * block_bytes];
    BitPlanes<Word>::template from_blocks<block_bytes>(plane, blocks.data());
    for (int l = 0; l < BitPlanes<Word>::blocks; ++l) {
        const size_t j =
            static_cast<size_t>(BitPlanes<Word>::template block_of_lane<block_bytes>(l));
        for (size_t i = 0; i < 8 * block_bytes; ++i)
            ASSERT_EQ(lane(plane[i], static_cast<size_t>(l)),
                      (blocks[j * block_bytes + i / 8] >> (i % 8) & 1) != 0)
                << "block " << j << ", bit " << i;
    }
    std::vector<uint8_t> back(blocks.size());
    BitPlanes<Word>::template to_blocks<block_bytes>(back.data(), plane);
    EXPECT_EQ(back, blocks);
}

TYPED_TEST(PlanesOf, ContainBitIOfEveryBlock) {
    expect_transposed<TypeParam, 8>();
    expect_transposed<TypeParam, 16>();
}

}  // namespace
