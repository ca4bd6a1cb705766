// Refusals of the public calls: policy, limits of the standards, and invalid arguments; refused
// calls do not change any output.
#include "limits.h"
#include "support/random.h"

namespace {

using tests::Limits;
using vectors::Text;

TEST_F(Limits, TagsUnder12AndOver16Bytes) {
    for (size_t tag_bytes = 0; tag_bytes < 33; ++tag_bytes) {
        if (tag_bytes >= 12 && tag_bytes <= 16) continue;
        EXPECT_EQ(seal(12, tag_bytes), WARPSEAL_INVALID_ARGUMENT) << tag_bytes;
        EXPECT_EQ(open(12, tag_bytes), WARPSEAL_INVALID_ARGUMENT) << tag_bytes;
        uint8_t iv[12];
        EXPECT_EQ(
            warpseal_seal(key_.get(), WARPSEAL_GCM, iv, nullptr, 0, in_, out_, 32, tag_, tag_bytes),
            WARPSEAL_INVALID_ARGUMENT)
            << tag_bytes;
        warpseal_batch b = batch();
        b.tag_bytes = static_cast<uint32_t>(tag_bytes);
        b.tag_stride = 32;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b),
                  WARPSEAL_INVALID_ARGUMENT)
            << tag_bytes;
        EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT)
            << tag_bytes;
    }
    EXPECT_TRUE(untouched());
    // The internal interface computes them all, and a longer tag begins with the shorter.
    uint8_t whole[16];
    ASSERT_EQ(seal(12, 16), WARPSEAL_OK);
    std::memcpy(whole, tag_, 16);
    for (size_t tag_bytes = 1; tag_bytes <= 16; ++tag_bytes) {
        poison();
        ASSERT_EQ(warpseal_internal_seal(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_,
                                         32, tag_, tag_bytes),
                  WARPSEAL_OK);
        EXPECT_EQ(std::memcmp(tag_, whole, tag_bytes), 0);
        EXPECT_EQ(tag_[tag_bytes], 0x5a);
    }
    EXPECT_EQ(warpseal_internal_seal(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_, 32,
                                     tag_, 17),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_internal_open(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_, 32,
                                     tag_, 0),
              WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(Limits, IvLengths) {
    EXPECT_EQ(seal(0, 16), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(open(0, 16), WARPSEAL_INVALID_ARGUMENT);
    for (size_t n = 0; n < 64; ++n) {
        const warpseal_status block = n == 16 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT,
                              none = n == 0 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
        EXPECT_EQ(encrypt(WARPSEAL_ECB, n, 32), none) << n;
        for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
            EXPECT_EQ(encrypt(mode, n, 32), block) << n;
            EXPECT_EQ(warpseal_decrypt(key_.get(), mode, iv_, n, in_, out_, 32), block) << n;
            warpseal_batch b = batch();
            b.iv_stride = b.iv_bytes = static_cast<uint32_t>(n);
            b.tag_bytes = 0;
            EXPECT_EQ(warpseal_encrypt_batch(key_.get(), mode, &b), block) << n;
        }
        size_t written = 0;
        EXPECT_EQ(warpseal_encrypt_padded(key_.get(), iv_, n, in_, 16, out_, 32, &written), block)
            << n;
        EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, n, nullptr, 0, in_, out_,
                                          32, tag_, 16),
                  n >= 7 && n <= 13 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << n;
        EXPECT_EQ(
            warpseal_open(key_.get(), WARPSEAL_CCM, iv_, n, nullptr, 0, out_, out_, 32, tag_, 16),
            n >= 7 && n <= 13 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << n;
        warpseal_batch b = batch();
        b.iv_stride = b.iv_bytes = static_cast<uint32_t>(n);
        b.tag_bytes = 16;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_CCM, &b),
                  n >= 7 && n <= 13 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << n;
        b.out = nullptr;
        EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), none) << n;
        if (n == 16 || n == 0 || (n >= 7 && n <= 13))  // a mode above accepted it
            poison();
        else
            EXPECT_TRUE(untouched()) << n;
        // GCM accepts any length but zero.
        const warpseal_status any = n != 0 ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
        EXPECT_EQ(seal(n, 16), any) << n;
        EXPECT_EQ(
            warpseal_open(key_.get(), WARPSEAL_GCM, iv_, n, nullptr, 0, out_, out_, 32, tag_, 16),
            any)
            << n;
        b = batch();
        b.iv_stride = b.iv_bytes = static_cast<uint32_t>(n);
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b), any) << n;
        if (n == 0)
            EXPECT_TRUE(untouched());
        else
            poison();
    }
    warpseal_batch b = batch();
    b.iv_stride = b.iv_bytes = 0;
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT);
    b = batch();
    b.tag_bytes = 0;
    b.tags = nullptr;
    EXPECT_EQ(warpseal_encrypt_batch(key_.get(), WARPSEAL_CTR, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(untouched());
}

TEST_F(Limits, PartialBlocksInEcbAndCbc) {
    for (size_t n = 1; n < 64; ++n) {
        if (n % 16 == 0) continue;
        EXPECT_EQ(encrypt(WARPSEAL_ECB, 0, n), WARPSEAL_INVALID_ARGUMENT) << n;
        EXPECT_EQ(warpseal_decrypt(key_.get(), WARPSEAL_ECB, nullptr, 0, in_, out_, n),
                  WARPSEAL_INVALID_ARGUMENT)
            << n;
        EXPECT_EQ(encrypt(WARPSEAL_CBC, 16, n), WARPSEAL_INVALID_ARGUMENT) << n;
        EXPECT_EQ(warpseal_decrypt(key_.get(), WARPSEAL_CBC, iv_, 16, in_, out_, n),
                  WARPSEAL_INVALID_ARGUMENT)
            << n;
        size_t written = 0;
        EXPECT_EQ(warpseal_decrypt_padded(key_.get(), iv_, 16, in_, n, out_, 64, &written),
                  WARPSEAL_INVALID_ARGUMENT)
            << n;
        const uint64_t lengths[2] = {16, n}, offsets[2] = {0, 16};
        warpseal_batch b = batch();
        b.iv_stride = b.iv_bytes = 16;
        b.tag_bytes = 0;
        b.lengths = lengths;
        b.in_offsets = b.out_offsets = offsets;
        EXPECT_EQ(warpseal_encrypt_batch(key_.get(), WARPSEAL_CBC, &b), WARPSEAL_INVALID_ARGUMENT)
            << n;
    }
    EXPECT_TRUE(untouched());
}

TEST_F(Limits,
       MoreTextThanGcmAllows) {  // SP 800-38D 5.2.1.1; nothing is read or written, so small buffers
                                 // suffice
    const size_t most = (size_t{1} << 36) - 32;
    for (const size_t n : {most + 1, most + 32, size_t{1} << 40}) {
        EXPECT_EQ(seal(12, 16, n), WARPSEAL_LIMIT_EXCEEDED) << n;
        EXPECT_EQ(open(12, 16, n), WARPSEAL_LIMIT_EXCEEDED) << n;
        uint8_t iv[12];
        EXPECT_EQ(warpseal_seal(key_.get(), WARPSEAL_GCM, iv, nullptr, 0, in_, out_, n, tag_, 16),
                  WARPSEAL_LIMIT_EXCEEDED)
            << n;
        warpseal_batch b = batch();
        uint64_t lengths[2] = {16, n};
        uint64_t offsets[2] = {0, 16};
        b.lengths = lengths;
        b.in_offsets = b.out_offsets = offsets;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b),
                  WARPSEAL_LIMIT_EXCEEDED)
            << n;
        EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &b), WARPSEAL_LIMIT_EXCEEDED) << n;
    }
    EXPECT_TRUE(untouched());
}

// No object is that long, and rounding such a length up to whole chunks would give zero. All modes
// but GCM, whose standard forbids it.
TEST_F(Limits, LengthsBeyondAnyMemory) {
    const auto bad = WARPSEAL_INVALID_ARGUMENT;
    uint8_t* const far = reinterpret_cast<uint8_t*>(uintptr_t{1} << 63);
    const targets::KeyHandle xts = [&] {
        warpseal_key* made = nullptr;
        Text pair(64, 0x42);
        pair[0] = 1;
        EXPECT_EQ(
            warpseal_key_create_xts(engine_.get(), "aes-256", pair.data(), pair.size(), &made),
            WARPSEAL_OK);
        return targets::KeyHandle(made);
    }();
    for (const size_t n :
         {size_t{PTRDIFF_MAX} + 1, SIZE_MAX / 16 * 15, SIZE_MAX - 31, SIZE_MAX - 15}) {
        SCOPED_TRACE(n);
        const size_t whole = n / 16 * 16;
        for (const warpseal_mode mode :
             {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
            const size_t iv_bytes = mode == WARPSEAL_ECB ? 0 : 16;
            EXPECT_EQ(warpseal_encrypt(key_.get(), mode, iv_, iv_bytes, out_, out_, whole), bad)
                << mode;
            EXPECT_EQ(warpseal_decrypt(key_.get(), mode, iv_, iv_bytes, out_, out_, whole), bad)
                << mode;
        }
        size_t written = 0;
        EXPECT_EQ(warpseal_encrypt_padded(key_.get(), iv_, 16, far, n - 1, in_, SIZE_MAX, &written),
                  bad);
        EXPECT_EQ(
            warpseal_decrypt_padded(key_.get(), iv_, 16, out_, whole, out_, SIZE_MAX, &written),
            bad);
        EXPECT_EQ(warpseal_xts_encrypt(xts.get(), iv_, 32, out_, out_, n / 32 * 32), bad);
        EXPECT_EQ(warpseal_xts_decrypt(xts.get(), iv_, 32, out_, out_, n / 32 * 32), bad);
        for (const size_t iv_bytes : {7, 12}) {
            const auto text = iv_bytes == 7 ? bad : WARPSEAL_LIMIT_EXCEEDED;
            EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, iv_bytes, nullptr, 0,
                                              out_, out_, n, tag_, 16),
                      text);
            EXPECT_EQ(warpseal_open(key_.get(), WARPSEAL_CCM, iv_, iv_bytes, nullptr, 0, out_, out_,
                                    n, tag_, 16),
                      text);
            EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_CCM, iv_, iv_bytes, in_, n, in_,
                                              out_, 16, tag_, 16),
                      bad);
        }
        EXPECT_EQ(seal(12, 16, n), WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, n, nullptr, 0, in_, out_,
                                          16, tag_, 16),
                  WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, 12, in_, n, in_, out_, 16,
                                          tag_, 16),
                  WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(warpseal_mac(key_.get(), WARPSEAL_CMAC, in_, n, tag_, 16), bad);
        EXPECT_EQ(warpseal_mac_verify(key_.get(), WARPSEAL_CMAC, in_, n, tag_, 16), bad);
        const uint64_t lengths[2] = {16, whole}, offsets[2] = {0, whole};
        for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
            warpseal_batch b = batch();
            b.iv_stride = b.iv_bytes = 16;
            b.tag_bytes = 0;
            b.message_count = 1;
            b.message_bytes = whole;
            EXPECT_EQ(warpseal_encrypt_batch(key_.get(), mode, &b), bad) << mode;
            b.message_count = 2;
            b.lengths = lengths;
            EXPECT_EQ(warpseal_encrypt_batch(key_.get(), mode, &b), bad) << mode;
            b.lengths = nullptr;
            b.message_bytes = 16;
            b.in_offsets = b.out_offsets = offsets;
            EXPECT_EQ(warpseal_decrypt_batch(key_.get(), mode, &b), bad) << mode;
        }
        warpseal_batch b = batch();
        b.aad = in_;
        b.aad_bytes = n;
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_CCM, &b), bad);
        b = batch();
        b.iv_stride = b.iv_bytes = 0;
        b.out = nullptr;
        b.message_count = 1;
        b.message_bytes = n;
        EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), bad);
    }
    EXPECT_TRUE(untouched());
}

// SP 800-38D 8.3, with the count set forward: 2^32 calls that draw an IV, and no further one.
TEST_F(Limits, MoreRandomIvsThanGcmAllows) {
    uint8_t iv[12];
    const auto draw = [&] {
        return warpseal_seal(key_.get(), WARPSEAL_GCM, iv, nullptr, 0, in_, out_, 32, tag_, 16);
    };
    key_->key->random_ivs = (uint64_t{1} << 32) - 1;
    EXPECT_EQ(draw(), WARPSEAL_OK);
    poison();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(draw(), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_TRUE(untouched());
    EXPECT_EQ(seal(12, 16), WARPSEAL_OK);
}

TEST_F(Limits, NullPointers) {
    warpseal_engine* engine = nullptr;
    warpseal_key* key = nullptr;
    EXPECT_EQ(warpseal_engine_create(nullptr, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_key_create(nullptr, "aes-128", in_, 16, &key), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_key_create(engine_.get(), nullptr, in_, 16, &key),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_key_create(engine_.get(), "aes-128", nullptr, 16, &key),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_key_create(engine_.get(), "aes-128", in_, 16, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_encrypt(nullptr, WARPSEAL_CTR, iv_, 16, in_, out_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_encrypt(key_.get(), WARPSEAL_CTR, nullptr, 16, in_, out_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_encrypt(key_.get(), WARPSEAL_CTR, iv_, 16, nullptr, out_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_encrypt(key_.get(), WARPSEAL_CTR, iv_, 16, in_, nullptr, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal(key_.get(), WARPSEAL_GCM, nullptr, nullptr, 0, in_, out_, 16, tag_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, nullptr, 12, nullptr, 0, in_, out_,
                                      16, tag_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 1, in_, out_, 16,
                                      tag_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_, 16,
                                      nullptr, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(
        warpseal_open(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_, 16, nullptr, 16),
        WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_open(nullptr, WARPSEAL_GCM, iv_, 12, nullptr, 0, in_, out_, 16, tag_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    for (const auto remove :
         {+[](warpseal_batch& b) { b.ivs = nullptr; }, +[](warpseal_batch& b) { b.in = nullptr; },
          +[](warpseal_batch& b) { b.out = nullptr; }, +[](warpseal_batch& b) { b.tags = nullptr; },
          +[](warpseal_batch& b) { b.aad_bytes = 1; }, +[](warpseal_batch& b) { b.reserved = 1; },
          +[](warpseal_batch& b) { b.statuses = nullptr; },
          +[](warpseal_batch& b) { b.struct_bytes = 0; }}) {
        warpseal_batch b = batch();
        remove(b);
        EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT);
    }
    EXPECT_TRUE(untouched());
    EXPECT_EQ(engine, nullptr);
    EXPECT_EQ(key, nullptr);
    // Empty calls need no pointers.
    EXPECT_EQ(warpseal_encrypt(key_.get(), WARPSEAL_CTR, iv_, 16, nullptr, nullptr, 0),
              WARPSEAL_OK);
    EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, nullptr,
                                      nullptr, 0, tag_, 16),
              WARPSEAL_OK);
    EXPECT_EQ(
        warpseal_open(key_.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, nullptr, nullptr, 0, tag_, 16),
        WARPSEAL_OK);
    warpseal_key_destroy(nullptr);
    warpseal_engine_destroy(nullptr);
}

TEST_F(Limits, ModesInTheWrongCall) {
    for (const int mode : {-1, static_cast<int>(WARPSEAL_MODE_COUNT), 1000}) {
        EXPECT_NE(encrypt(static_cast<warpseal_mode>(mode), 16, 32), WARPSEAL_OK) << mode;
        EXPECT_EQ(warpseal_mode_name(static_cast<warpseal_mode>(mode)), nullptr) << mode;
    }
    const uint8_t unit[16] = {};
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m) {
        const auto mode = static_cast<warpseal_mode>(m);
        const bool aead = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM, mac = mode == WARPSEAL_CMAC;
        const bool plain = !aead && !mac && mode != WARPSEAL_XTS;
        const auto bad = WARPSEAL_INVALID_ARGUMENT;
        SCOPED_TRACE(warpseal_mode_name(mode));
        if (!plain) {
            for (const size_t iv_bytes : {0, 12, 16}) EXPECT_EQ(encrypt(mode, iv_bytes, 32), bad);
            EXPECT_EQ(warpseal_decrypt(key_.get(), mode, iv_, 16, in_, out_, 32), bad);
        }
        if (!aead) {
            EXPECT_EQ(warpseal_seal_unsafe_iv(key_.get(), mode, iv_, 12, nullptr, 0, in_, out_, 32,
                                              tag_, 16),
                      bad);
            EXPECT_EQ(warpseal_internal_open(key_.get(), mode, iv_, 12, nullptr, 0, in_, out_, 32,
                                             tag_, 16),
                      bad);
        }
        if (!mac) {
            EXPECT_EQ(warpseal_mac(key_.get(), mode, in_, 32, tag_, 16), bad);
            EXPECT_EQ(warpseal_mac_verify(key_.get(), mode, in_, 32, tag_, 16), bad);
        }
        for (const uint32_t iv_bytes : {0u, 12u, 16u}) {
            warpseal_batch b = batch();
            b.iv_stride = b.iv_bytes = iv_bytes;
            b.tag_bytes = plain ? 0 : 16;
            if (!plain || mode == WARPSEAL_ECB) {
                EXPECT_EQ(warpseal_encrypt_batch(key_.get(), mode, &b), bad);
                EXPECT_EQ(warpseal_decrypt_batch(key_.get(), mode, &b), bad);
            }
            if (!aead) {
                EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), mode, &b), bad);
                EXPECT_EQ(warpseal_open_batch(key_.get(), mode, &b), bad);
            }
            if (mac) b.out = nullptr;
            if (!mac) {
                EXPECT_EQ(warpseal_mac_batch(key_.get(), mode, &b), bad);
                EXPECT_EQ(warpseal_mac_verify_batch(key_.get(), mode, &b), bad);
            }
        }
    }
    EXPECT_EQ(warpseal_xts_encrypt(key_.get(), unit, 16, in_, out_, 32), WARPSEAL_INVALID_ARGUMENT)
        << "not a key of XTS";
    EXPECT_EQ(warpseal_xts_decrypt(key_.get(), unit, 16, in_, out_, 32), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(untouched());
}

TEST_F(Limits, KeysAndNames) {
    warpseal_key* key = nullptr;
    for (size_t n = 0; n <= 64; ++n)
        for (const warpseal_cipher_info& cipher : targets::ciphers()) {
            if (n == cipher.key_bytes) continue;
            EXPECT_EQ(warpseal_key_create(engine_.get(), cipher.name, in_, n, &key),
                      WARPSEAL_INVALID_ARGUMENT)
                << cipher.name << " " << n;
        }
    for (const char* name : {"", "aes", "aes-257", "AES-256", "aes-256 ", "aes-256-gcm"})
        EXPECT_EQ(warpseal_key_create(engine_.get(), name, in_, 32, &key), WARPSEAL_UNSUPPORTED)
            << name;
    EXPECT_EQ(key, nullptr);
}

TEST_F(Limits, DevicesThatCannotBeUsed) {
    for (const char* name :
         {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "vaes", "vaes512 ", "avx", "avx512"}) {
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.device = name;
        warpseal_engine* engine = nullptr;
        EXPECT_NE(warpseal_engine_create(&options, &engine), WARPSEAL_OK) << name;
        EXPECT_EQ(engine, nullptr);
    }
    for (const warpseal_target_info& target : targets::all()) {
        if (target.usable) continue;
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.device = target.name;
        warpseal_engine* engine = nullptr;
        EXPECT_EQ(warpseal_engine_create(&options, &engine), WARPSEAL_NO_DEVICE) << target.name;
        EXPECT_EQ(engine, nullptr);
    }
}

// SP 800-38D 7.2: FAIL releases no plaintext. Through every call that opens, in place and not, on
// every target.
TEST_F(Limits, FailedOpensWipeTheOutput) {
    tests::Random random(51);
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable) continue;
        const auto engine = targets::engine(target.name, 2);
        const auto key = targets::key(engine, "aes-128", Text(16, 9));
        for (const size_t n : {size_t{1}, size_t{15}, size_t{16}, size_t{4097}, size_t{1} << 20,
                               (size_t{5} << 20) + 3}) {
            Text in = random.text(n), out(n, 0xa5), tag(16, 0), same = in;
            EXPECT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, in.data(),
                                    out.data(), n, tag.data(), 16),
                      WARPSEAL_NOT_AUTHENTIC);
            EXPECT_TRUE(out == Text(n, 0)) << target.name << " " << n;
            EXPECT_EQ(warpseal_open(key.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0, same.data(),
                                    same.data(), n, tag.data(), 12),
                      WARPSEAL_NOT_AUTHENTIC);
            EXPECT_TRUE(same == Text(n, 0)) << target.name << " " << n;
            out.assign(n, 0xa5);
            EXPECT_EQ(warpseal_internal_open(key.get(), WARPSEAL_GCM, iv_, 12, nullptr, 0,
                                             in.data(), out.data(), n, tag.data(), 16),
                      WARPSEAL_NOT_AUTHENTIC);
            EXPECT_TRUE(out == Text(n, 0)) << target.name << " " << n;
        }
    }
}

}  // namespace
