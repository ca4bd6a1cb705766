// Secrets that a batch of `warpseal kem bench` leaves in memory.
#include "bench/kem/batch.h"

#include <gtest/gtest.h>

#include "cli/support/kem_sets.h"
#include "support/residue.h"

namespace {

using namespace warpseal::bench;
using warpseal::cli::kem_set;

TEST(KemBatch, LeavesNoSecret) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: sanitizers keep memory of their own";
#endif
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = 1;
    options.device = "cpu";
    warpseal_engine* engine = nullptr;
    ASSERT_EQ(warpseal_engine_create(&options, &engine), WARPSEAL_OK);
    constexpr uint64_t count =
        10;  // few enough that their memory comes from the heap and stays mapped
    residue::Patterns patterns;
    {
        KemBatch batch(engine, kem_set("ntruhps2048509"), count, false);
        for (const KemOperation operation : kem_operations) batch.run(operation, count);
        ASSERT_EQ(batch.mismatches(count), 0u);
        for (uint64_t i = 0; i < count; ++i) {
            const std::span<const uint8_t> secret = batch.secret(i);
            patterns.push_back(residue::masked(secret.data(), 16));
            patterns.push_back(residue::masked(secret.data() + 16, 16));
        }
        EXPECT_GE(residue::occurrences(patterns), patterns.size())
            << "sent and received, while it lives";
    }
    EXPECT_EQ(residue::occurrences(patterns), 0u);
    warpseal_engine_destroy(engine);
}

}  // namespace
