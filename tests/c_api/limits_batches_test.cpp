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

}  // namespace
