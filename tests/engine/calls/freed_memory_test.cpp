// Memory that calls free holds nothing of their messages.
#include <cstring>

#include "engine/calls.h"
#include "engine/engines.h"
#include "engine/no_memory.h"

namespace {

using namespace warpseal;
using tests::Text;

// The counter block with which the chunks of a GCM message begin: its 96-bit IV, and a 1.
const uint8_t first_counter[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 1};
thread_local size_t blocks_with_counter = 0;

void look_for_counter(const void* memory, size_t bytes) {
    if (memmem(memory, bytes, first_counter, sizeof first_counter) != nullptr)
        ++blocks_with_counter;
}

// Each chunk of a message on several threads has a GHASH accumulator, from which the hash key
// follows where the ciphertext is known.
TEST(FreedMemory, AccumulatorsOfChunksAreZeroized) {
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(tests::create("cpu", engine, 4), WARPSEAL_OK);
    const auto key = tests::key_of(*engine);
    Text text = tests::pattern((size_t{9} << 20) + 5, 3);
    uint8_t tag[16];
    blocks_with_counter = 0;
    tests::before_free = look_for_counter;
    EXPECT_EQ(engine->seal(*key, WARPSEAL_GCM, {first_counter, 12}, {}, text.data(), text.data(),
                           text.size(), tag, 16),
              WARPSEAL_OK);
    EXPECT_EQ(blocks_with_counter, 0u);
    // Checks the search itself.
    auto* const planted = new Text(first_counter, first_counter + sizeof first_counter);
    delete planted;
    tests::before_free = nullptr;
    EXPECT_EQ(blocks_with_counter, 1u);
}

}  // namespace
