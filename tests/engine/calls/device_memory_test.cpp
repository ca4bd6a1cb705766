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

}  // namespace
