// Batches whose messages lie anywhere, on a fake GPU that fails at every step: AAD of several
// lengths divides them into calls of the backend, and the cores finish what it leaves.
#include <gtest/gtest.h>

#include "engine/engines.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

constexpr size_t count = 24, text_bytes = 64, record_bytes = 100;

// Records of IV, text and tag, whose AAD has another length in each group of five.
struct Records {
    Records() {
        for (size_t i = 0; i < count; ++i) {
            ivs.push_back(i * record_bytes), texts.push_back(ivs[i] + 12);
            tags.push_back(texts[i] + text_bytes), aad_lengths.push_back(i / 5);
        }
    }
    warpseal_scattered_batch batch() {
        warpseal_scattered_batch b = {};
        b.batch.struct_bytes = sizeof b;
        b.batch.message_count = count, b.batch.message_bytes = text_bytes;
        b.batch.iv_bytes = 12, b.batch.tag_bytes = 16;
        b.batch.ivs = b.batch.in = b.batch.out = b.batch.tags = memory.data();
        b.batch.aad = aad.data();
        b.batch.in_offsets = b.batch.out_offsets = texts.data();
        b.batch.statuses = statuses.data();
        b.iv_offsets = ivs.data(), b.tag_offsets = tags.data();
        b.aad_lengths = aad_lengths.data();
        return b;
    }
    bool operator==(const Records& o) const { return memory == o.memory && statuses == o.statuses; }

    Text memory = tests::pattern(count * record_bytes, 5);
    Text aad = tests::pattern(8, 6);
    std::vector<uint64_t> ivs, texts, tags, aad_lengths;
    std::vector<int32_t> statuses = std::vector<int32_t>(count, 0x77);
};

warpseal_status run(Engine& engine, const Key& key, Direction direction, Records& records) {
    return engine.scattered_batch(key, WARPSEAL_GCM, direction, records.batch());
}

TEST(Scattered, AGpuThatFailsAtAnyStep) {
    std::unique_ptr<Engine> cores;
    ASSERT_EQ(tests::create("cpu", cores), WARPSEAL_OK);
    const auto core_key = tests::key_of(*cores);
    Records sealed, opened;
    ASSERT_EQ(run(*cores, *core_key, Direction::encrypt, sealed), WARPSEAL_OK);
    Records forged = sealed;
    forged.memory[forged.tags[3]] ^= 1, forged.memory[forged.tags[21]] ^= 1;
    opened = forged;
    ASSERT_EQ(run(*cores, *core_key, Direction::decrypt, opened), WARPSEAL_NOT_AUTHENTIC);
    const GpuBackend* const backend = tests::fake_backend();
    for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
        uint64_t steps = 0;
        for (uint64_t n = 0; n <= steps; ++n) {  // 0: without a failure
            SCOPED_TRACE(n);
            tests::script() = {};
            std::unique_ptr<Engine> gpu;
            ASSERT_EQ(tests::create("cuda", gpu, 1, backend), WARPSEAL_OK);
            const auto key = tests::key_of(*gpu);
            const uint64_t before = tests::script().steps, calls = tests::script().host_calls;
            if (n != 0) tests::script().fail_at = before + n;
            Records records = direction == Direction::encrypt ? Records() : forged;
            ASSERT_EQ(run(*gpu, *key, direction, records),
                      direction == Direction::encrypt ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC);
            ASSERT_TRUE(records == (direction == Direction::encrypt ? sealed : opened));
            if (n != 0) continue;
            steps = tests::script().steps - before;
            EXPECT_GE(tests::script().host_calls - calls, 5u) << "one for each length of AAD";
            EXPECT_GE(steps, count);
        }
    }
}

}  // namespace
