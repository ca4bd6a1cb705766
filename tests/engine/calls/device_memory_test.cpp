// Calls on device memory check their pointers before a GPU is used.
#include <gtest/gtest.h>

#include "engine/engines.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

TEST(BackendPointers, AreCheckedBeforeAnyWork) {
    constexpr size_t bytes = 900;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(tests::create("cuda", engine, 1, tests::fake_backend()), WARPSEAL_OK);
    const auto key = tests::key_of(*engine);
    const Text secret = tests::pattern(64, 1), iv = tests::pattern(16, 3),
               before = tests::pattern(bytes + 16, 8);
    std::unique_ptr<Key> xts_key;
    ASSERT_EQ(engine->key("aes-256", {secret.data(), 64}, xts_key, KeyKind::xts), WARPSEAL_OK);
    Text text = before;
    const struct {
        const uint8_t* in;
        uint8_t* out;
    } wrong[] = {{nullptr, text.data()},
                 {text.data(), nullptr},
                 {text.data(), text.data() + 16},
                 {text.data() + 16, text.data()}};
    const uint64_t steps = tests::script().steps;
    for (const auto& [in, out] : wrong) {
        EXPECT_EQ(engine->sweep_device(*key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16}, in,
                                       out, bytes, nullptr),
                  WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(
            engine->xts_device(*xts_key, Direction::encrypt, {{1}, 300}, in, out, bytes, nullptr),
            WARPSEAL_INVALID_ARGUMENT);
    }
    EXPECT_EQ(tests::script().steps, steps) << "no call of the GPU";
    EXPECT_EQ(text, before);
    // The same calls with good pointers work.
    EXPECT_EQ(engine->sweep_device(*key, WARPSEAL_CTR, Direction::encrypt, {iv.data(), 16},
                                   text.data(), text.data(), bytes, nullptr),
              WARPSEAL_OK);
    EXPECT_EQ(engine->xts_device(*xts_key, Direction::encrypt, {{1}, 300}, text.data(), text.data(),
                                 bytes, nullptr),
              WARPSEAL_OK);
    EXPECT_GT(tests::script().steps, steps);
}

// A window needs memory for its own bytes alone. It may lie nearer to the input than a whole
// message.
TEST(BackendPointers, AWindowMayLieBesideTheInput) {
    constexpr size_t bytes = 900, begin = 100, window_bytes = 16;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(tests::create("cuda", engine, 1, tests::fake_backend()), WARPSEAL_OK);
    const auto key = tests::key_of(*engine);
    const Text text = tests::pattern(bytes, 1), iv = tests::pattern(12, 3);
    void* memory = nullptr;
    ASSERT_EQ(engine->device_alloc(3 * bytes, &memory), WARPSEAL_OK);
    auto* const first = static_cast<uint8_t*>(memory);
    Text tag(16);
    int32_t status = -1;
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = 1;
    batch.message_bytes = batch.in_stride = batch.out_stride = bytes;
    batch.iv_bytes = 12, batch.tag_bytes = 16;
    batch.ivs = iv.data(), batch.tags = tag.data(), batch.statuses = &status;
    for (const ptrdiff_t ahead : {-ptrdiff_t{window_bytes}, ptrdiff_t{bytes}}) {
        uint8_t *const in = first + bytes, *const out = in + ahead;
        ASSERT_EQ(engine->seal(*key, WARPSEAL_GCM, {iv.data(), 12}, {}, text.data(), in, bytes,
                               tag.data(), 16),
                  WARPSEAL_OK);
        batch.in = in, batch.out = out;
        const TextWindow window = {begin, window_bytes};
        warpseal::ResidentBatch begun;
        ASSERT_EQ(engine->begin_resident(0, *key, WARPSEAL_GCM, Direction::decrypt, batch, &window,
                                         nullptr, begun),
                  WARPSEAL_OK)
            << ahead;
        EXPECT_EQ(begun.finish(), WARPSEAL_OK);
        EXPECT_EQ(begun.finish(), WARPSEAL_OK) << "there is no batch any more";
        EXPECT_EQ(status, WARPSEAL_OK);
        EXPECT_EQ(Text(out, out + window_bytes),
                  Text(text.begin() + begin, text.begin() + begin + window_bytes));
    }
    engine->device_free(memory);
}

}  // namespace
