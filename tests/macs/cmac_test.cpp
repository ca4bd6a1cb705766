// CMAC's subkeys and last block (SP 800-38B), for blocks of 128 and 64 bits.
#include "macs/cmac.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.h"

namespace {

using namespace warpseal;
using Text = std::vector<uint8_t>;

template <int n>
Text bytes_of(const Block<n>& block) {
    Text out(4 * n);
    store_block(out.data(), block);
    return out;
}

// Appendix D: the block of zeros encrypted under AES-128 and three-key TDEA, then K1 and K2.
TEST(Cmac, SubkeysOfTheStandardsExamples) {
    const Text aes = {0x7d, 0xf7, 0x6b, 0x0c, 0x1a, 0xb8, 0x99, 0xb3,
                      0x3e, 0x42, 0xf0, 0x47, 0xb9, 0x1b, 0x54, 0x6f},
               aes_first = {0xfb, 0xee, 0xd6, 0x18, 0x35, 0x71, 0x33, 0x66,
                            0x7c, 0x85, 0xe0, 0x8f, 0x72, 0x36, 0xa8, 0xde},
               aes_second = {0xf7, 0xdd, 0xac, 0x30, 0x6a, 0xe2, 0x66, 0xcc,
                             0xf9, 0x0b, 0xc1, 0x1e, 0xe4, 0x6d, 0x51, 0x3b};
    const Block<4> k1 = macs::cmac::double_block(load_block<4>(aes.data()));
    EXPECT_EQ(bytes_of(k1), aes_first);
    EXPECT_EQ(bytes_of(macs::cmac::double_block(k1)), aes_second);

    const Text tdea = {0xc8, 0xcc, 0x74, 0xe9, 0x8a, 0x73, 0x29, 0xa2},
               tdea_first = {0x91, 0x98, 0xe9, 0xd3, 0x14, 0xe6, 0x53, 0x5f},
               tdea_second = {0x23, 0x31, 0xd3, 0xa6, 0x29, 0xcc, 0xa6, 0xa5};
    const Block<2> short_k1 = macs::cmac::double_block(load_block<2>(tdea.data()));
    EXPECT_EQ(bytes_of(short_k1), tdea_first);
    EXPECT_EQ(bytes_of(macs::cmac::double_block(short_k1)), tdea_second);
}

// 6.2, step 4: a complete block takes K1; any shorter one a bit of one, zeros and K2.
template <int n>
void expect_last_blocks(uint64_t test) {
    tests::Random random(test);
    const Block<n> encrypted_zero = load_block<n>(random.text(4 * n).data());
    const Text k1 = bytes_of(macs::cmac::double_block(encrypted_zero)),
               k2 = bytes_of(macs::cmac::double_block(macs::cmac::double_block(encrypted_zero)));
    for (uint32_t bytes = 0; bytes <= 4 * n; ++bytes) {
        Text text = random.text(bytes);
        text.resize(4 * n);
        Text expected = text;
        if (bytes < 4 * n) expected[bytes] = 0x80;
        for (size_t i = 0; i < expected.size(); ++i)
            expected[i] = static_cast<uint8_t>(expected[i] ^ (bytes == 4 * n ? k1[i] : k2[i]));
        EXPECT_EQ(
            bytes_of(macs::cmac::last_block(load_block<n>(text.data()), bytes, encrypted_zero)),
            expected)
            << bytes << " of " << 4 * n << " bytes";
    }
}

TEST(Cmac, LastBlockOfEveryLength) {
    expect_last_blocks<4>(77);
    expect_last_blocks<2>(78);
}

}  // namespace
