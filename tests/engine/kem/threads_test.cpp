// Splitting a key encapsulation call over several threads.
#include "engine/kem/gated_kem.h"

namespace {

using namespace batched;

// The first thread holds its items until the others have done that many.
std::atomic<uint64_t> others_done, others_required;
std::atomic<bool> held, was_delayed;
std::atomic<std::thread::id> holder;

uint64_t encapsulate_while_one_holds(const warpseal_kem_batch& batch, uint64_t first,
                                     uint64_t count, void* work) {
    const uint64_t failed =
        best_kem().run[static_cast<int>(KemOperation::encapsulate)](batch, first, count, work);
    if (others_required == 0) return failed;  // a self-test
    if (!held.exchange(true)) {
        holder = std::this_thread::get_id();
        was_delayed = !soon([] { return others_done >= others_required; });
    }
    if (holder.load() != std::this_thread::get_id()) others_done += count;
    return failed;
}

// A slow or preempted thread delays the others by at most 16 encapsulations, about 0.1 ms.
TEST(KemThreads, AThreadTakesASmallJobAtATime) {
    const std::unique_ptr<Engine> engine = engine_encapsulating_by<encapsulate_while_one_holds>(2);
    for (const size_t count : {1024, 100, 32}) {
        Items items(count);
        items.fill(*engine, KemOperation::keypair);
        others_required = 0;
        items.fill(
            *engine,
            KemOperation::encapsulate);  // runs the path's self-test, and starts the other thread
        others_required = count - 16;
        others_done = 0;
        held = was_delayed = false;
        holder = std::thread::id();
        items.fill(*engine, KemOperation::encapsulate);
        EXPECT_TRUE(held);
        EXPECT_FALSE(was_delayed) << "the other did " << others_done << " of " << count;
        items.fill(*engine, KemOperation::decapsulate);
        EXPECT_EQ(items.received, items.sent);
    }
}

}  // namespace
