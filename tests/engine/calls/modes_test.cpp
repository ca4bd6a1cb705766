// The engine's modes on this machine's cores: splits of CBC, CFB and XTS with equal outputs,
// padding, and keys that do not encrypt.
#include <algorithm>

#include "backends/batch_message.h"
#include "engine/engines.h"
#include "engine/fake_cores.h"
#include "engine/targets.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::create;
using tests::key_of;
using tests::Text;

// ---- splits

// CBC and CFB decryption and XTS, in shards and in place: one shard's output overwrites the next
// one's input.
TEST(Split, FeedbackAndUnitsDoNotChangeTheOutput) {
    for (const Target target : cpu_targets_best_first) {
        if (!cpu_has(target)) continue;
        std::unique_ptr<Engine> one, many;
        ASSERT_EQ(create(target_name(target), one, 1), WARPSEAL_OK);
        ASSERT_EQ(create(target_name(target), many, 5), WARPSEAL_OK);
        const auto key_one = key_of(*one), key_many = key_of(*many);
        const Text secret = tests::pattern(64, 1), iv = tests::pattern(16, 6);
        std::unique_ptr<Key> xts_one, xts_many;
        ASSERT_EQ(one->key("aes-256", {secret.data(), 64}, xts_one, KeyKind::xts), WARPSEAL_OK);
        ASSERT_EQ(many->key("aes-256", {secret.data(), 64}, xts_many, KeyKind::xts), WARPSEAL_OK);
        const size_t base = target == Target::portable ? 200000 : 3000000;
        for (const size_t bytes :
             {base, base / 65536 * 65536, base / 65536 * 65536 + 16, base + 4097}) {
            const Text text = tests::pattern(bytes, 5);
            for (const warpseal_mode mode : {WARPSEAL_CBC, WARPSEAL_CFB}) {
                const size_t n = mode == WARPSEAL_CBC ? bytes / 16 * 16 : bytes;
                Text sealed(n), apart(n, 0xa5);
                ASSERT_EQ(one->message(*key_one, mode, Direction::encrypt, {iv.data(), 16},
                                       text.data(), sealed.data(), n),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, mode, Direction::decrypt, {iv.data(), 16},
                                        sealed.data(), apart.data(), n),
                          WARPSEAL_OK);
                ASSERT_EQ(many->message(*key_many, mode, Direction::decrypt, {iv.data(), 16},
                                        sealed.data(), sealed.data(), n),
                          WARPSEAL_OK);
                EXPECT_TRUE(apart == Text(text.begin(), text.begin() + static_cast<ptrdiff_t>(n)) &&
                            sealed == apart)
                    << target_name(target) << " " << mode << " " << n;
            }
            for (const uint64_t unit_bytes : {uint64_t{16}, uint64_t{1000}, uint64_t{4096},
                                              uint64_t{100001}, uint64_t{16} << 20}) {
                if (bytes % unit_bytes != 0 && bytes % unit_bytes < 16) continue;
                const XtsUnits units = {{0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                        unit_bytes};
                Text alone(bytes), split(bytes), in_place(text);
                ASSERT_EQ(
                    one->xts(*xts_one, Direction::encrypt, units, text.data(), alone.data(), bytes),
                    WARPSEAL_OK);
                ASSERT_EQ(many->xts(*xts_many, Direction::encrypt, units, text.data(), split.data(),
                                    bytes),
                          WARPSEAL_OK);
                ASSERT_EQ(many->xts(*xts_many, Direction::encrypt, units, in_place.data(),
                                    in_place.data(), bytes),
                          WARPSEAL_OK);
                EXPECT_TRUE(split == alone && in_place == alone)
                    << target_name(target) << " " << unit_bytes << " " << bytes;
                ASSERT_EQ(many->xts(*xts_many, Direction::decrypt, units, in_place.data(),
                                    in_place.data(), bytes),
                          WARPSEAL_OK);
                EXPECT_TRUE(in_place == text)
                    << target_name(target) << " " << unit_bytes << " " << bytes;
            }
        }
    }
}

// ---- padding

TEST(Padding, IsAddedAndRemoved) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    const auto key = key_of(*engine);
    const Text iv = tests::pattern(16, 6);
    for (size_t bytes = 0; bytes <= 100; ++bytes) {
        const Text text = tests::pattern(bytes, 5);
        const size_t whole = (bytes / 16 + 1) * 16;
        Text padded = text, expected(whole), out(whole, 0xa5), in_place(whole);
        padded.resize(whole, static_cast<uint8_t>(whole - bytes));
        ASSERT_EQ(engine->message(*key, WARPSEAL_CBC, Direction::encrypt, {iv.data(), 16},
                                  padded.data(), expected.data(), whole),
                  WARPSEAL_OK);
        size_t written = 77;
        EXPECT_EQ(engine->padded(*key, Direction::encrypt, {iv.data(), 16}, text.data(), bytes,
                                 out.data(), whole - 1, &written),
                  WARPSEAL_INVALID_ARGUMENT)
            << "no room";
        EXPECT_EQ(written, 0u);
        EXPECT_EQ(out, Text(whole, 0xa5));
        ASSERT_EQ(engine->padded(*key, Direction::encrypt, {iv.data(), 16}, text.data(), bytes,
                                 out.data(), whole, &written),
                  WARPSEAL_OK);
        EXPECT_EQ(written, whole);
        EXPECT_EQ(out, expected);
        std::copy(text.begin(), text.end(), in_place.begin());
        ASSERT_EQ(engine->padded(*key, Direction::encrypt, {iv.data(), 16}, in_place.data(), bytes,
                                 in_place.data(), whole, &written),
                  WARPSEAL_OK);
        EXPECT_EQ(in_place, expected) << "in place";
        EXPECT_EQ(engine->padded(*key, Direction::decrypt, {iv.data(), 16}, in_place.data(), whole,
                                 out.data(), whole - 1, &written),
                  WARPSEAL_INVALID_ARGUMENT);
        ASSERT_EQ(engine->padded(*key, Direction::decrypt, {iv.data(), 16}, in_place.data(), whole,
                                 in_place.data(), whole, &written),
                  WARPSEAL_OK);
        ASSERT_EQ(written, bytes);
        EXPECT_TRUE(std::equal(text.begin(), text.end(), in_place.begin()));
    }
    Text block(32);
    size_t written = 0;
    for (size_t bytes = 0; bytes <= 32; ++bytes)
        if (bytes % 16 != 0 || bytes == 0) {
            EXPECT_EQ(engine->padded(*key, Direction::decrypt, {iv.data(), 16}, block.data(), bytes,
                                     block.data(), 32, &written),
                      WARPSEAL_INVALID_ARGUMENT);
        }
    EXPECT_EQ(engine->padded(*key, Direction::encrypt, {iv.data(), 16}, block.data(), 16,
                             block.data() + 8, 24, &written),
              WARPSEAL_INVALID_ARGUMENT)
        << "out overlaps its in";
}

// Every last byte value, and each padding byte wrong in turn.
TEST(Padding, InvalidPaddingIsRefusedAndZeroized) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(create("cpu", engine), WARPSEAL_OK);
    const auto key = key_of(*engine);
    const Text iv = tests::pattern(16, 6);
    const auto status_of = [&](const Text& plaintext, size_t& written) {
        Text sealed(plaintext.size());
        EXPECT_EQ(engine->message(*key, WARPSEAL_CBC, Direction::encrypt, {iv.data(), 16},
                                  plaintext.data(), sealed.data(), sealed.size()),
                  WARPSEAL_OK);
        const warpseal_status status =
            engine->padded(*key, Direction::decrypt, {iv.data(), 16}, sealed.data(), sealed.size(),
                           sealed.data(), sealed.size(), &written);
        if (status == WARPSEAL_BAD_PADDING) {
            EXPECT_EQ(sealed, Text(sealed.size()));
        }
        return status;
    };
    size_t written = 0;
    for (int last = 0; last < 256; ++last) {
        Text plaintext(48, static_cast<uint8_t>(last));
        const bool good = last >= 1 && last <= 16;
        EXPECT_EQ(status_of(plaintext, written), good ? WARPSEAL_OK : WARPSEAL_BAD_PADDING) << last;
        EXPECT_EQ(written, good ? 48u - static_cast<size_t>(last) : 0u);
        for (int i = 2; good && i <= 16; ++i) {
            Text changed = plaintext;
            changed[48 - i] ^= 0x80;
            EXPECT_EQ(status_of(changed, written), i <= last ? WARPSEAL_BAD_PADDING : WARPSEAL_OK)
                << last << " " << i;
        }
    }
}

// ---- keys that do not encrypt

// Nor in device memory. A weak key for each message of a batch is another check.
TEST(WeakKeys, DecryptOnlyInDeviceMemory) {
    for (const WeakKeys weak : {WeakKeys::refused, WeakKeys::allowed}) {
        EngineOptions options;
        options.device = "cuda";
        options.cuda = tests::fake_backend();
        options.cores = tests::choosy_cipher;
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        const Text bad(32, 9);
        std::unique_ptr<Key> key;
        ASSERT_EQ(engine->key("aes-256", {bad.data(), 32}, key, KeyKind::one, weak), WARPSEAL_OK);
        const GpuBackend& backend = *engine->cuda();
        void* memory = nullptr;
        ASSERT_EQ(backend.device_alloc(0, 64, &memory), WARPSEAL_OK);
        auto* const text = static_cast<uint8_t*>(memory);
        warpseal_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.message_count = 1;
        batch.message_bytes = 48;
        batch.in = batch.out = text;
        batch.iv_bytes = 16;
        batch.ivs = text + 48;
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const auto right = weak == WeakKeys::refused && direction == Direction::encrypt
                                   ? WARPSEAL_WEAK_KEY
                                   : WARPSEAL_OK;
            EXPECT_EQ(
                engine->batch_device(*key, WARPSEAL_CTR, direction, as_scattered(batch), nullptr),
                right);
            EXPECT_EQ(
                engine->sweep_device(*key, WARPSEAL_ECB, direction, {}, text, text, 48, nullptr),
                right);
        }
        backend.device_free(0, memory, 64);
    }
}

// A message in GCM verifies without being opened.
TEST(VerifyGcm, AgreesWithOpening) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(tests::create("cpu", engine), WARPSEAL_OK);
    for (const char* const cipher : {"aes-128", "aria-256"}) {
        const auto key = tests::key_of(*engine, cipher);
        const Text iv = tests::pattern(12, 3);
        for (size_t bytes = 0; bytes < 70; ++bytes) {
            const Text text = tests::pattern(bytes, 4);
            Text sealed(bytes + 1), tag(16);
            ASSERT_EQ(engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, text.data(),
                                   sealed.data(), bytes, tag.data(), 16),
                      WARPSEAL_OK);
            const auto verify = [&] {
                return engine->verify_gcm(*key, {iv.data(), 12}, {sealed.data(), bytes}, tag.data(),
                                          16);
            };
            ASSERT_EQ(verify(), WARPSEAL_OK) << cipher << " " << bytes;
            tag[bytes % 16] ^= 1;
            EXPECT_EQ(verify(), WARPSEAL_NOT_AUTHENTIC);
            tag[bytes % 16] ^= 1;
            if (bytes == 0) continue;
            sealed[bytes - 1] ^= 0x80;
            EXPECT_EQ(verify(), WARPSEAL_NOT_AUTHENTIC) << cipher << " " << bytes;
        }
        EXPECT_EQ(engine->verify_gcm(*key, {iv.data(), 12}, {iv.data(), 12}, iv.data(), 0),
                  WARPSEAL_INVALID_ARGUMENT);
    }
}

TEST(WeakKeys, DecryptAndVerifyOnly) {
    for (const WeakKeys weak : {WeakKeys::refused, WeakKeys::allowed}) {
        EngineOptions options;
        options.device = "portable";
        options.cuda = nullptr;
        options.cores = tests::choosy_cipher;
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
        const Text bad(32, 9), good = tests::pattern(32, 1), iv(16);
        std::unique_ptr<Key> bad_key, good_key;
        ASSERT_EQ(engine->key("aes-256", {bad.data(), 32}, bad_key, KeyKind::one, weak),
                  WARPSEAL_OK);
        ASSERT_EQ(engine->key("aes-256", {good.data(), 32}, good_key, KeyKind::one, weak),
                  WARPSEAL_OK);
        const auto refused = weak == WeakKeys::refused ? WARPSEAL_WEAK_KEY : WARPSEAL_OK;
        uint8_t text[64] = {}, tag[16] = {};
        size_t written = 0;
        for (const warpseal_mode mode :
             {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB}) {
            const Bytes its_iv = {iv.data(), mode == WARPSEAL_ECB ? size_t{0} : 16};
            EXPECT_EQ(engine->message(*bad_key, mode, Direction::encrypt, its_iv, text, text, 64),
                      refused)
                << mode;
            EXPECT_EQ(engine->message(*bad_key, mode, Direction::decrypt, its_iv, text, text, 64),
                      WARPSEAL_OK)
                << mode;
            EXPECT_EQ(engine->message(*good_key, mode, Direction::encrypt, its_iv, text, text, 64),
                      WARPSEAL_OK)
                << mode;
        }
        EXPECT_EQ(engine->padded(*bad_key, Direction::encrypt, {iv.data(), 16}, text, 20, text, 64,
                                 &written),
                  refused);
        EXPECT_EQ(
            engine->seal(*bad_key, WARPSEAL_GCM, {iv.data(), 12}, {}, text, text, 64, tag, 16),
            refused);
        EXPECT_EQ(
            engine->seal(*bad_key, WARPSEAL_CCM, {iv.data(), 12}, {}, text, text, 64, tag, 16),
            refused);
        EXPECT_EQ(engine->open(*bad_key, WARPSEAL_CCM, {iv.data(), 12}, {}, text, text, 64,
                               good.data(), 16),
                  WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(engine->mac(*bad_key, WARPSEAL_CMAC, Direction::encrypt, {text, 64}, tag, 16),
                  refused);
        EXPECT_EQ(engine->mac(*bad_key, WARPSEAL_CMAC, Direction::decrypt, {text, 64}, text, 16),
                  WARPSEAL_NOT_AUTHENTIC);

        Text keys(good);
        keys.insert(keys.end(), bad.begin(), bad.end());
        warpseal_batch batch = {};
        batch.struct_bytes = sizeof batch;
        const Text ivs = tests::pattern(32, 13);
        batch.iv_bytes = 16, batch.message_count = 2,
        batch.message_bytes = batch.in_stride = batch.out_stride = 32;
        batch.ivs = ivs.data(), batch.iv_stride = 16, batch.in = text, batch.out = text;
        EXPECT_EQ(engine->batch(*bad_key, WARPSEAL_CTR, Direction::encrypt, batch), refused);
        EXPECT_EQ(engine->batch(*bad_key, WARPSEAL_CTR, Direction::decrypt, batch), WARPSEAL_OK);
        batch.keys = keys.data();
        std::memset(text, 7, sizeof text);
        EXPECT_EQ(engine->batch(*good_key, WARPSEAL_CTR, Direction::encrypt, batch), refused)
            << "the second key";
        EXPECT_EQ(text[0] == 7, weak == WeakKeys::refused);
        EXPECT_EQ(engine->batch(*good_key, WARPSEAL_CTR, Direction::decrypt, batch), WARPSEAL_OK);
        batch.message_count = 1;
        EXPECT_EQ(engine->batch(*bad_key, WARPSEAL_CTR, Direction::encrypt, batch), WARPSEAL_OK)
            << "the keys of the batch apply";
    }
}

}  // namespace
