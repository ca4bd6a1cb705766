// Batches whose messages lie anywhere give what the calls for single messages give, on every target
// of this machine.
#include "scattered_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "c_api/handles.h"
#include "support/random_source.h"

namespace {

using tests::Records;
using tests::SealedMessage;
using tests::Text;

constexpr size_t message_count = 300;

// A key on each usable target and on `auto`, with several threads and with one.
std::vector<std::pair<targets::EngineHandle, targets::KeyHandle>> keys() {
    std::vector<std::pair<targets::EngineHandle, targets::KeyHandle>> out;
    std::vector<std::pair<std::string, unsigned>> devices = {{"auto", 3}, {"cpu", 1}};
    for (const warpseal_target_info& target : targets::all())
        if (target.usable) devices.emplace_back(target.name, 2);
    for (const auto& [device, threads] : devices) {
        SCOPED_TRACE(device);
        targets::EngineHandle engine = targets::engine(device, threads);
        targets::KeyHandle key = targets::key(engine, "aes-256", Text(32, 0x42));
        out.emplace_back(std::move(engine), std::move(key));
    }
    return out;
}

TEST(ScatteredBatch, RecordsOpenInPlace) {
    for (const auto& [engine, key] : keys())
        for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM})
            for (const size_t aad_lengths : {size_t{1}, size_t{4}}) {
                const auto messages =
                    tests::sealed_messages(key.get(), mode, message_count, aad_lengths, 1);
                const Records plain(messages, false);
                Records records(messages);
                const warpseal_scattered_batch batch = records.batch();
                ASSERT_EQ(warpseal_open_batch(key.get(), mode, &batch.batch), WARPSEAL_OK)
                    << warpseal_last_error_message();
                for (size_t i = 0; i < messages.size(); ++i) {
                    ASSERT_EQ(records.text(i), messages[i].plaintext) << i;
                    ASSERT_EQ(records.tag(i), messages[i].tag) << i;
                    ASSERT_EQ(records.statuses[i], WARPSEAL_OK) << i;
                }
            }
}

// Several chunks on several threads: their ends lie within messages of one length of AAD.
TEST(ScatteredBatch, LongRecordsOnThreads) {
    const auto engine = targets::engine("cpu", 3);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    const auto messages =
        tests::sealed_messages(key.get(), WARPSEAL_GCM, 1000, 2, 10, size_t{1} << 17);
    Records records(messages);
    const warpseal_scattered_batch batch = records.batch();
    ASSERT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK)
        << warpseal_last_error_message();
    for (size_t i = 0; i < messages.size(); ++i)
        ASSERT_EQ(records.text(i), messages[i].plaintext) << i;
}

TEST(ScatteredBatch, RecordsAreSealedInPlace) {
    for (const auto& [engine, key] : keys())
        for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM}) {
            const auto messages = tests::sealed_messages(key.get(), mode, message_count, 4, 2);
            const Records sealed(messages);
            Records records(messages, false);
            const warpseal_scattered_batch batch = records.batch();
            ASSERT_EQ(warpseal_seal_batch_unsafe_iv(key.get(), mode, &batch.batch), WARPSEAL_OK)
                << warpseal_last_error_message();
            EXPECT_EQ(records.bytes, sealed.bytes);
            EXPECT_EQ(records.statuses, std::vector<int32_t>(message_count, WARPSEAL_OK));
        }
}

TEST(ScatteredBatch, OnlyForgedRecordsAreWiped) {
    for (const auto& [engine, key] : keys())
        for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM}) {
            const auto messages = tests::sealed_messages(key.get(), mode, message_count, 3, 3);
            Records records(messages);
            const std::set<size_t> forged = {0, 17, 100, 101, message_count - 1};
            for (const size_t i : forged) records.bytes[records.tags[i] + i % 16] ^= 1;
            records.bytes[records.ivs[50]] ^= 1;
            records.bytes[records.aads[60]] ^= 1;
            ASSERT_NE(records.aad_lengths[60], 0u + records.aad_lengths[0]);
            const warpseal_scattered_batch batch = records.batch();
            ASSERT_EQ(warpseal_open_batch(key.get(), mode, &batch.batch), WARPSEAL_NOT_AUTHENTIC);
            for (size_t i = 0; i < messages.size(); ++i) {
                const bool bad = forged.count(i) != 0 || i == 50 || i == 60;
                EXPECT_EQ(records.statuses[i], bad ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK) << i;
                EXPECT_EQ(records.text(i),
                          bad ? Text(messages[i].plaintext.size()) : messages[i].plaintext)
                    << i;
            }
        }
}

// Every part in a buffer of its own, so that the addresses are in no order.
TEST(ScatteredBatch, BuffersOfTheirOwn) {
    for (const auto& [engine, key] : keys())
        for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM}) {
            auto messages = tests::sealed_messages(key.get(), mode, message_count, 4, 4);
            const auto expected = messages;
            std::vector<const uint8_t*> in, aad;
            std::vector<uint8_t*> iv, tag, out;
            std::vector<uint64_t> lengths, aad_lengths;
            std::vector<int32_t> statuses(message_count, -1);
            for (SealedMessage& m : messages) {
                m.ciphertext.assign(m.plaintext.size(), 0xee);
                m.tag.assign(16, 0xee);
                const bool empty = m.plaintext.empty();
                in.push_back(empty ? nullptr : m.plaintext.data());
                out.push_back(empty ? nullptr : m.ciphertext.data());
                aad.push_back(m.aad.empty() ? nullptr : m.aad.data());
                iv.push_back(m.iv.data()), tag.push_back(m.tag.data());
                lengths.push_back(m.plaintext.size()), aad_lengths.push_back(m.aad.size());
            }
            warpseal_scattered_batch b{};
            b.batch.struct_bytes = sizeof b;
            b.batch.iv_bytes = 12, b.batch.tag_bytes = 16, b.batch.message_count = message_count;
            b.batch.lengths = lengths.data(), b.batch.statuses = statuses.data();
            b.in_pointers = in.data(), b.out_pointers = out.data(), b.iv_pointers = iv.data();
            b.aad_pointers = aad.data(), b.tag_pointers = tag.data();
            b.aad_lengths = aad_lengths.data();
            ASSERT_EQ(warpseal_seal_batch_unsafe_iv(key.get(), mode, &b.batch), WARPSEAL_OK)
                << warpseal_last_error_message();
            for (size_t i = 0; i < message_count; ++i) {
                ASSERT_EQ(messages[i].ciphertext, expected[i].ciphertext) << i;
                ASSERT_EQ(messages[i].tag, expected[i].tag) << i;
                in[i] = out[i];
            }
            ASSERT_EQ(warpseal_open_batch(key.get(), mode, &b.batch), WARPSEAL_OK);
            for (size_t i = 0; i < message_count; ++i)
                ASSERT_EQ(messages[i].ciphertext, expected[i].plaintext) << i;
        }
}

// Pointers that fall from message to message: the lowest address is the last one.
TEST(ScatteredBatch, TextAtFallingAddresses) {
    constexpr size_t count = 20, bytes = 48;
    const auto engine = targets::engine("cpu", 2);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    tests::Random random(12);
    const Text text = random.text(count * bytes), ivs = random.text(count * 16);
    Text expected(text.size()), got(text.size());
    warpseal_batch plain{};
    plain.struct_bytes = sizeof plain;
    plain.message_count = count, plain.message_bytes = bytes;
    plain.iv_bytes = 16, plain.iv_stride = 16, plain.ivs = ivs.data();
    plain.in = text.data(), plain.in_stride = plain.out_stride = bytes;
    plain.out = expected.data();
    ASSERT_EQ(warpseal_encrypt_batch(key.get(), WARPSEAL_CBC, &plain), WARPSEAL_OK);
    std::vector<const uint8_t*> in(count);
    std::vector<uint8_t*> out(count);
    Text falling_in(text.size());
    for (size_t i = 0; i < count; ++i) {
        const size_t at = (count - 1 - i) * bytes;
        std::copy_n(&text[i * bytes], bytes, &falling_in[at]);
        in[i] = &falling_in[at], out[i] = &got[at];
    }
    warpseal_scattered_batch b{};
    b.batch = plain;
    b.batch.struct_bytes = sizeof b;
    b.batch.in = nullptr, b.batch.out = nullptr;
    b.in_pointers = in.data(), b.out_pointers = out.data();
    ASSERT_EQ(warpseal_encrypt_batch(key.get(), WARPSEAL_CBC, &b.batch), WARPSEAL_OK)
        << warpseal_last_error_message();
    for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(Text(out[i], out[i] + bytes),
                  Text(&expected[i * bytes], &expected[i * bytes] + bytes))
            << i;
}

// Modes without a tag, and CMAC, against batches at strides.
TEST(ScatteredBatch, OtherModes) {
    constexpr size_t count = 40, bytes = 64;
    tests::Random random(5);
    const Text text = random.text(count * bytes), ivs = random.text(count * 16);
    for (const auto& [engine, key] : keys()) {
        std::vector<const uint8_t*> in(count);
        std::vector<uint8_t*> out(count), iv(count), tag(count);
        std::vector<int32_t> statuses(count);
        Text strided(text.size()), scattered(text.size()), iv_copies = ivs, macs(count * 16),
                                                           mac_copies(count * 16);
        for (size_t i = 0; i < count; ++i) {
            in[i] = &text[i * bytes], out[i] = &scattered[i * bytes];
            iv[i] = &iv_copies[i * 16], tag[i] = &mac_copies[i * 16];
        }
        warpseal_batch plain{};
        plain.struct_bytes = sizeof plain;
        plain.message_count = count, plain.message_bytes = bytes;
        plain.in = text.data(), plain.in_stride = plain.out_stride = bytes;
        plain.statuses = statuses.data();
        warpseal_scattered_batch b{};
        b.batch.struct_bytes = sizeof b;
        b.batch.message_count = count, b.batch.message_bytes = bytes;
        b.batch.statuses = statuses.data();
        b.in_pointers = in.data();
        warpseal_scattered_batch mac = b;
        warpseal_batch plain_mac = plain;
        plain.ivs = ivs.data(), plain.iv_bytes = 16, plain.iv_stride = 16;
        plain.out = strided.data();
        b.batch.iv_bytes = 16, b.iv_pointers = iv.data(), b.out_pointers = out.data();
        for (const warpseal_mode mode : {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB})
            for (const auto call : {warpseal_encrypt_batch, warpseal_decrypt_batch}) {
                ASSERT_EQ(call(key.get(), mode, &plain), WARPSEAL_OK);
                ASSERT_EQ(call(key.get(), mode, &b.batch), WARPSEAL_OK)
                    << warpseal_last_error_message();
                EXPECT_EQ(scattered, strided) << warpseal_mode_name(mode);
            }
        plain_mac.tags = macs.data(), plain_mac.tag_bytes = 16, plain_mac.tag_stride = 16;
        mac.batch.tag_bytes = 16, mac.tag_pointers = tag.data();
        ASSERT_EQ(warpseal_mac_batch(key.get(), WARPSEAL_CMAC, &plain_mac), WARPSEAL_OK);
        ASSERT_EQ(warpseal_mac_batch(key.get(), WARPSEAL_CMAC, &mac.batch), WARPSEAL_OK);
        EXPECT_EQ(mac_copies, macs);
        EXPECT_EQ(warpseal_mac_verify_batch(key.get(), WARPSEAL_CMAC, &mac.batch), WARPSEAL_OK);
        mac_copies[16 * 7] ^= 1;
        EXPECT_EQ(warpseal_mac_verify_batch(key.get(), WARPSEAL_CMAC, &mac.batch),
                  WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(statuses[7], WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(statuses[8], WARPSEAL_OK);
    }
}

// Each message under its key, and AAD of several lengths: groups of AAD take their own keys.
TEST(ScatteredBatch, KeysOfTheirOwn) {
    tests::Random random(6);
    const Text secrets = random.text(32 * message_count);
    for (const auto& [engine, key] : keys()) {
        auto messages = tests::sealed_messages(key.get(), WARPSEAL_GCM, message_count, 4, 6);
        for (size_t i = 0; i < message_count; ++i) {
            SealedMessage& m = messages[i];
            const auto own =
                targets::key(engine, "aes-256", Text(&secrets[32 * i], &secrets[32 * i] + 32));
            ASSERT_EQ(
                warpseal_seal_unsafe_iv(own.get(), WARPSEAL_GCM, m.iv.data(), 12, m.aad.data(),
                                        m.aad.size(), m.plaintext.data(), m.ciphertext.data(),
                                        m.plaintext.size(), m.tag.data(), 16),
                WARPSEAL_OK);
        }
        Records records(messages);
        warpseal_scattered_batch batch = records.batch();
        batch.batch.keys = secrets.data();
        ASSERT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK)
            << warpseal_last_error_message();
        for (size_t i = 0; i < message_count; ++i)
            ASSERT_EQ(records.text(i), messages[i].plaintext) << i;
    }
}

TEST(ScatteredBatch, NoMessagesAndNoText) {
    const auto engine = targets::engine("cpu", 2);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    warpseal_scattered_batch none{};
    none.batch.struct_bytes = sizeof none;
    none.batch.iv_bytes = 12, none.batch.tag_bytes = 16;
    EXPECT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &none.batch), WARPSEAL_OK);
    EXPECT_EQ(warpseal_seal_batch(key.get(), WARPSEAL_GCM, &none.batch, nullptr), WARPSEAL_OK);
    EXPECT_EQ(key->key->random_ivs.load(), 0u);

    std::vector<SealedMessage> messages(9);
    for (size_t i = 0; i < messages.size(); ++i)
        messages[i].iv = Text(12, static_cast<uint8_t>(i)), messages[i].tag.resize(16);
    Records records(messages);
    warpseal_scattered_batch empty = records.batch();
    empty.batch.in = nullptr, empty.batch.out = nullptr;
    ASSERT_EQ(warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &empty.batch), WARPSEAL_OK)
        << warpseal_last_error_message();
    ASSERT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &empty.batch), WARPSEAL_OK);
    records.bytes[records.tags[4]] ^= 1;
    ASSERT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &empty.batch), WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(records.statuses[4], WARPSEAL_NOT_AUTHENTIC);
}

// ---- drawn IVs

TEST(SealBatch, DrawsAnIvForEachMessage) {
    std::set<Text> seen;
    size_t drawn = 0;
    for (const auto& [engine, key] : keys())
        for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM}) {
            const auto messages = tests::sealed_messages(key.get(), mode, message_count, 2, 7);
            Records records(messages, false);
            warpseal_scattered_batch batch = records.batch();
            batch.batch.ivs = nullptr;
            ASSERT_EQ(warpseal_seal_batch(key.get(), mode, &batch.batch, records.bytes.data()),
                      WARPSEAL_OK)
                << warpseal_last_error_message();
            for (size_t i = 0; i < message_count; ++i) {
                const SealedMessage& m = messages[i];
                const uint8_t* const iv = records.bytes.data() + records.ivs[i];
                seen.insert(Text(iv, iv + 12)), ++drawn;
                Text opened(m.plaintext.size());
                ASSERT_EQ(warpseal_open(key.get(), mode, iv, 12, m.aad.data(), m.aad.size(),
                                        records.text(i).data(), opened.data(), opened.size(),
                                        records.tag(i).data(), 16),
                          WARPSEAL_OK)
                    << i;
                ASSERT_EQ(opened, m.plaintext);
            }
        }
    EXPECT_EQ(seen.size(), drawn);
}

// The struct of warpseal.h, at strides: in order of the messages, and no byte beside an IV changes.
TEST(SealBatch, WritesIvsAtTheirStride) {
    constexpr size_t count = 10, stride = 20;
    const auto engine = targets::engine("cpu", 2);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    Text text(count * 32, 5), out(count * 32), tags(count * 16), ivs(count * stride, 0xee);
    std::vector<int32_t> statuses(count);
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = 12, batch.tag_bytes = 16, batch.message_count = count;
    batch.message_bytes = batch.in_stride = batch.out_stride = 32;
    batch.iv_stride = stride, batch.tag_stride = 16;
    batch.in = text.data(), batch.out = out.data(), batch.tags = tags.data();
    batch.statuses = statuses.data();
    tests::source = tests::Source::fixed;
    const warpseal_status status = warpseal_seal_batch(key.get(), WARPSEAL_GCM, &batch, ivs.data());
    tests::source = tests::Source::kernel;
    ASSERT_EQ(status, WARPSEAL_OK) << warpseal_last_error_message();
    size_t byte = 0;
    for (size_t i = 0; i < ivs.size(); ++i)
        ASSERT_EQ(ivs[i], i % stride < 12 ? tests::fixed_byte(byte++) : 0xee) << i;
    batch.ivs = ivs.data(), batch.in = out.data();
    EXPECT_EQ(warpseal_open_batch(key.get(), WARPSEAL_GCM, &batch), WARPSEAL_OK);
    EXPECT_EQ(out, text);
}

TEST(SealBatch, CountsDrawnIvs) {
    const auto engine = targets::engine("cpu", 2);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    const auto messages = tests::sealed_messages(key.get(), WARPSEAL_GCM, 10, 2, 8);
    const Records before(messages, false);
    const Text secrets(320, 7);
    const auto seal = [&](Records& records, const uint8_t* keys_of_messages) {
        warpseal_scattered_batch batch = records.batch();
        batch.batch.ivs = nullptr, batch.batch.keys = keys_of_messages;
        return warpseal_seal_batch(key.get(), WARPSEAL_GCM, &batch.batch, records.bytes.data());
    };
    Records records = before;
    EXPECT_EQ(seal(records, nullptr), WARPSEAL_OK);
    EXPECT_EQ(key->key->random_ivs.load(), 10u);
    EXPECT_EQ(seal(records, secrets.data()), WARPSEAL_OK);
    EXPECT_EQ(key->key->random_ivs.load(), 10u) << "each message has its key";
    key->key->random_ivs = (uint64_t{1} << 32) - 19;
    EXPECT_EQ(seal(records, nullptr), WARPSEAL_OK);
    records = before;
    EXPECT_EQ(seal(records, nullptr), WARPSEAL_LIMIT_EXCEEDED) << "9 are left";
    EXPECT_EQ(records.bytes, before.bytes);
    uint8_t iv[12], tag[16];
    for (int i = 0; i < 9; ++i)
        EXPECT_EQ(
            warpseal_seal(key.get(), WARPSEAL_GCM, iv, nullptr, 0, nullptr, nullptr, 0, tag, 16),
            WARPSEAL_OK);
    EXPECT_EQ(warpseal_seal(key.get(), WARPSEAL_GCM, iv, nullptr, 0, nullptr, nullptr, 0, tag, 16),
              WARPSEAL_LIMIT_EXCEEDED);
}

TEST(SealBatch, WithoutRandomBytesNothingIsWritten) {
    const auto engine = targets::engine("cpu", 2);
    const auto key = targets::key(engine, "aes-256", Text(32, 0x42));
    const Records before(tests::sealed_messages(key.get(), WARPSEAL_GCM, 10, 2, 9), false);
    Records records = before;
    warpseal_scattered_batch batch = records.batch();
    batch.batch.ivs = nullptr;
    tests::source = tests::Source::failing;
    const warpseal_status status =
        warpseal_seal_batch(key.get(), WARPSEAL_GCM, &batch.batch, records.bytes.data());
    tests::source = tests::Source::kernel;
    EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
    EXPECT_EQ(records.bytes, before.bytes);
}

}  // namespace
