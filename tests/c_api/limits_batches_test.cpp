// Batches of the public calls: which pointers may be null, and which messages may share an IV.
#include "limits.h"

namespace {

using tests::Limits;
using vectors::Text;

// A mode of batches, and the call that encrypts in it.
struct BatchMode {
    warpseal_mode mode;
    uint32_t iv_bytes, tag_bytes;
    decltype(&warpseal_encrypt_batch) encrypt, decrypt;
};
constexpr BatchMode batch_modes[] = {
    {WARPSEAL_CTR, 16, 0, warpseal_encrypt_batch, warpseal_decrypt_batch},
    {WARPSEAL_CBC, 16, 0, warpseal_encrypt_batch, warpseal_decrypt_batch},
    {WARPSEAL_CFB, 16, 0, warpseal_encrypt_batch, warpseal_decrypt_batch},
    {WARPSEAL_OFB, 16, 0, warpseal_encrypt_batch, warpseal_decrypt_batch},
    {WARPSEAL_GCM, 12, 16, warpseal_seal_batch_unsafe_iv, warpseal_open_batch},
    {WARPSEAL_CCM, 12, 16, warpseal_seal_batch_unsafe_iv, warpseal_open_batch},
    {WARPSEAL_CMAC, 0, 16, warpseal_mac_batch, warpseal_mac_verify_batch},
};

warpseal_batch of_mode(warpseal_batch batch, const BatchMode& mode) {
    batch.iv_bytes = mode.iv_bytes, batch.iv_stride = mode.iv_bytes;
    batch.tag_bytes = mode.tag_bytes;
    if (mode.tag_bytes == 0) batch.tags = nullptr;
    if (mode.mode == WARPSEAL_CMAC) batch.ivs = nullptr, batch.out = nullptr;
    return batch;
}

// On every target, with lengths and without.
TEST_F(Limits, EmptyMessagesNeedNoText) {
    const uint64_t none[2] = {0, 0}, some[2] = {0, 16};
    const uint64_t offsets[2] = {1 << 20, 0};
    for (const warpseal_target_info& target : targets::all()) {
        if (!target.usable || std::string(target.name) == "cuda") continue;
        const auto engine = targets::engine(target.name);
        const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
        for (const BatchMode& mode : batch_modes) {
            SCOPED_TRACE(std::string(target.name) + ", " + warpseal_mode_name(mode.mode));
            warpseal_batch with = of_mode(batch(), mode);
            with.message_bytes = 0;
            poison();
            ASSERT_EQ(mode.encrypt(key.get(), mode.mode, &with), WARPSEAL_OK);
            const Text tags(tag_, tag_ + sizeof tag_);
            for (const uint64_t* lengths : {static_cast<const uint64_t*>(nullptr), none}) {
                warpseal_batch without = with;
                without.lengths = lengths;
                without.message_bytes = lengths != nullptr ? 32 : 0;
                without.in = nullptr, without.out = nullptr;
                without.in_offsets = without.out_offsets = lengths != nullptr ? offsets : nullptr;
                poison();
                ASSERT_EQ(mode.encrypt(key.get(), mode.mode, &without), WARPSEAL_OK);
                ASSERT_EQ(Text(tag_, tag_ + sizeof tag_), tags);
                ASSERT_EQ(mode.decrypt(key.get(), mode.mode, &without), WARPSEAL_OK);
                if (mode.tag_bytes == 0) continue;
                tag_[17] ^= 1;
                ASSERT_EQ(mode.decrypt(key.get(), mode.mode, &without), WARPSEAL_NOT_AUTHENTIC);
            }
            warpseal_batch one = with;
            one.lengths = some;
            one.in = nullptr;
            poison();
            ASSERT_EQ(mode.encrypt(key.get(), mode.mode, &one), WARPSEAL_INVALID_ARGUMENT);
            one = with;
            one.lengths = some;
            one.out = nullptr;
            if (mode.mode != WARPSEAL_CMAC) {
                ASSERT_EQ(mode.encrypt(key.get(), mode.mode, &one), WARPSEAL_INVALID_ARGUMENT);
            }
            ASSERT_TRUE(untouched());
        }
    }
}

TEST_F(Limits, MessagesUnderOneKeyHaveIvsOfTheirOwn) {
    const uint8_t keys[64] = {7};
    for (const BatchMode& mode : batch_modes) {
        if (mode.iv_bytes == 0) continue;
        const bool keystream = mode.mode != WARPSEAL_CBC && mode.mode != WARPSEAL_CFB;
        for (const uint64_t stride : {uint64_t{0}, uint64_t{1}, uint64_t{mode.iv_bytes} - 1}) {
            SCOPED_TRACE(std::string(warpseal_mode_name(mode.mode)) + ", " +
                         std::to_string(stride));
            warpseal_batch b = of_mode(batch(), mode);
            b.iv_stride = stride;
            poison();
            EXPECT_EQ(mode.encrypt(key_.get(), mode.mode, &b),
                      keystream ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK);
            if (keystream) {
                EXPECT_TRUE(untouched());
            }
            const warpseal_status opened = mode.decrypt(key_.get(), mode.mode, &b);
            EXPECT_TRUE(opened == WARPSEAL_OK || opened == WARPSEAL_NOT_AUTHENTIC)
                << "decryption gives nothing away";
            b.keys = keys;
            EXPECT_EQ(mode.encrypt(key_.get(), mode.mode, &b), WARPSEAL_OK)
                << "each message has its key";
            b.keys = nullptr;
            b.message_count = 1;
            EXPECT_EQ(mode.encrypt(key_.get(), mode.mode, &b), WARPSEAL_OK) << "one message";
        }
    }
}

// Addresses of messages are computed as products and sums that must not wrap.
TEST_F(Limits, StridesAndLengthsBeyondAnyMemory) {
    for (uint64_t warpseal_batch::*const stride :
         {&warpseal_batch::iv_stride, &warpseal_batch::aad_stride, &warpseal_batch::tag_stride,
          &warpseal_batch::in_stride, &warpseal_batch::out_stride})
        for (const uint64_t bytes : {uint64_t{1} << 62, uint64_t{1} << 63, UINT64_MAX}) {
            warpseal_batch b = batch();
            b.*stride = bytes;
            EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b),
                      WARPSEAL_INVALID_ARGUMENT)
                << bytes;
        }
    const uint64_t lengths[3] = {uint64_t{1} << 61, uint64_t{1} << 61, (uint64_t{1} << 61) + 16},
                   offsets[3] = {0, 0, 0};
    warpseal_batch b = of_mode(batch(), batch_modes[0]);
    b.message_count = 3;
    b.lengths = lengths;
    b.in_offsets = b.out_offsets = offsets;
    b.in = out_;
    EXPECT_EQ(warpseal_decrypt_batch(key_.get(), WARPSEAL_CTR, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_TRUE(untouched());
}

// Lengths of their own may make a message run into the output after it.
TEST_F(Limits, MessagesOfABatchOverlapByTheirLengths) {
    const struct {
        uint64_t lengths[3], out_stride;
        bool right;
    } cases[] = {{{16, 16, 16}, 16, true}, {{17, 16, 16}, 16, false}, {{16, 16, 32}, 16, true},
                 {{32, 0, 16}, 16, true},  {{33, 0, 16}, 16, false},  {{0, 0, 16}, 0, true},
                 {{16, 0, 1}, 0, false}};
    for (const auto& one : cases) {
        warpseal_batch b = of_mode(batch(), batch_modes[0]);
        uint8_t in[96] = {};
        b.message_count = 3;
        b.lengths = one.lengths;
        b.in = in;
        b.in_stride = 32;
        b.out_stride = one.out_stride;
        EXPECT_EQ(warpseal_decrypt_batch(key_.get(), WARPSEAL_CTR, &b),
                  one.right ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << one.lengths[0] << ", " << one.lengths[1] << ", " << one.lengths[2];
    }
}

TEST_F(Limits, MessagesOfABatchOverlapByTheirOffsets) {
    const uint64_t in_offsets[1] = {0};
    for (const uint64_t out_offset : {0, 1, 8, 15, 16, 40}) {
        warpseal_batch b = of_mode(batch(), batch_modes[0]);
        b.message_count = 1;
        b.in = out_;
        b.in_offsets = in_offsets;
        b.out_offsets = &out_offset;
        poison();
        const bool apart = out_offset == 0 || out_offset >= 16;
        EXPECT_EQ(warpseal_encrypt_batch(key_.get(), WARPSEAL_CTR, &b),
                  apart ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << out_offset;
        if (!apart) {
            EXPECT_TRUE(untouched()) << out_offset;
        }
    }
}

TEST_F(Limits, ATagHasNoOutputBesideIt) {
    warpseal_batch b = of_mode(batch(), batch_modes[6]);
    EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), WARPSEAL_OK);
    b.out = out_;
    EXPECT_EQ(warpseal_mac_batch(key_.get(), WARPSEAL_CMAC, &b), WARPSEAL_INVALID_ARGUMENT);
}

}  // namespace
