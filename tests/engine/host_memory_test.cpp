// Host memory of an engine: it is zeroized when it is freed.
#include <gtest/gtest.h>

#include "support/random.h"
#include "support/residue.h"
#include "support/targets.h"

namespace {

TEST(HostMemory, IsZeroizedWhenFreed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    constexpr size_t bytes = 20'000,
                     first = 4096;  // the allocator may write at the start and end of its block
    tests::Random random(81);
    const auto engine = targets::engine("cpu", 1);
    const residue::Text masked = random.text(64);
    const residue::Patterns patterns = {masked};
    void *memory = nullptr, *neighbour = nullptr;  // keeps the heap from shrinking
    ASSERT_EQ(warpseal_host_alloc(engine.get(), bytes, &memory), WARPSEAL_OK);
    ASSERT_EQ(warpseal_host_alloc(engine.get(), bytes, &neighbour), WARPSEAL_OK);
    for (size_t at = first; at + first <= bytes; at += 1024)
        for (size_t i = 0; i < masked.size(); ++i)
            static_cast<uint8_t*>(memory)[at + i] = static_cast<uint8_t>(masked[i] ^ residue::mask);
    EXPECT_GE(residue::occurrences(patterns), 10u) << "the search itself is blind";
    warpseal_host_free(engine.get(), memory);
    EXPECT_EQ(residue::occurrences(patterns), 0u);
    warpseal_host_free(engine.get(), neighbour);
}

}  // namespace
