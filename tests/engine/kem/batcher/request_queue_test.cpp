// The rule for starting a batch, alone, with a test clock.
#include "engine/kem/batcher/request_queue.h"

#include <gtest/gtest.h>

#include <deque>

namespace {

using namespace warpseal;
using namespace std::chrono_literals;

struct Rule : testing::Test {
    KemBatchRule rule{100, 2000us};
    KemRequestQueue queue;
    std::deque<KemChunk> chunks;
    KemRequestQueue::Time now = KemRequestQueue::Time(1h);

    void arrive(BatcherClock::duration after, bool its_caller_waits = false) {
        KemChunk& one = chunks.emplace_back();
        one.push({}, now += after, its_caller_waits);
        queue.arrive(one, rule);
    }
    size_t take() { return queue.take(rule).size(); }
    // Returns the time from now until the batch starts if no other request arrives.
    BatcherClock::duration left() const { return queue.due(rule) - now; }
    // Sends requests at this gap, each after the end of the one before. Returns the number of them
    // that waited for others.
    int one_by_one(int count, BatcherClock::duration gap) {
        int waited = 0;
        for (int i = 0; i < count; ++i) {
            arrive(gap);
            waited += left() > 0us;
            EXPECT_EQ(take(), 1u);
            queue.finished(1, 1e-5);
        }
        return waited;
    }
};

TEST_F(Rule, AfterIdlenessAtOnce) {
    arrive(0us);
    EXPECT_LE(left(), 0us);
    EXPECT_EQ(take(), 1u);
    queue.finished(1, 1e-5);
    arrive(rule.delay + 1us);
    EXPECT_LE(left(), 0us);
}

// The clock may have started with the machine, a moment ago.
TEST_F(Rule, TheFirstAtOnceAfterBoot) {
    rule.delay = 1h;
    now = KemRequestQueue::Time(1s);
    arrive(0us);
    EXPECT_LE(left(), 0us);
}

TEST_F(Rule, WaitsForMoreRequestsUpToTheDelay) {
    arrive(0us);
    take();
    arrive(100us);
    EXPECT_EQ(left(), 800us);  // eight gaps without another
    for (int i = 1; i <= 12; ++i) {
        arrive(100us);
        EXPECT_EQ(left(), std::min<BatcherClock::duration>(800us, 2000us - i * 100us));
    }
    EXPECT_EQ(take(), 13u);
}

TEST_F(Rule, DenseArrivalsCanBeInterrupted) {
    arrive(0us);
    take();
    for (int i = 0; i < 50; ++i) arrive(1us);
    EXPECT_EQ(left(), rule.delay / 8);
}

// Each client sends its next request when the last batch is done: the shared wait does not count as
// their request interval.
TEST_F(Rule, TheWaitOfAFewClientsDoesNotGrow) {
    for (int clients = 2; clients <= 10; ++clients)
        for (int round = 0; round < 100; ++round) {
            for (int i = 0; i < clients; ++i) arrive(1us);
            if (round > 30) {
                EXPECT_EQ(left(), rule.delay / 8) << clients;
            }
            now = queue.due(rule);
            const size_t count = take();
            EXPECT_EQ(count, static_cast<size_t>(clients));
            now += 20us;
            queue.finished(count, 20e-6);
        }
}

TEST_F(Rule, FullAtOnce) {
    arrive(0us);
    take();
    queue.finished(1, 1e-5);
    for (int i = 0; i < 99; ++i) arrive(1us);
    EXPECT_GT(left(), 0us);
    arrive(1us);
    EXPECT_LE(left(), 0us);
    for (int i = 0; i < 50; ++i) arrive(1us);
    EXPECT_EQ(take(), 100u);
    EXPECT_EQ(queue.size(), 50u);
    EXPECT_EQ(take(), 50u);
    EXPECT_EQ(queue.running(), 2u);
}

TEST_F(Rule, FirstInFirstOut) {
    rule.most = 50;
    std::vector<uintptr_t> arrived, taken;
    for (const uint32_t count : {1u, KemChunk::capacity, 30u, KemChunk::capacity, 1u}) {
        KemChunk& chunk = chunks.emplace_back();
        for (uint32_t i = 0; i < count; ++i) {
            arrived.push_back(arrived.size());
            chunk.push({.user = reinterpret_cast<void*>(arrived.back())}, now += 1us, false);
        }
        queue.arrive(chunk, rule);
    }
    while (queue.size() != 0) {
        const size_t before = taken.size();
        const KemRequests batch = queue.take(rule);
        batch.each([&](const KemChunk& chunk, uint32_t begin, uint32_t end) {
            for (uint32_t i = begin; i < end; ++i)
                taken.push_back(reinterpret_cast<uintptr_t>(chunk.requests[i].user));
        });
        EXPECT_EQ(taken.size() - before, batch.size());
    }
    EXPECT_EQ(taken, arrived);
}

// The remainder of requests that one batch could not hold keeps its waiting time.
TEST_F(Rule, TheRemainderKeepsItsWaitingTime) {
    arrive(0us);
    take();
    const KemRequestQueue::Time first = now + 1us;
    for (int i = 0; i < 120; ++i) arrive(1us);
    take();
    EXPECT_EQ(queue.oldest(), first);
    EXPECT_LE(queue.due(rule), first + rule.delay);
}

TEST_F(Rule, TheFirstLimitGrowsWithTheThreads) {
    rule.most = 4096;
    for (const auto& [threads, limit] : {std::pair{1u, 256u}, {4u, 256u}, {16u, 1024u}}) {
        queue.set_first_limit(threads);
        EXPECT_EQ(queue.limit(rule), limit);
    }
    queue.set_first_limit(100);
    EXPECT_EQ(queue.limit(rule), 4096u);
}

TEST_F(Rule, SlowOperationsFormSmallerBatches) {
    rule.most = 4096;
    const auto limit_after = [&](size_t count, double seconds) {
        arrive(0us);
        take();
        queue.finished(count, seconds);
        return queue.limit(rule);
    };
    EXPECT_EQ(queue.limit(rule), 256u);
    EXPECT_EQ(limit_after(1, 0.02), 192u);  // the first; 0.25 items would suffice for its duration
    EXPECT_EQ(limit_after(1, 1e-5), 192u);  // too few to measure
    EXPECT_EQ(limit_after(192, 0.0024), 400u);
    EXPECT_EQ(limit_after(400, 0.0001), 1600u);
    EXPECT_EQ(limit_after(800, 0.0001), 4096u);   // 6400
    EXPECT_EQ(limit_after(4096, 0.1024), 4096u);  // 4850: 200 would have sufficed
    for (int i = 0; i < 100; ++i) limit_after(4096, 0.1024);
    EXPECT_NEAR(static_cast<double>(queue.limit(rule)), 200, 2);
    for (int i = 0; i < 100; ++i) limit_after(1, 1.0);
    EXPECT_EQ(queue.limit(rule), 16u);
    rule.most = 7;
    EXPECT_EQ(queue.limit(rule), 7u);
}

TEST_F(Rule, AShortBatchByTheLastDuration) {
    EXPECT_FALSE(queue.is_short(1, rule));  // unknown
    arrive(0us);
    take();
    queue.finished(10, 100e-6);
    EXPECT_TRUE(queue.is_short(24, rule));
    EXPECT_FALSE(queue.is_short(26, rule));  // 260 us are more than an eighth of the delay
}

// A client that sends one request after another would wait in vain each time.
TEST_F(Rule, ASingleClientSeldomWaits) {
    EXPECT_EQ(one_by_one(1, 60us), 0);
    EXPECT_EQ(one_by_one(1, 60us), 1);
    EXPECT_LE(one_by_one(5000, 60us), 15);
    // Two requests in flight at a time: from then on waiting pays.
    arrive(60us);
    arrive(60us);
    EXPECT_GT(left(), 0us);
    EXPECT_EQ(take(), 2u);
    arrive(60us);
    EXPECT_GT(left(), 0us);
}

TEST_F(Rule, ARequestDuringABatchInFlightCountsToo) {
    one_by_one(100, 60us);
    arrive(60us);
    EXPECT_LE(left(), 0us);
    EXPECT_EQ(take(), 1u);
    arrive(60us);
    EXPECT_GT(left(), 0us);
}

TEST_F(Rule, AClientThatWaitsForItselfIsNotExpected) {
    for (int i = 0; i < 20; ++i) arrive(10us, true);
    EXPECT_LE(left(), 0us);
    EXPECT_EQ(take(), 20u);
    arrive(10us);
    EXPECT_LE(left(), 0us);
}

TEST_F(Rule, ArrivalsOutOfOrder) {
    arrive(0us);
    take();
    arrive(100us);
    arrive(-50us);  // from another submission queue
    EXPECT_EQ(queue.oldest(), now);
    EXPECT_LE(queue.due(rule), now + rule.delay);
    EXPECT_GT(queue.due(rule), now);
}

}  // namespace
