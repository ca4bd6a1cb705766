// A message continued under another key equals one made under that key. A derived key equals one
// made by name.
#include <gtest/gtest.h>

#include <array>

#include "c_api/internal.h"
#include "c_api/internal_stream.h"
#include "support/random.h"
#include "support/targets.h"

namespace {

using targets::EngineHandle, targets::KeyHandle;
using Text = std::vector<uint8_t>;

struct EndMessage {
    void operator()(warpseal_internal_stream* message) const {
        warpseal_internal_stream_destroy(message);
    }
};
using MessageHandle = std::unique_ptr<warpseal_internal_stream, EndMessage>;

constexpr warpseal_mode modes[] = {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB,
                                   WARPSEAL_CTR, WARPSEAL_XTS, WARPSEAL_GCM};

KeyHandle make_key(const EngineHandle& engine, const warpseal_cipher_info& cipher,
                   warpseal_mode mode, const Text& bytes) {
    warpseal_key* out = nullptr;
    const auto create = mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
    EXPECT_EQ(create(engine.get(), cipher.name, bytes.data(), bytes.size(), &out), WARPSEAL_OK)
        << cipher.name;
    return KeyHandle(out);
}

KeyHandle key_like(const KeyHandle& like, const Text& bytes) {
    warpseal_key* out = nullptr;
    EXPECT_EQ(warpseal_internal_key_create_like(like.get(), bytes.data(), &out), WARPSEAL_OK);
    return KeyHandle(out);
}

MessageHandle make_message(const KeyHandle& key, warpseal_mode mode, bool decrypts) {
    warpseal_internal_stream* out = nullptr;
    EXPECT_EQ(warpseal_internal_stream_create(key.get(), mode, decrypts ? 1 : 0, &out),
              WARPSEAL_OK);
    return MessageHandle(out);
}

// Returns the output of several segments, with the tag.
Text run(const MessageHandle& message, warpseal_mode mode, size_t block, const Text& iv,
         const Text& in) {
    Text out(in.size()), tag(16);
    EXPECT_EQ(
        warpseal_internal_stream_init(message.get(), iv.data(), mode == WARPSEAL_ECB ? 0 : block),
        WARPSEAL_OK);
    const size_t first = mode == WARPSEAL_XTS ? 0 : 3 * block;
    EXPECT_EQ(warpseal_internal_stream_update(message.get(), in.data(), out.data(), first),
              WARPSEAL_OK);
    EXPECT_EQ(warpseal_internal_stream_update(message.get(), in.data() + first, out.data() + first,
                                              in.size() - first),
              WARPSEAL_OK);
    if (mode != WARPSEAL_GCM) return out;
    EXPECT_EQ(warpseal_internal_stream_tag(message.get(), tag.data(), tag.size()), WARPSEAL_OK);
    out.insert(out.end(), tag.begin(), tag.end());
    return out;
}

TEST(Rekey, IsANewMessageUnderThatKey) {
    tests::Random random(91);
    const EngineHandle engine = targets::engine("cpu");
    for (const warpseal_cipher_info& cipher : targets::ciphers())
        for (const warpseal_mode mode : modes) {
            if (!targets::has(cipher, mode)) continue;
            const size_t block = cipher.block_bytes,
                         bytes = size_t{cipher.key_bytes} * (mode == WARPSEAL_XTS ? 2 : 1);
            const Text first = random.text(bytes), iv = random.text(16),
                       in = random.text(24 * block);
            const KeyHandle one = make_key(engine, cipher, mode, first);
            for (const bool decrypts : {false, true}) {
                const MessageHandle message = make_message(one, mode, decrypts);
                (void)run(message, mode, block, iv, in);
                KeyHandle last;
                for (int i = 0; i < 3; ++i) {
                    const Text next = random.text(bytes);
                    KeyHandle other = key_like(one, next);
                    const KeyHandle reference_cipher = make_key(engine, cipher, mode, next);
                    ASSERT_EQ(warpseal_internal_key_made_of(other.get(), next.data()), 1);
                    ASSERT_EQ(warpseal_internal_stream_init(message.get(), iv.data(),
                                                            mode == WARPSEAL_ECB ? 0 : block),
                              WARPSEAL_OK);
                    last.reset();  // the message's own key
                    ASSERT_EQ(warpseal_internal_stream_rekey(message.get(), other.get()),
                              WARPSEAL_OK);
                    last = std::move(other);
                    Text nothing(block);
                    EXPECT_EQ(warpseal_internal_stream_update(message.get(), nothing.data(),
                                                              nothing.data(), block),
                              WARPSEAL_INVALID_ARGUMENT)
                        << "none is in progress";
                    EXPECT_EQ(
                        run(message, mode, block, iv, in),
                        run(make_message(reference_cipher, mode, decrypts), mode, block, iv, in))
                        << cipher.name << " " << warpseal_mode_name(mode) << " " << decrypts;
                }
            }
        }
}

TEST(Rekey, RefusesMismatchedKeys) {
    tests::Random random(92);
    const EngineHandle engine = targets::engine("cpu"), another = targets::engine("cpu");
    const Text sixteen = random.text(16), thirty_two = random.text(32);
    const KeyHandle key = targets::key(engine, "aes-128", sixteen),
                    other_cipher = targets::key(engine, "aria-128", sixteen),
                    longer = targets::key(engine, "aes-256", thirty_two),
                    elsewhere = targets::key(another, "aes-128", sixteen);
    warpseal_key* made = nullptr;
    ASSERT_EQ(warpseal_key_create_xts(engine.get(), "aes-128", thirty_two.data(), 32, &made),
              WARPSEAL_OK);
    const KeyHandle units(made);
    for (const KeyHandle* wrong : {&other_cipher, &longer, &elsewhere, &units}) {
        const MessageHandle message = make_message(key, WARPSEAL_CTR, false);
        EXPECT_EQ(warpseal_internal_stream_rekey(message.get(), wrong->get()),
                  WARPSEAL_INVALID_ARGUMENT);
    }
    EXPECT_EQ(warpseal_internal_stream_rekey(nullptr, key.get()), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_internal_stream_rekey(make_message(key, WARPSEAL_CTR, false).get(), nullptr),
              WARPSEAL_INVALID_ARGUMENT);
}

// Like keys made by name: weak keys do not encrypt, and equal XTS halves are refused.
TEST(Rekey, RefusesWeakKeys) {
    tests::Random random(93);
    const EngineHandle engine = targets::engine("cpu");
    const KeyHandle des = targets::key(engine, "des", random.text(8));
    const KeyHandle weak = key_like(des, Text(8, 0x01));
    const MessageHandle sealer = make_message(des, WARPSEAL_CBC, false),
                        opener = make_message(des, WARPSEAL_CBC, true);
    EXPECT_EQ(warpseal_internal_stream_rekey(sealer.get(), weak.get()), WARPSEAL_WEAK_KEY);
    EXPECT_EQ(warpseal_internal_stream_rekey(opener.get(), weak.get()), WARPSEAL_OK);
    warpseal_key* made = nullptr;
    Text halves = random.text(32);
    ASSERT_EQ(warpseal_key_create_xts(engine.get(), "aes-128", halves.data(), 32, &made),
              WARPSEAL_OK);
    const KeyHandle units(made);
    std::copy_n(halves.begin(), 16, halves.begin() + 16);
    EXPECT_EQ(warpseal_internal_key_create_like(units.get(), halves.data(), &made),
              WARPSEAL_WEAK_KEY);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(warpseal_internal_key_create_like(nullptr, halves.data(), &made),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_internal_key_create_like(units.get(), nullptr, &made),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_internal_key_create_like(units.get(), halves.data(), nullptr),
              WARPSEAL_INVALID_ARGUMENT);
}

}  // namespace
