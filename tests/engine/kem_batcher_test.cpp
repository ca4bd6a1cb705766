// Batches of requests: what comes out, in whatever company; the bound; the end.
#include "engine/batched.h"

namespace {

using namespace batched;
constexpr KemOperation operations[] = {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate};

// Keys, ciphertexts and secrets all through the batcher: they belong together only if each item has what is its own.
TEST(KemBatcher, EveryItemHasItsOwn) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(100, 50ms), system_random);
    Items items(240);
    for (const KemOperation operation : operations) {
        items.forget();
        for (size_t i = 0; i < items.count; ++i) ASSERT_EQ(items.submit(batcher, operation, i), WARPSEAL_OK);
        ASSERT_TRUE(soon([&] { return items.all_done(); }));
        EXPECT_EQ(items.good(), items.count);
    }
    EXPECT_EQ(items.received, items.sent);
    items.fill(*engine, KemOperation::decapsulate);
    EXPECT_EQ(items.received, items.sent);
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.requests, 3 * items.count);
    EXPECT_GT(counts.largest_batch, 1u);
}

}  // namespace
