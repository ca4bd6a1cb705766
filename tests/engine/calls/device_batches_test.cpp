// Batches in device memory whose messages lie anywhere, on the fake GPU: places, extents, the
// workspace, and IVs that the GPU draws.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "backends/batch_message.h"
#include "engine/engines.h"
#include "engine/refusal.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

constexpr size_t message_count = 40, record_bytes = 300, arena_bytes = 64 << 10;

enum class Places : uint8_t { offsets, pointers };

// Records of AAD, IV, text and tag in the fake GPU's memory, and the arrays that describe them.
class Records {
public:
    Records(Engine& engine, Engine& cores, const Key& key, bool sealed) : engine_(engine) {
        EXPECT_EQ(engine.device_alloc(arena_bytes, &arena_), WARPSEAL_OK);
        next_ = static_cast<uint8_t*>(arena_);
        first = put(tests::pattern(message_count * record_bytes, 9));
        for (size_t i = 0; i < message_count; ++i) {
            aads.push_back(i * record_bytes), aad_lengths.push_back(i % 7 * 3);
            ivs.push_back(aads[i] + aad_lengths[i]), texts.push_back(ivs[i] + 12);
            lengths.push_back(i == 5 ? 0 : i * 13 % 200), tags.push_back(texts[i] + lengths[i]);
            uint8_t* const text = first + texts[i];
            plain.emplace_back(text, text + lengths[i]);
            Text tag(16), out(lengths[i] + 1);
            EXPECT_EQ(cores.seal(key, WARPSEAL_GCM, {first + ivs[i], 12},
                                 {first + aads[i], aad_lengths[i]}, text, out.data(), lengths[i],
                                 tag.data(), 16),
                      WARPSEAL_OK);
            out.resize(lengths[i]);
            ciphertexts.push_back(out), right_tags.push_back(tag);
            if (!sealed) continue;
            std::copy(out.begin(), out.end(), text);
            std::copy(tag.begin(), tag.end(), first + tags[i]);
        }
        statuses = put(std::vector<int32_t>(message_count, -1));
    }
    ~Records() { engine_.device_free(arena_); }
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    template <class T>
    T* put(const std::vector<T>& values) {
        next_ += (16 - reinterpret_cast<uintptr_t>(next_) % 16) % 16;
        auto* const at = reinterpret_cast<T*>(next_);
        next_ += values.size() * sizeof(T);
        EXPECT_LE(next_, static_cast<uint8_t*>(arena_) + arena_bytes);
        std::copy(values.begin(), values.end(), at);
        return at;
    }
    // In place.
    warpseal_scattered_batch batch(Places places = Places::offsets) {
        warpseal_scattered_batch b = {};
        b.batch.struct_bytes = sizeof b;
        b.batch.message_count = message_count;
        b.batch.iv_bytes = 12, b.batch.tag_bytes = 16;
        b.batch.lengths = put(lengths), b.aad_lengths = put(aad_lengths);
        b.batch.statuses = statuses;
        if (places == Places::pointers) {
            b.in_pointers = put(pointers<const uint8_t*>(texts));
            b.out_pointers = put(pointers<uint8_t*>(texts));
            b.iv_pointers = put(pointers<uint8_t*>(ivs));
            b.aad_pointers = put(pointers<const uint8_t*>(aads));
            b.tag_pointers = put(pointers<uint8_t*>(tags));
            return b;
        }
        b.batch.in = b.batch.out = b.batch.tags = first;
        b.batch.ivs = b.batch.aad = first;
        b.batch.in_offsets = b.batch.out_offsets = put(texts);
        b.iv_offsets = put(ivs), b.aad_offsets = put(aads), b.tag_offsets = put(tags);
        return b;
    }
    Text text(size_t i) const { return Text(first + texts[i], first + texts[i] + lengths[i]); }
    Text tag(size_t i) const { return Text(first + tags[i], first + tags[i] + 16); }
    std::string iv(size_t i) const { return std::string(first + ivs[i], first + ivs[i] + 12); }

    uint8_t* first = nullptr;
    int32_t* statuses = nullptr;
    std::vector<uint64_t> aads, aad_lengths, ivs, texts, lengths, tags;
    std::vector<Text> plain, ciphertexts, right_tags;

private:
    template <class Pointer>
    std::vector<Pointer> pointers(const std::vector<uint64_t>& offsets) const {
        std::vector<Pointer> out;
        for (const uint64_t offset : offsets) out.push_back(first + offset);
        return out;
    }

    Engine& engine_;
    void* arena_ = nullptr;
    uint8_t* next_ = nullptr;
};

bool random_bytes(void* out, size_t bytes) {
    static uint8_t seed = 0;
    std::memset(out, ++seed, bytes);
    return true;
}
bool no_random(void*, size_t) { return false; }
warpseal_status uncounted() { return WARPSEAL_OK; }

class DeviceBatches : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(tests::create("cpu", cores_), WARPSEAL_OK);
        ASSERT_EQ(tests::create("cuda", engine_, 1, tests::fake_backend()), WARPSEAL_OK);
        key_ = tests::key_of(*engine_), core_key_ = tests::key_of(*cores_);
    }
    Records records(bool sealed) { return {*engine_, *cores_, *core_key_, sealed}; }
    warpseal_status run(Direction direction, const warpseal_scattered_batch& batch) {
        return engine_->batch_device(*key_, WARPSEAL_GCM, direction, batch, nullptr);
    }
    void refuses(const warpseal_scattered_batch& batch, const char* text,
                 Direction direction = Direction::decrypt) {
        const uint64_t before = tests::script().steps;
        EXPECT_EQ(run(direction, batch), WARPSEAL_INVALID_ARGUMENT) << text;
        EXPECT_NE(std::string(refusal_text()).find(text), std::string::npos) << refusal_text();
        EXPECT_LE(tests::script().steps, before + 1) << "no kernel runs";
    }

    std::unique_ptr<Engine> cores_, engine_;
    std::unique_ptr<Key> core_key_, key_;
};

TEST_F(DeviceBatches, SealAndOpenInPlace) {
    for (const Places places : {Places::offsets, Places::pointers}) {
        Records sealing = records(false);
        ASSERT_EQ(run(Direction::encrypt, sealing.batch(places)), WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i) {
            ASSERT_EQ(sealing.text(i), sealing.ciphertexts[i]) << i;
            ASSERT_EQ(sealing.tag(i), sealing.right_tags[i]) << i;
            ASSERT_EQ(sealing.statuses[i], WARPSEAL_OK);
        }
        Records opening = records(true);
        opening.first[opening.tags[7]] ^= 1;
        opening.first[opening.texts[9]] ^= 1;
        opening.first[opening.aads[11]] ^= 1;
        opening.first[opening.ivs[13]] ^= 1;
        ASSERT_EQ(run(Direction::decrypt, opening.batch(places)), WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i) {
            const bool forged = i == 7 || i == 9 || i == 11 || i == 13;
            ASSERT_EQ(opening.statuses[i], forged ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK) << i;
            ASSERT_EQ(opening.text(i), forged ? Text(opening.lengths[i]) : opening.plain[i]) << i;
        }
    }
}

// Offsets that lead out of the memory that the caller described.
TEST_F(DeviceBatches, ExtentsRefuseTheirMessagesAlone) {
    using Extent = uint64_t warpseal_scattered_batch::*;
    const size_t last = message_count - 1;
    for (const Extent extent :
         {&warpseal_scattered_batch::in_extent, &warpseal_scattered_batch::out_extent,
          &warpseal_scattered_batch::iv_extent, &warpseal_scattered_batch::aad_extent,
          &warpseal_scattered_batch::tag_extent})
        for (const uint64_t too_little : {0, 1}) {
            Records opening = records(true);
            warpseal_scattered_batch batch = opening.batch();
            const uint64_t ends[] = {
                opening.texts[last] + opening.lengths[last], opening.ivs[last] + 12,
                opening.aads[last] + opening.aad_lengths[last], opening.tags[last] + 16};
            const bool text = extent == &warpseal_scattered_batch::in_extent ||
                              extent == &warpseal_scattered_batch::out_extent;
            const size_t part = text                                              ? 0
                                : extent == &warpseal_scattered_batch::iv_extent  ? 1
                                : extent == &warpseal_scattered_batch::aad_extent ? 2
                                                                                  : 3;
            batch.*extent = ends[part] - too_little;
            ASSERT_EQ(run(Direction::decrypt, batch), WARPSEAL_OK);
            for (size_t i = 0; i < message_count; ++i) {
                const bool refused = i == last && too_little != 0;
                ASSERT_EQ(opening.statuses[i], refused ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK)
                    << part << " " << i;
                ASSERT_EQ(opening.text(i), (refused ? opening.ciphertexts : opening.plain)[i]);
            }
        }
    // An offset whose sum with the length wraps.
    Records opening = records(true);
    opening.texts[3] = UINT64_MAX - 2;
    warpseal_scattered_batch batch = opening.batch();
    batch.in_extent = batch.out_extent = message_count * record_bytes;
    ASSERT_EQ(run(Direction::decrypt, batch), WARPSEAL_OK);
    EXPECT_EQ(opening.statuses[3], WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(opening.statuses[4], WARPSEAL_OK);
}

// Lengths in device memory past a mode's limits: the number of blocks must not wrap.
TEST_F(DeviceBatches, LengthsPastTheLimitsRefuseTheirMessagesAlone) {
    constexpr uint64_t most_text = (uint64_t{1} << 36) - 32, most_aad = (uint64_t{1} << 61) - 1;
    const struct {
        warpseal_mode mode;
        uint64_t text_bytes, aad_bytes;  // of message 3; 0: its own
        int32_t status;
    } rows[] = {
        {WARPSEAL_GCM, most_text + 1, 0, WARPSEAL_LIMIT_EXCEEDED},
        {WARPSEAL_GCM, 0, most_aad + 1, WARPSEAL_LIMIT_EXCEEDED},
        {WARPSEAL_GCM, 0, UINT64_MAX, WARPSEAL_LIMIT_EXCEEDED},
        {WARPSEAL_CCM, 1 << 24, 0, WARPSEAL_LIMIT_EXCEEDED},
        {WARPSEAL_CCM, 0, most_aad + 1, WARPSEAL_LIMIT_EXCEEDED},
        {WARPSEAL_CCM, 0, UINT64_MAX - 14, WARPSEAL_LIMIT_EXCEEDED},
    };
    for (const auto& row : rows) {
        Records sealing = records(false);
        if (row.text_bytes != 0) sealing.lengths[3] = row.text_bytes;
        if (row.aad_bytes != 0) sealing.aad_lengths[3] = row.aad_bytes;
        const warpseal_scattered_batch batch = sealing.batch();
        sealing.lengths[3] = sealing.plain[3].size();
        const Text tag = sealing.tag(3);
        ASSERT_EQ(engine_->batch_device(*key_, row.mode, Direction::encrypt, batch, nullptr),
                  WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i)
            ASSERT_EQ(sealing.statuses[i], i == 3 ? row.status : WARPSEAL_OK) << i;
        EXPECT_EQ(sealing.text(3), sealing.plain[3]);
        EXPECT_EQ(sealing.tag(3), tag);
        if (row.mode == WARPSEAL_GCM) {
            EXPECT_EQ(sealing.text(4), sealing.ciphertexts[4]);
        }
    }
    // The greatest lengths are within the limits, and past the extents.
    Records sealing = records(false);
    sealing.lengths[2] = most_text, sealing.aad_lengths[3] = most_aad;
    warpseal_scattered_batch batch = sealing.batch();
    batch.in_extent = batch.out_extent = batch.aad_extent = message_count * record_bytes;
    ASSERT_EQ(run(Direction::encrypt, batch), WARPSEAL_OK);
    EXPECT_EQ(sealing.statuses[2], WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(sealing.statuses[3], WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(sealing.statuses[4], WARPSEAL_OK);
}

// Lengths that only the device knows, in CBC: cores refuse such a batch before they begin.
TEST_F(DeviceBatches, PartialBlocksRefuseTheirMessagesAlone) {
    for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
        Records text = records(false);
        for (size_t i = 0; i < message_count; ++i)
            text.lengths[i] = i == 4 ? 33 : i == 5 ? 15 : i % 8 * 16;
        const Text before(text.first, text.first + message_count * record_bytes);
        warpseal_scattered_batch batch = text.batch();
        batch.batch.iv_bytes = 16, batch.batch.tag_bytes = 0, batch.batch.tags = nullptr;
        batch.aad_lengths = batch.aad_offsets = batch.tag_offsets = nullptr;
        batch.batch.aad = nullptr;
        // IVs of 16 bytes at the end of each record.
        std::vector<uint64_t> ivs;
        for (size_t i = 0; i < message_count; ++i) ivs.push_back((i + 1) * record_bytes - 16);
        batch.iv_offsets = text.put(ivs);
        ASSERT_EQ(engine_->batch_device(*key_, WARPSEAL_CBC, direction, batch, nullptr),
                  WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i) {
            const bool refused = i == 4 || i == 5;
            ASSERT_EQ(text.statuses[i], refused ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK) << i;
            const auto at = static_cast<ptrdiff_t>(text.texts[i]);
            const bool same = std::equal(
                before.begin() + at, before.begin() + at + static_cast<ptrdiff_t>(text.lengths[i]),
                text.first + at);
            ASSERT_EQ(same, refused || text.lengths[i] == 0) << i;
        }
        EXPECT_EQ(cores_->scattered_batch(*core_key_, WARPSEAL_CBC, direction, batch),
                  WARPSEAL_INVALID_ARGUMENT);
    }
}

// Without statuses nothing would say that a message is not processed.
TEST_F(DeviceBatches, LengthsNeedStatuses) {
    Records sealing = records(false);
    const warpseal_scattered_batch good = sealing.batch();
    const auto run_in = [&](warpseal_mode mode, const warpseal_scattered_batch& batch) {
        return engine_->batch_device(*key_, mode, Direction::encrypt, batch, nullptr);
    };
    warpseal_scattered_batch b = good;
    b.batch.statuses = nullptr;
    refuses(b, "batch.statuses is null: it says which lengths gcm", Direction::encrypt);
    EXPECT_EQ(run_in(WARPSEAL_CCM, b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(engine_->seal_batch_device(*key_, WARPSEAL_GCM, b, random_bytes, uncounted, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    b.aad_lengths = b.aad_offsets = nullptr, b.batch.aad = nullptr;
    refuses(b, "batch.statuses is null: it says which lengths gcm", Direction::encrypt);
    b.aad_lengths = good.aad_lengths, b.aad_offsets = good.aad_offsets;
    b.batch.aad = good.batch.aad;
    b.batch.lengths = nullptr, b.batch.message_bytes = 16;
    refuses(b, "batch.statuses is null: it says which lengths gcm", Direction::encrypt);
    b.aad_lengths = nullptr, b.batch.aad_bytes = 3;
    EXPECT_EQ(run(Direction::encrypt, b), WARPSEAL_OK) << "the lengths are known here";
    // Modes without AAD or tags: CBC alone takes some lengths only.
    b = good;
    b.batch.statuses = nullptr, b.batch.tags = nullptr, b.batch.tag_bytes = 0;
    b.tag_offsets = b.aad_lengths = b.aad_offsets = nullptr, b.batch.aad = nullptr;
    b.batch.iv_bytes = 16;
    EXPECT_EQ(run_in(WARPSEAL_CBC, b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(run_in(WARPSEAL_CTR, b), WARPSEAL_OK);
}

// A MAC has no output, in whose extent messages could end.
TEST_F(DeviceBatches, MacsIgnoreTheExtentOfOutputs) {
    Records text = records(false);
    warpseal_scattered_batch b = text.batch();
    b.batch.iv_bytes = 0, b.batch.ivs = nullptr, b.iv_offsets = nullptr;
    b.aad_lengths = b.aad_offsets = nullptr, b.batch.aad = nullptr;
    b.batch.out = nullptr, b.batch.out_offsets = nullptr;
    b.in_extent = message_count * record_bytes;
    const auto mac = [&](Direction direction) {
        std::fill(text.statuses, text.statuses + message_count, -1);
        EXPECT_EQ(engine_->batch_device(*key_, WARPSEAL_CMAC, direction, b, nullptr), WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i) EXPECT_EQ(text.statuses[i], WARPSEAL_OK) << i;
    };
    for (const uint64_t out_extent : {0, 1}) {
        b.out_extent = out_extent;
        mac(Direction::encrypt);
        mac(Direction::decrypt);
    }
    b.batch.lengths = nullptr, b.batch.message_bytes = 20, b.batch.statuses = nullptr;
    b.in_extent = 0;
    EXPECT_EQ(engine_->batch_device(*key_, WARPSEAL_CMAC, Direction::encrypt, b, nullptr),
              WARPSEAL_OK);
}

TEST_F(DeviceBatches, StructsAreChecked) {
    Records opening = records(true);
    const warpseal_scattered_batch good = opening.batch();
    warpseal_scattered_batch b = good;
    b.in_pointers = opening.batch(Places::pointers).in_pointers;
    refuses(b, "batch.in is not null: in_pointers takes its place");
    b = good, b.batch.in = nullptr;
    refuses(b, "batch.in is null");
    b = good, b.batch.ivs = nullptr;
    refuses(b, "batch.ivs is null");
    b = good, b.batch.aad = nullptr;
    refuses(b, "batch.aad is null");
    b = good, b.batch.tags = nullptr;
    refuses(b, "batch.tags is null");
    b = good, b.batch.statuses = nullptr;
    refuses(b, "batch.statuses is null");
    b.tag_extent = message_count * record_bytes;
    refuses(b, "batch.statuses is null: it says which messages end past tag_extent",
            Direction::encrypt);
    // At strides the struct itself tells where the last message ends.
    b = good, b.iv_offsets = nullptr, b.batch.iv_stride = record_bytes;
    b.iv_extent = (message_count - 1) * record_bytes + 11;
    refuses(b, "the iv of the last message ends past the");
    ++b.iv_extent;
    EXPECT_EQ(run(Direction::decrypt, b), WARPSEAL_OK);
    // In a mode without AAD, and without messages, no part is missed.
    b = good, b.batch.message_count = 0, b.batch.in = nullptr;
    EXPECT_EQ(run(Direction::decrypt, b), WARPSEAL_OK);
}

TEST_F(DeviceBatches, WorkspaceReplacesAllocations) {
    Records opening = records(true);
    warpseal_scattered_batch batch = opening.batch();
    uint64_t needed = 0;
    ASSERT_EQ(engine_->batch_device_workspace(*key_, WARPSEAL_GCM, batch, &needed), WARPSEAL_OK);
    ASSERT_GT(needed, 0u);
    const uint64_t before = tests::script().scratch_allocations;
    Text workspace(needed + 32);
    uint8_t* const aligned =
        workspace.data() + (16 - reinterpret_cast<uintptr_t>(workspace.data()) % 16) % 16;
    batch.workspace = aligned, batch.workspace_bytes = needed - 1;
    refuses(batch, "workspace_bytes is");
    batch.workspace = aligned + 1, batch.workspace_bytes = needed;
    refuses(batch, "workspace is not 16-byte aligned");
    batch.workspace = aligned;
    ASSERT_EQ(run(Direction::decrypt, batch), WARPSEAL_OK);
    EXPECT_EQ(tests::script().scratch_allocations, before);
    EXPECT_EQ(opening.text(8), opening.plain[8]);
    batch.workspace = nullptr;
    ASSERT_EQ(run(Direction::encrypt, batch), WARPSEAL_OK);
    EXPECT_EQ(tests::script().scratch_allocations, before + 1);
    EXPECT_EQ(engine_->batch_device_workspace(*key_, WARPSEAL_CTR, batch, &needed), WARPSEAL_OK);
    EXPECT_EQ(needed, 0u);
    EXPECT_EQ(cores_->batch_device_workspace(*core_key_, WARPSEAL_GCM, batch, &needed),
              WARPSEAL_NO_DEVICE);
}

TEST_F(DeviceBatches, DrawnIvsDiffer) {
    std::set<std::string> seen;
    for (int call = 0; call < 3; ++call)
        for (const Places places : {Places::offsets, Places::pointers}) {
            Records sealing = records(false);
            const warpseal_scattered_batch batch = sealing.batch(places);
            ASSERT_EQ(engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, random_bytes,
                                                 uncounted, nullptr),
                      WARPSEAL_OK);
            for (size_t i = 0; i < message_count; ++i)
                EXPECT_TRUE(seen.insert(sealing.iv(i)).second) << i;
            ASSERT_EQ(run(Direction::decrypt, batch), WARPSEAL_OK);
            for (size_t i = 0; i < message_count; ++i) {
                ASSERT_EQ(sealing.text(i), sealing.plain[i]) << i;
                ASSERT_EQ(sealing.statuses[i], WARPSEAL_OK);
            }
        }
    // Another engine starts elsewhere.
    std::unique_ptr<Engine> other;
    ASSERT_EQ(tests::create("cuda", other, 1, tests::fake_backend()), WARPSEAL_OK);
    const auto key = tests::key_of(*other);
    Records sealing(*other, *cores_, *core_key_, false);
    ASSERT_EQ(other->seal_batch_device(*key, WARPSEAL_GCM, sealing.batch(), random_bytes, uncounted,
                                       nullptr),
              WARPSEAL_OK);
    EXPECT_TRUE(seen.insert(sealing.iv(0)).second);
}

// A misaligned access would make the GPU unusable.
TEST_F(DeviceBatches, MisalignedArraysAreRefused) {
    Records sealed = records(true);
    const auto shifted = [](auto* array, size_t bytes) {
        return reinterpret_cast<decltype(array)>(reinterpret_cast<uintptr_t>(array) + bytes);
    };
    using Batch = warpseal_scattered_batch;
    const Batch offsets = sealed.batch(), pointers = sealed.batch(Places::pointers);
    const struct {
        const char* text;
        const Batch& good;
        std::function<void(Batch&)> change;
    } rows[] = {
        {"batch.statuses is not at a multiple of 4", offsets,
         [&](Batch& b) { b.batch.statuses = shifted(b.batch.statuses, 2); }},
        {"batch.lengths is not at a multiple of 8", offsets,
         [&](Batch& b) { b.batch.lengths = shifted(b.batch.lengths, 4); }},
        {"aad_lengths is not", offsets,
         [&](Batch& b) { b.aad_lengths = shifted(b.aad_lengths, 4); }},
        {"in_offsets is not", offsets,
         [&](Batch& b) { b.batch.in_offsets = shifted(b.batch.in_offsets, 4); }},
        {"out_offsets is not", offsets,
         [&](Batch& b) { b.batch.out_offsets = shifted(b.batch.out_offsets, 1); }},
        {"iv_offsets is not", offsets, [&](Batch& b) { b.iv_offsets = shifted(b.iv_offsets, 4); }},
        {"tag_offsets is not", offsets,
         [&](Batch& b) { b.tag_offsets = shifted(b.tag_offsets, 4); }},
        {"aad_pointers is not", pointers,
         [&](Batch& b) { b.aad_pointers = shifted(b.aad_pointers, 4); }},
        {"in_pointers is not", pointers,
         [&](Batch& b) { b.in_pointers = shifted(b.in_pointers, 4); }},
    };
    for (const auto& row : rows) {
        Batch bad = row.good;
        row.change(bad);
        refuses(bad, row.text);
    }
}

TEST_F(DeviceBatches, OneMessageWhoseOutputOverlapsItsInput) {
    Records sealing = records(false);
    warpseal_batch b = {};
    b.struct_bytes = sizeof b;
    b.message_count = 1;
    b.message_bytes = b.in_stride = b.out_stride = 100;
    b.iv_bytes = 12, b.tag_bytes = 16;
    b.ivs = sealing.first, b.tags = sealing.first + 16;
    b.in = sealing.first + 32, b.out = sealing.first + 48;
    refuses(warpseal::as_scattered(b), "out overlaps in: give the same address",
            Direction::encrypt);
    b.out = sealing.first + 132;
    EXPECT_EQ(run(Direction::encrypt, warpseal::as_scattered(b)), WARPSEAL_OK);
}

TEST_F(DeviceBatches, DrawnIvsMayNotOverlap) {
    Records sealing = records(false);
    warpseal_scattered_batch batch = sealing.batch();
    batch.iv_offsets = nullptr;
    for (const uint64_t stride : {0, 4, 11}) {
        batch.batch.iv_stride = stride;
        // Keys of their own could be equal.
        for (const bool own_keys : {false, true}) {
            batch.batch.keys = own_keys ? sealing.first : nullptr;
            EXPECT_EQ(engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, random_bytes,
                                                 uncounted, nullptr),
                      WARPSEAL_INVALID_ARGUMENT);
            EXPECT_NE(std::string(refusal_text()).find("batch.iv_stride is less than iv_bytes"),
                      std::string::npos)
                << refusal_text();
        }
    }
}

TEST_F(DeviceBatches, WithoutIvsNothingIsSealed) {
    Records sealing = records(false);
    const warpseal_scattered_batch batch = sealing.batch();
    EXPECT_EQ(engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, no_random, uncounted, nullptr),
              WARPSEAL_NO_RANDOM);
    int counted = 0;
    const auto refuse_count = [&] {
        ++counted;
        return WARPSEAL_LIMIT_EXCEEDED;
    };
    EXPECT_EQ(
        engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, random_bytes, refuse_count, nullptr),
        WARPSEAL_LIMIT_EXCEEDED);
    warpseal_scattered_batch bad = batch;
    bad.batch.tag_bytes = 17;
    EXPECT_NE(
        engine_->seal_batch_device(*key_, WARPSEAL_GCM, bad, random_bytes, refuse_count, nullptr),
        WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_EQ(counted, 1) << "refused calls draw no IV";
    tests::script().wrong_ivs = true;
    EXPECT_EQ(
        engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, random_bytes, uncounted, nullptr),
        WARPSEAL_SELF_TEST_FAILED);
    for (size_t i = 0; i < message_count; ++i) EXPECT_EQ(sealing.text(i), sealing.plain[i]);
    tests::script().wrong_ivs = false;
    EXPECT_EQ(
        engine_->seal_batch_device(*key_, WARPSEAL_GCM, batch, random_bytes, uncounted, nullptr),
        WARPSEAL_OK);
}

// Queued work and graphs draw from the counter after the engine is gone.
TEST_F(DeviceBatches, TheCounterOutlivesItsEngine) {
    std::set<std::string> seen;
    const warpseal::GpuBackend* const backend = tests::fake_backend();
    for (int round = 0; round < 2; ++round) {
        std::unique_ptr<Engine> engine;
        ASSERT_EQ(tests::create("cuda", engine, 1, backend), WARPSEAL_OK);
        const auto key = tests::key_of(*engine);
        Records sealing(*engine, *cores_, *core_key_, false);
        ASSERT_EQ(
            engine->seal_batch_device(*key, WARPSEAL_GCM, sealing.batch(),
                                      round == 0 ? random_bytes : no_random, uncounted, nullptr),
            WARPSEAL_OK);
        for (size_t i = 0; i < message_count; ++i)
            EXPECT_TRUE(seen.insert(sealing.iv(i)).second) << i;
    }
    EXPECT_EQ(tests::script().live_iv_counters, 1u);
}

// Any step may fail, of the counter's self-test too. The next call succeeds, and no memory but the
// counter stays.
TEST_F(DeviceBatches, AnyStepMayFail) {
    uint64_t steps = 1;
    for (uint64_t n = 0; n < steps; ++n)
        for (const warpseal_status failure : {WARPSEAL_NO_DEVICE, WARPSEAL_OUT_OF_MEMORY}) {
            SCOPED_TRACE(n);
            std::unique_ptr<Engine> engine;
            ASSERT_EQ(tests::create("cuda", engine, 1, tests::fake_backend()), WARPSEAL_OK);
            auto key = tests::key_of(*engine);
            {
                Records sealing(*engine, *cores_, *core_key_, false);
                const auto seal = [&] {
                    return engine->seal_batch_device(*key, WARPSEAL_GCM, sealing.batch(),
                                                     random_bytes, uncounted, nullptr);
                };
                const uint64_t before = tests::script().steps;
                tests::script().failure = failure;
                if (n != 0) tests::script().fail_at = before + n;
                EXPECT_EQ(seal(), n == 0 ? WARPSEAL_OK : failure);
                if (n == 0) steps = tests::script().steps - before + 1;
                EXPECT_EQ(seal(), tests::script().lost ? WARPSEAL_NO_DEVICE : WARPSEAL_OK);
            }
            key.reset();
            engine.reset();
            EXPECT_EQ(tests::script().calls_after_lost, 0u);
            if (!tests::script().lost) {
                EXPECT_EQ(tests::script().live_device_allocations, 0u);
                EXPECT_EQ(tests::script().live_iv_counters, 1u);
            }
        }
    EXPECT_GE(steps, 9u);
}

TEST(DrawnIv, CountsModulo2To96) {
    const auto iv = [](const char* start, uint64_t n) {
        Text from(12), out(12);
        for (size_t i = 0; i < 12; ++i)
            from[i] = static_cast<uint8_t>(std::stoi(std::string(start + 2 * i, 2), nullptr, 16));
        write_drawn_iv(from.data(), n, out.data());
        std::string text;
        for (const uint8_t byte : out) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
        return text;
    };
    EXPECT_EQ(iv("000102030405060708090a0b", 0), "000102030405060708090a0b");
    EXPECT_EQ(iv("000102030405060708090a0b", 0x1f5), "000102030405060708090c00");
    EXPECT_EQ(iv("00000000ffffffffffffffff", 1), "000000010000000000000000");
    EXPECT_EQ(iv("ffffffffffffffffffffffff", 1), "000000000000000000000000");
    EXPECT_EQ(iv("ffffffff0000000000000002", UINT64_MAX), "000000000000000000000001");
}

}  // namespace
