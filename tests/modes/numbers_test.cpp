// Lengths and numbers beyond any test's text: CCM's encoded lengths, XTS's data unit numbers and
// tweaks, and the counters of CTR and GCM.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "modes/ccm.h"
#include "modes/ctr.h"
#include "modes/gcm.h"
#include "modes/xts.h"
#include "support/random.h"

namespace {

using namespace warpseal;
using Text = std::vector<uint8_t>;

Text bytes_of(const Block<4>& block) {
    Text out(16);
    store_block(out.data(), block);
    return out;
}

// SP 800-38C A.2.1: flags, nonce, and the length of the text in all bytes that the nonce leaves.
TEST(Numbers, FirstBlockOfCcm) {
    tests::Random random(61);
    for (uint32_t nonce_bytes = 7; nonce_bytes <= 13; ++nonce_bytes)
        for (uint32_t tag_bytes = 4; tag_bytes <= 16; tag_bytes += 2)
            for (const bool has_aad : {false, true}) {
                const uint32_t length_bytes = 15 - nonce_bytes;
                const Text nonce = random.text(nonce_bytes), length = random.text(length_bytes);
                Text expected = {static_cast<uint8_t>(64 * has_aad + 8 * ((tag_bytes - 2) / 2) +
                                                      length_bytes - 1)};
                expected.insert(expected.end(), nonce.begin(), nonce.end());
                expected.insert(expected.end(), length.begin(), length.end());
                uint64_t text_bytes = 0;
                for (const uint8_t x : length) text_bytes = text_bytes << 8 | x;
                EXPECT_EQ(bytes_of(modes::ccm::first_block(nonce.data(), nonce_bytes, tag_bytes,
                                                           has_aad, text_bytes)),
                          expected)
                    << nonce_bytes << " bytes of nonce, " << text_bytes << " of text";
            }
}

// SP 800-38C A.2.2
TEST(Numbers, LengthOfTheAssociatedDataOfCcm) {
    const struct {
        uint64_t aad_bytes;
        Text encoded;
    } cases[] = {
        {1, {0, 1}},
        {0xfeff, {0xfe, 0xff}},
        {0xff00, {0xff, 0xfe, 0, 0, 0xff, 0}},
        {0x12345678, {0xff, 0xfe, 0x12, 0x34, 0x56, 0x78}},
        {0xffffffff, {0xff, 0xfe, 0xff, 0xff, 0xff, 0xff}},
        {0x100000000, {0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0}},
        {0x123456789abcdef0, {0xff, 0xff, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0}}};
    for (const auto& [aad_bytes, encoded] : cases) {
        uint8_t out[modes::ccm::longest_length] = {};
        const uint32_t length = modes::ccm::encode_length(aad_bytes, out);
        EXPECT_EQ(Text(out, out + length), encoded) << aad_bytes;
    }
}

// IEEE 1619 5.1: consecutive numbers, least significant byte first.
TEST(Numbers, DataUnitsOfXts) {
    tests::Random random(62);
    for (int n = 0; n < 2000; ++n) {
        Text number = random.text(16);
        for (size_t j = 0; j < 16 && !random.one_in(5); ++j) number[j] = 0xff;
        const uint64_t i = random.one_in(8) ? ~uint64_t{0} : random.next() >> random.below(64);
        Text expected = number;
        uint32_t carry = 0;
        for (size_t j = 0; j < 16; ++j) {
            const uint32_t sum = expected[j] + carry + (j < 8 ? i >> (8 * j) & 0xff : 0);
            expected[j] = static_cast<uint8_t>(sum);
            carry = sum >> 8;
        }
        ASSERT_EQ(bytes_of(modes::unit_number(load_block<4>(number.data()), i)), expected)
            << i << " after";
    }
}

// SP 800-38D 6.2 and 7.1: block i of the text has J0 after i + 1 increments of its last 32 bits.
TEST(Numbers, CounterOfGcm) {
    tests::Random random(63);
    for (int n = 0; n < 2000; ++n) {
        const Text j0 = random.text(16);
        const uint64_t i =
            n < 33 ? (uint64_t{1} << n) - 1 : random.next() >> (32 + random.below(32));
        Text expected = j0;
        uint64_t carry = i + 1;
        for (size_t j = 15; j >= 12; --j) {
            carry += expected[j];
            expected[j] = static_cast<uint8_t>(carry);
            carry >>= 8;
        }
        ASSERT_EQ(bytes_of(modes::Gcm::mask(load_block<4>(j0.data()), i)), expected)
            << i << " after";
    }
}

TEST(Numbers, CountersCarryWithinTheirOwnWords) {
    Block<4> ones;
    std::memset(&ones, 0xff, sizeof ones);
    const Block<4> all = modes::Ctr::mask(ones, 1), low = modes::Gcm::mask(ones, 0);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(all.word[i], 0u);
        EXPECT_EQ(low.word[i], i == 3 ? 0u : 0xffffffffu);
    }
    const Block<2> half =
        modes::Ctr::mask(Block<2>{{0xffffffffu, 0xffffffffu}}, 3);  // a cipher with 64-bit blocks
    EXPECT_EQ(half.word[0], 0u);
    EXPECT_EQ(half.word[1], swap_bytes(uint32_t{2}));
}

// IEEE 1619 5.2: n multiplications by x, each a shift of the bytes with the carry as 0x87.
TEST(Numbers, TweaksOfXts) {
    tests::Random random(64);
    for (int round = 0; round < 500; ++round)
        for (int n = 1; n <= 32; ++n) {
            const Text tweak = random.text(16);
            Text expected = tweak;
            for (int i = 0; i < n; ++i) {
                uint32_t carry = 0;
                for (uint8_t& byte : expected) {
                    const uint32_t doubled = uint32_t{byte} * 2 + carry;
                    byte = static_cast<uint8_t>(doubled);
                    carry = doubled >> 8;
                }
                if (carry != 0) expected[0] = static_cast<uint8_t>(expected[0] ^ 0x87);
            }
            ASSERT_EQ(bytes_of(modes::advance_tweak(load_block<4>(tweak.data()), n)), expected)
                << "times x^" << n;
        }
}

}  // namespace
