// Refusals of the public calls by the limits of the modes other than ECB, CTR and GCM, and by their
// keys; the internal interface computes them.
#include "limits.h"

namespace {

using tests::Limits;
using vectors::Text;

// SP 800-38C A.1 and SP 800-38B 6.2: tags of 4, 6, ..., 16 bytes, and of 1 to a block.
TEST_F(Limits, TagsOfCcmAndCmac) {
    for (size_t tag_bytes = 0; tag_bytes <= 32; ++tag_bytes) {
        const auto ccm = tag_bytes >= 4 && tag_bytes <= 16 && tag_bytes % 2 == 0
                             ? WARPSEAL_OK
                             : WARPSEAL_INVALID_ARGUMENT;
        const auto cmac =
            tag_bytes >= 1 && tag_bytes <= 16 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
        poison();
        EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, 12, nullptr, 0, in_, out_,
                                          32, tag_, tag_bytes),
                  ccm)
            << tag_bytes;
        EXPECT_EQ(warpseal_open(key_.get(), WARPSEAL_CCM, iv_, 12, nullptr, 0, out_, out_, 32, tag_,
                                tag_bytes),
                  ccm)
            << tag_bytes;
        if (ccm != WARPSEAL_OK) {
            EXPECT_TRUE(untouched());
        }
        poison();
        EXPECT_EQ(warpseal_mac(key_.get(), WARPSEAL_CMAC, in_, 32, tag_, tag_bytes), cmac)
            << tag_bytes;
        EXPECT_EQ(warpseal_mac_verify(key_.get(), WARPSEAL_CMAC, in_, 32, tag_, tag_bytes), cmac)
            << tag_bytes;
        EXPECT_EQ(tag_[tag_bytes], 0x5a);
        warpseal_batch b = batch();
        b.tag_bytes = static_cast<uint32_t>(tag_bytes);
        b.tag_stride = 32;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_CCM, &b), ccm) << tag_bytes;
        b.iv_stride = b.iv_bytes = 0;
        b.out = nullptr;
        EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), cmac) << tag_bytes;
        EXPECT_EQ(warpseal_mac_verify_batch(key_.get(), WARPSEAL_CMAC, &b), cmac) << tag_bytes;
    }
}

// SP 800-38C A.1: the length of the text has 15 - n bytes. Nothing is read or written, so small
// buffers suffice.
TEST_F(Limits, MoreTextThanCcmAllows) {
    for (size_t n = 8; n <= 13; ++n) {
        const size_t less = size_t{1} << (8 * (15 - n));
        for (const size_t bytes : {less, less + 1, SIZE_MAX / 4}) {
            EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, n, nullptr, 0, in_,
                                              out_, bytes, tag_, 16),
                      WARPSEAL_LIMIT_EXCEEDED);
            EXPECT_EQ(warpseal_open(key_.get(), WARPSEAL_CCM, iv_, n, nullptr, 0, in_, out_, bytes,
                                    tag_, 16),
                      WARPSEAL_LIMIT_EXCEEDED);
            uint64_t lengths[2] = {16, bytes}, offsets[2] = {0, 16};
            warpseal_batch b = batch();
            b.iv_stride = b.iv_bytes = static_cast<uint32_t>(n);
            b.lengths = lengths;
            b.in_offsets = b.out_offsets = offsets;
            EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_CCM, &b),
                      WARPSEAL_LIMIT_EXCEEDED);
        }
    }
    uint8_t iv[12];
    EXPECT_EQ(warpseal_seal(key_.get(), WARPSEAL_CCM, iv, nullptr, 0, in_, out_, size_t{1} << 24,
                            tag_, 16),
              WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_TRUE(untouched());
    Text most((size_t{1} << 16) - 1, 3), sealed(most.size());
    EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, 13, nullptr, 0, most.data(),
                                      sealed.data(), most.size(), tag_, 16),
              WARPSEAL_OK);
}

// SP 800-38E, IEEE 1619 5.1: units of 16 bytes to 2^20 blocks, halves that differ.
TEST_F(Limits, UnitsAndHalvesOfXts) {
    Text pair(64, 0x42);
    warpseal_key* made = nullptr;
    EXPECT_EQ(warpseal_key_create_xts(engine_.get(), "aes-256", pair.data(), 64, &made),
              WARPSEAL_WEAK_KEY);
    EXPECT_EQ(made, nullptr);
    ASSERT_EQ(warpseal_internal_key_create_xts(engine_.get(), "aes-256", pair.data(), 64, &made),
              WARPSEAL_OK);
    const targets::KeyHandle equal(made);
    const uint8_t unit[16] = {1};
    EXPECT_EQ(warpseal_xts_encrypt(equal.get(), unit, 32, in_, out_, 64), WARPSEAL_OK)
        << "the internal interface computes it";
    EXPECT_EQ(warpseal_xts_decrypt(equal.get(), unit, 32, out_, out_, 64), WARPSEAL_OK);
    EXPECT_EQ(std::memcmp(in_, out_, 64), 0);
    poison();

    pair[63] ^= 1;
    for (size_t n = 0; n <= 128; ++n) {
        if (n == 64) continue;
        EXPECT_EQ(warpseal_key_create_xts(engine_.get(), "aes-256", Text(n).data(), n, &made),
                  WARPSEAL_INVALID_ARGUMENT)
            << n;
    }
    ASSERT_EQ(warpseal_key_create_xts(engine_.get(), "aes-256", pair.data(), 64, &made),
              WARPSEAL_OK);
    const targets::KeyHandle key(made);
    for (uint64_t bytes = 0; bytes < 16; ++bytes)
        EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, bytes, in_, out_, 32),
                  WARPSEAL_INVALID_ARGUMENT)
            << bytes;
    for (const uint64_t bytes : {(uint64_t{16} << 20) + 1, uint64_t{1} << 40, UINT64_MAX}) {
        EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, bytes, in_, out_, 32),
                  WARPSEAL_LIMIT_EXCEEDED)
            << bytes;
        EXPECT_EQ(warpseal_xts_decrypt(key.get(), unit, bytes, in_, out_, 32),
                  WARPSEAL_LIMIT_EXCEEDED)
            << bytes;
    }
    for (size_t tail = 1; tail < 16; ++tail) {
        EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, 32, in_, out_, 32 + tail),
                  WARPSEAL_INVALID_ARGUMENT)
            << tail;
        EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, 32, in_, out_, tail),
                  WARPSEAL_INVALID_ARGUMENT)
            << tail;
    }
    EXPECT_EQ(warpseal_xts_encrypt(key.get(), nullptr, 32, in_, out_, 32),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, 32, in_, in_ + 1, 32),
              WARPSEAL_INVALID_ARGUMENT)
        << "overlap";
    for (const warpseal_mode mode :
         {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB})
        EXPECT_EQ(
            warpseal_encrypt(key.get(), mode, iv_, mode == WARPSEAL_ECB ? 0 : 16, in_, out_, 32),
            WARPSEAL_INVALID_ARGUMENT)
            << mode;
    for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM})
        EXPECT_EQ(
            warpseal_seal_unsafe_iv(key.get(), mode, iv_, 12, nullptr, 0, in_, out_, 32, tag_, 16),
            WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_mac(key.get(), WARPSEAL_CMAC, in_, 32, tag_, 16), WARPSEAL_INVALID_ARGUMENT);
    warpseal_batch b = batch();
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &b),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(untouched());
    for (size_t n = 16; n <= 64; ++n)
        EXPECT_EQ(warpseal_xts_encrypt(key.get(), unit, uint64_t{16} << 20, in_, out_, n),
                  WARPSEAL_OK)
            << n;
}

// SP 800-67 3.3: keys under which a second encryption, by itself or its partner, is the identity,
// and TDEA keys equivalent to a single DES.
TEST_F(Limits, WeakDesKeys) {
    const uint8_t weak[][8] = {{1, 1, 1, 1, 1, 1, 1, 1},
                               {0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe},
                               {0xe0, 0xe0, 0xe0, 0xe0, 0xf1, 0xf1, 0xf1, 0xf1},
                               {0x1f, 0x1f, 0x1f, 0x1f, 0x0e, 0x0e, 0x0e, 0x0e},
                               {0x01, 0xfe, 0x01, 0xfe, 0x01, 0xfe, 0x01, 0xfe},
                               {0xfe, 0xe0, 0xfe, 0xe0, 0xfe, 0xf1, 0xfe, 0xf1},
                               {0, 0, 0, 0, 0, 0, 0, 0}};  // parity is ignored
    const uint8_t good[24] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                              13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
    size_t seen = 0;
    for (const warpseal_cipher_info& cipher : targets::ciphers()) {
        if (cipher.legacy == 0) continue;
        ++seen;
        std::vector<Text> keys;
        const Text fine(good, good + cipher.key_bytes);
        for (size_t at = 0; at < cipher.key_bytes; at += 8)
            for (const auto& part : weak) {
                keys.push_back(fine);
                std::memcpy(keys.back().data() + at, part, 8);
            }
        for (size_t at = 8; at < cipher.key_bytes; at += 8) {
            keys.push_back(fine);
            std::memcpy(keys.back().data() + at, fine.data(), 8);
            keys.back()[at] ^= 1;  // parity
        }
        for (const Text& bytes : keys) {
            SCOPED_TRACE(std::string(cipher.name) + " " + std::to_string(&bytes - keys.data()));
            warpseal_key* made = nullptr;
            ASSERT_EQ(warpseal_internal_key_create(engine_.get(), cipher.name, bytes.data(),
                                                   bytes.size(), &made),
                      WARPSEAL_OK);
            const targets::KeyHandle key = targets::key(engine_, cipher.name, bytes),
                                     internal(made),
                                     fine_key = targets::key(engine_, cipher.name, fine);
            for (const warpseal_mode mode :
                 {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
                const size_t iv_bytes = mode == WARPSEAL_ECB ? 0 : 8;
                poison();
                EXPECT_EQ(warpseal_encrypt(key.get(), mode, iv_, iv_bytes, in_, out_, 64),
                          WARPSEAL_WEAK_KEY)
                    << mode;
                EXPECT_TRUE(untouched());
                EXPECT_EQ(warpseal_encrypt(internal.get(), mode, iv_, iv_bytes, in_, out_, 64),
                          WARPSEAL_OK)
                    << mode;
                EXPECT_EQ(warpseal_decrypt(key.get(), mode, iv_, iv_bytes, out_, out_, 64),
                          WARPSEAL_OK)
                    << mode;
                EXPECT_EQ(std::memcmp(in_, out_, 64), 0) << mode;
            }
            size_t written = 0;
            poison();
            EXPECT_EQ(warpseal_encrypt_padded(key.get(), iv_, 8, in_, 16, out_, 64, &written),
                      WARPSEAL_WEAK_KEY);
            EXPECT_EQ(warpseal_mac(key.get(), WARPSEAL_CMAC, in_, 16, tag_, 8), WARPSEAL_WEAK_KEY);
            Text both(fine);
            both.insert(both.end(), bytes.begin(), bytes.end());
            warpseal_batch b = batch();
            b.iv_stride = b.iv_bytes = 8;
            b.tag_bytes = 0;
            EXPECT_EQ(warpseal_encrypt_batch(key.get(), WARPSEAL_CBC, &b), WARPSEAL_WEAK_KEY);
            b.keys = both.data();
            EXPECT_EQ(warpseal_encrypt_batch(fine_key.get(), WARPSEAL_CBC, &b), WARPSEAL_WEAK_KEY)
                << "the second of the batch";
            EXPECT_TRUE(untouched());
            EXPECT_EQ(warpseal_encrypt_batch(internal.get(), WARPSEAL_CBC, &b), WARPSEAL_OK);
            b.in = out_;
            EXPECT_EQ(warpseal_decrypt_batch(fine_key.get(), WARPSEAL_CBC, &b), WARPSEAL_OK);
            EXPECT_EQ(std::memcmp(in_, out_, 32), 0);
            EXPECT_EQ(warpseal_mac(internal.get(), WARPSEAL_CMAC, in_, 16, tag_, 8), WARPSEAL_OK);
            EXPECT_EQ(warpseal_mac_verify(key.get(), WARPSEAL_CMAC, in_, 16, tag_, 8), WARPSEAL_OK);
        }
        EXPECT_EQ(warpseal_encrypt(targets::key(engine_, cipher.name, fine).get(), WARPSEAL_ECB,
                                   nullptr, 0, in_, out_, 64),
                  WARPSEAL_OK);
    }
    if (seen == 0) GTEST_SKIP() << "no such cipher in this build";
}

// SP 800-38A B.1: the counter is the whole block, big-endian, and wraps; so no message is long
// enough to repeat a counter block.
TEST_F(Limits, CountersWrapOverTheWholeBlock) {
    for (const warpseal_cipher_info& cipher : targets::ciphers()) {
        Text bytes(cipher.key_bytes);
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(11 * i + 3);
        const targets::KeyHandle key = targets::key(engine_, cipher.name, bytes);
        const size_t n = cipher.block_bytes;
        Text counter(n, 0xff), stream(3 * n), blocks(3 * n);
        counter[n - 1] = 0xfe;
        for (size_t i = 0; i < n; ++i) blocks[i] = counter[i], blocks[n + i] = 0xff;  // then zeros
        ASSERT_EQ(warpseal_encrypt(key.get(), WARPSEAL_CTR, counter.data(), n, stream.data(),
                                   stream.data(), 3 * n),
                  WARPSEAL_OK);
        ASSERT_EQ(warpseal_encrypt(key.get(), WARPSEAL_ECB, nullptr, 0, blocks.data(),
                                   blocks.data(), 3 * n),
                  WARPSEAL_OK);
        EXPECT_EQ(stream, blocks) << cipher.name;
    }
}

}  // namespace
