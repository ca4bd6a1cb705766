// Scattered batches that are refused: each with a text that names the argument, and nothing
// written.
#include <gtest/gtest.h>

#include <functional>

#include "c_api/handles.h"

#include "scattered_batch.h"

namespace {

using tests::Records;
using tests::SealedMessage;
using tests::Text;

constexpr uint64_t past_memory = UINT64_MAX - 8;

class Refused : public testing::Test {
protected:
    void SetUp() override {
        engine_ = targets::engine("cpu", 2);
        key_ = targets::key(engine_, "aes-256", Text(32, 0x42));
        for (size_t i = 0; i < 6; ++i) {
            SealedMessage m;
            m.iv = Text(12, static_cast<uint8_t>(i)), m.aad = Text(4 + i % 2), m.tag = Text(16);
            m.plaintext = m.ciphertext = Text(i == 2 ? 0 : 40, 7);
            messages_.push_back(m);
        }
    }

    using Change = std::function<void(Records&, warpseal_scattered_batch&)>;
    using Calls = std::vector<decltype(&warpseal_seal_batch_unsafe_iv)>;
    // The calls refuse a good batch after the change, with the text, and write nothing.
    void refuses(const char* text, const Change& change,
                 const Calls& calls = {warpseal_seal_batch_unsafe_iv, warpseal_open_batch}) {
        SCOPED_TRACE(text);
        for (const auto call : calls) {
            Records records(messages_);
            spare_ = records.bytes.size();
            records.bytes.resize(spare_ + spare_bytes);
            warpseal_scattered_batch batch = records.batch();
            change(records, batch);
            const Text before = records.bytes;
            EXPECT_EQ(call(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_INVALID_ARGUMENT);
            EXPECT_NE(std::string(warpseal_last_error_message()).find(text), std::string::npos)
                << warpseal_last_error_message();
            EXPECT_EQ(records.bytes, before);
            EXPECT_EQ(records.statuses, std::vector<int32_t>(messages_.size(), -1));
        }
    }

    static constexpr size_t spare_bytes = 6 * 64;
    targets::EngineHandle engine_;
    targets::KeyHandle key_;
    uint64_t spare_ = 0;  // offset of memory after the records
    std::vector<SealedMessage> messages_;
};

using Batch = warpseal_scattered_batch;

TEST_F(Refused, TheGoodBatchWorks) {
    Records records(messages_);
    const Batch batch = records.batch();
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK);
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK);
}

TEST_F(Refused, PartsWithoutMemory) {
    refuses("batch.in is null", [](Records&, Batch& b) { b.batch.in = nullptr; });
    refuses("batch.out is null", [](Records&, Batch& b) { b.batch.out = nullptr; });
    refuses("batch.ivs is null", [](Records&, Batch& b) { b.batch.ivs = nullptr; });
    refuses("batch.aad is null", [](Records&, Batch& b) { b.batch.aad = nullptr; });
    refuses("batch.tags is null", [](Records&, Batch& b) { b.batch.tags = nullptr; });
    refuses("batch.statuses is null", [](Records&, Batch& b) { b.batch.statuses = nullptr; },
            {warpseal_open_batch});
}

TEST_F(Refused, NullPointersToSomething) {
    static uint8_t memory[6][64];
    static uint8_t* places[6];
    static const uint8_t* const* const in = places;
    const auto all = [](size_t but) {
        for (size_t i = 0; i < 6; ++i) places[i] = i == but ? nullptr : memory[i];
    };
    refuses("in_pointers[3] is null", [&](Records&, Batch& b) {
        all(3), b.batch.in = nullptr, b.batch.in_offsets = nullptr, b.in_pointers = in;
    });
    refuses("out_pointers[0] is null", [&](Records&, Batch& b) {
        all(0), b.batch.out = nullptr, b.batch.out_offsets = nullptr, b.out_pointers = places;
    });
    refuses("iv_pointers[5] is null", [&](Records&, Batch& b) {
        all(5), b.batch.ivs = nullptr, b.iv_offsets = nullptr, b.iv_pointers = places;
    });
    refuses("aad_pointers[1] is null", [&](Records&, Batch& b) {
        all(1), b.batch.aad = nullptr, b.aad_offsets = nullptr, b.aad_pointers = in;
    });
    refuses("tag_pointers[4] is null", [&](Records&, Batch& b) {
        all(4), b.batch.tags = nullptr, b.tag_offsets = nullptr, b.tag_pointers = places;
    });
}

TEST_F(Refused, TwoSourcesOfAPart) {
    static uint8_t* places[6];
    static const uint8_t* const* const in = places;
    refuses("batch.in is not null: in_pointers", [](Records&, Batch& b) { b.in_pointers = in; });
    refuses("in_offsets is not null: in_pointers",
            [](Records&, Batch& b) { b.batch.in = nullptr, b.in_pointers = in; });
    refuses("batch.out is not null", [](Records&, Batch& b) { b.out_pointers = places; });
    refuses("batch.ivs is not null", [](Records&, Batch& b) { b.iv_pointers = places; });
    refuses("batch.aad is not null", [](Records&, Batch& b) { b.aad_pointers = in; });
    refuses("batch.tags is not null", [](Records&, Batch& b) { b.tag_pointers = places; });
    refuses("tag_offsets is not null",
            [](Records&, Batch& b) { b.batch.tags = nullptr, b.tag_pointers = places; });
}

TEST_F(Refused, OffsetsPastTheEnd) {
    refuses("the in of message 5 ends past the", [](Records& r, Batch& b) {
        r.texts[5] = r.bytes.size() - 39;
        b.out_extent = 0;
    });
    refuses("the out of message 1 ends past",
            [](Records& r, Batch& b) { b.out_extent = r.texts[1] + 39; });
    refuses("the iv of message 0 ends past",
            [](Records& r, Batch&) { r.ivs[0] = r.bytes.size() - 11; });
    refuses("the aad of message 1 ends past",
            [](Records& r, Batch&) { r.aad_lengths[1] = r.bytes.size() + 1 - r.aads[1]; });
    refuses("the tag of message 4 ends past", [](Records& r, Batch&) { r.tags[4] = past_memory; });
    refuses("the in of message 3 ends past", [](Records& r, Batch&) { r.lengths[3] = 1 << 20; });
    const auto unchecked = [](Batch& b) {
        b.in_extent = b.out_extent = b.iv_extent = b.aad_extent = b.tag_extent = 0;
    };
    refuses("the in of message 1 lies past the address space",
            [&](Records& r, Batch& b) { unchecked(b), r.texts[1] = past_memory; });
    refuses("the iv of message 1 lies past the address space",
            [&](Records& r, Batch& b) { unchecked(b), r.ivs[1] = uint64_t{1} << 63; });
    refuses("the tag of message 1 lies past the address space",
            [&](Records& r, Batch& b) { unchecked(b), r.tags[1] = past_memory; });
}

// 2 * stride is 0 in 64 bits, and message 1 reads no AAD.
TEST_F(Refused, StridesThatWrap) {
    refuses("message_count times a stride", [](Records& r, Batch& b) {
        b.aad_offsets = nullptr, b.batch.aad_stride = uint64_t{1} << 63;
        r.aad_lengths = {4, 0, 4, 0, 4, 0};
    });
}

TEST_F(Refused, NoStrideThatIsNotRead) {
    Records records(messages_);
    Batch batch = records.batch();
    batch.batch.in_stride = batch.batch.out_stride = batch.batch.iv_stride = UINT64_MAX;
    batch.batch.aad_stride = batch.batch.tag_stride = UINT64_MAX;
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK)
        << warpseal_last_error_message();
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK);
}

// Nothing that is written may overlap anything, whatever the order of the records.
TEST_F(Refused, Overlaps) {
    const Calls seal = {warpseal_seal_batch_unsafe_iv}, open = {warpseal_open_batch};
    static std::vector<uint64_t> elsewhere;
    // Outputs go to the spare memory, but for that of message i.
    const auto out_at = [&](Batch& b, size_t i, uint64_t at) {
        elsewhere.clear();
        for (size_t k = 0; k < 6; ++k) elsewhere.push_back(spare_ + 64 * k);
        elsewhere[i] = at;
        b.batch.out_offsets = elsewhere.data();
    };
    refuses("out overlaps in", [&](Records& r, Batch& b) { out_at(b, 0, r.texts[0] + 1); });
    refuses("in overlaps out",
            [&](Records& r, Batch& b) { out_at(b, 0, spare_), r.texts[0] = elsewhere[3] + 1; });
    refuses("out overlaps out", [&](Records&, Batch& b) { out_at(b, 5, spare_); });
    refuses("out overlaps out", [&](Records&, Batch& b) { out_at(b, 0, spare_ + 256 + 39); });
    refuses("out overlaps aad", [&](Records& r, Batch& b) { out_at(b, 4, r.aads[5] + 4); });
    refuses("an IV overlaps out",
            [&](Records& r, Batch& b) { out_at(b, 0, spare_), r.ivs[5] = elsewhere[3] + 39; });
    refuses("out overlaps an IV", [&](Records& r, Batch& b) { out_at(b, 1, r.ivs[5] + 11); });
    refuses("out overlaps a tag", [&](Records& r, Batch& b) { out_at(b, 1, r.tags[5] + 15); });
    refuses(
        "a tag overlaps a tag", [](Records& r, Batch&) { r.tags[4] = r.tags[3] + 15; }, seal);
    refuses(
        "a tag overlaps in",
        [](Records& r, Batch& b) {
            static uint8_t apart[6 * 40];
            b.batch.out = apart, b.batch.out_offsets = nullptr, b.batch.out_stride = 40;
            b.out_extent = 0;
            r.tags[4] = r.texts[0] + 39;
        },
        seal);
    refuses("statuses", [](Records& r, Batch& b) {
        b.batch.statuses = reinterpret_cast<int32_t*>(&r.bytes[(r.texts[4] + 3) / 4 * 4]);
    });
    refuses("an array of the batch", [](Records& r, Batch& b) {
        static uint64_t lengths[6];
        std::copy(r.lengths.begin(), r.lengths.end(), lengths);
        b.batch.lengths = lengths;
        b.batch.out = reinterpret_cast<uint8_t*>(lengths);
        b.out_extent = 0;
    });
    refuses(
        "two IVs share memory", [](Records& r, Batch&) { r.ivs[3] = r.ivs[2]; }, seal);
    refuses(
        "two IVs share memory", [](Records& r, Batch&) { r.ivs[0] = r.ivs[4] + 11; }, seal);
    // A call that opens may share IVs and tags.
    Records records(messages_);
    const Batch batch = records.batch();
    records.ivs[3] = records.ivs[2], records.tags[3] = records.tags[2];
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_NOT_AUTHENTIC);
}

TEST_F(Refused, LengthsBeyondTheModes) {
    Records records(messages_);
    const Batch batch = records.batch();
    const Text before = records.bytes;
    records.lengths[3] = (uint64_t{1} << 36) - 31;
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_LIMIT_EXCEEDED);
    records.lengths[3] = 40;
    records.aad_lengths[2] = UINT64_MAX;
    EXPECT_NE(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &batch.batch), WARPSEAL_OK);
    EXPECT_EQ(records.bytes, before);
}

TEST_F(Refused, DrawnIvs) {
    const auto seal = [&](const Batch& batch, void* ivs, const char* text) {
        EXPECT_EQ(warpseal_seal_batch(key_.get(), WARPSEAL_GCM, &batch.batch, ivs),
                  WARPSEAL_INVALID_ARGUMENT)
            << text;
        EXPECT_NE(std::string(warpseal_last_error_message()).find(text), std::string::npos)
            << warpseal_last_error_message();
    };
    Records records(messages_);
    const Text before = records.bytes;
    Batch batch = records.batch();
    uint8_t* const base = records.bytes.data();
    seal(batch, base, "batch.ivs is not null");
    batch.batch.ivs = nullptr;
    seal(batch, nullptr, "ivs is null: give memory");
    static uint8_t* places[6];
    batch.iv_offsets = nullptr, batch.iv_pointers = places;
    seal(batch, base, "ivs is not null: iv_pointers takes its place");
    batch.iv_offsets = records.ivs.data(), batch.iv_pointers = nullptr;
    batch.batch.iv_bytes = 13;
    seal(batch, base, "batch.iv_bytes is 13: drawn IVs have 12 bytes");
    batch.batch.iv_bytes = 12;
    const std::vector<uint64_t> ivs = records.ivs;
    records.ivs[1] = records.ivs[0];
    seal(batch, base, "two IVs share memory");
    records.ivs[1] = records.aads[1];
    seal(batch, base, "overlaps");
    records.ivs[1] = records.bytes.size() - 11;
    seal(batch, base, "the iv of message 1 ends past");
    records.ivs = ivs;
    batch.batch.struct_bytes = sizeof(warpseal_batch) - 1;
    seal(batch, base, "the struct_bytes of batch");
    EXPECT_EQ(warpseal_seal_batch(nullptr, WARPSEAL_GCM, &batch.batch, base),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_seal_batch(key_.get(), WARPSEAL_GCM, nullptr, base),
              WARPSEAL_INVALID_ARGUMENT);
    batch.batch.struct_bytes = sizeof batch;
    EXPECT_EQ(warpseal_seal_batch(key_.get(), WARPSEAL_CTR, &batch.batch, base),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(records.bytes, before);
    EXPECT_EQ(key_->key->random_ivs.load(), 0u) << "refused calls draw no IV";
    // Under keys of their own IVs may be equal, but each is written to memory of its own.
    const Text secrets(6 * 32);
    batch.batch.keys = secrets.data();
    records.ivs[1] = records.ivs[0];
    seal(batch, base, "an IV overlaps an IV");
}

// Device memory: refused before anything is read, with or without a GPU.
TEST_F(Refused, CallsForDeviceMemory) {
    Records records(messages_);
    const Batch batch = records.batch();
    for (const auto call : {warpseal_seal_batch_device_unsafe_iv, warpseal_open_batch_device})
        EXPECT_EQ(call(key_.get(), WARPSEAL_GCM, &batch.batch, nullptr), WARPSEAL_NO_DEVICE);
    // A struct of neither type's size: fields that the caller set would be ignored.
    Batch between = batch;
    between.batch.struct_bytes = sizeof between - 8;
    for (const auto call : {warpseal_seal_batch_device_unsafe_iv, warpseal_open_batch_device})
        EXPECT_EQ(call(key_.get(), WARPSEAL_GCM, &between.batch, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
    EXPECT_NE(std::string(warpseal_last_error_message()).find("the struct_bytes of batch"),
              std::string::npos);
    EXPECT_EQ(warpseal_open_batch(key_.get(), WARPSEAL_GCM, &between.batch),
              WARPSEAL_INVALID_ARGUMENT);
}

}  // namespace
