// Where batches go: by the times of both sides, what is queued on them, and what was measured.
#include "engine/kem/batcher/placement.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace warpseal;
using namespace std::chrono_literals;
using Side = KemPlacement::Side;

constexpr KemKind kind{2, KemOperation::encapsulate}, other{2, KemOperation::decapsulate};
constexpr size_t any = SIZE_MAX;

// Cores that take 10 us for an item, and a GPU that takes 1 ms and 1 us for an item.
class KemPlaced : public testing::Test {
protected:
    KemPlaced() {
        learn(kind);
        learn(other);
    }
    void learn(KemKind of) {
        placement_.allow_gpu(of, {1e-3, 1e-6});
        for (int i = 0; i < 200; ++i)
            for (const size_t items : {1, 4000}) run(of, Side::cores, items, items * 10us);
    }
    void run(KemKind of, Side side, size_t items, BatcherClock::duration time) {
        const uint64_t number = placement_.begin(of, side, items, now_);
        now_ += time;
        placement_.end(number, now_);
    }
    size_t on_gpu(size_t items, size_t most = any, bool may_divide = false) {
        return placement_.gpu_items(kind, items, most, may_divide, now_);
    }

    KemPlacement placement_{16, 16};
    KemPlacement::Time now_{1h};
};

TEST(KemTimes, ALineThroughTwoMeasurements) {
    const KemTimeModel model = KemTimeModel::through(100, 3e-3, 1100, 5e-3);
    EXPECT_NEAR(model.seconds(100), 3e-3, 1e-9);
    EXPECT_NEAR(model.seconds(1100), 5e-3, 1e-9);
    EXPECT_NEAR(model.seconds(2100), 7e-3, 1e-9);
    // A larger batch that was quicker has the same time, not a negative one.
    EXPECT_NEAR(KemTimeModel::through(100, 3e-3, 1100, 2e-3).seconds(100000), 3e-3, 1e-4);
}

TEST(KemTimes, FollowMeasurementsOfAnySize) {
    KemTimeModel model(1e-3, 1e-6);
    for (int i = 0; i < 300; ++i)
        for (const size_t items : {10, 10000})
            model.measured(items, 50e-6 + 3e-6 * static_cast<double>(items));
    EXPECT_NEAR(model.seconds(10), 80e-6, 4e-6);
    EXPECT_NEAR(model.seconds(10000), 30.05e-3, 1e-3);
}

// The first two that count replace the assumed times; the one before them does not.
TEST(KemTimes, AssumedTimesAreReplaced) {
    KemTimeModel model = KemTimeModel::assumed(1e-3, 1e-6);
    model.measured(1000, 1);
    EXPECT_NEAR(model.seconds(1000), 2e-3, 1e-9);
    model.measured(1000, 20e-3);
    EXPECT_NEAR(model.seconds(1000), 20e-3, 1e-9);
    model.measured(1000, 200e-3);
    EXPECT_LT(model.seconds(1000), 50e-3);
}

TEST(KemTimes, OneSlowMeasurementChangesLess) {
    KemTimeModel slower(1e-3, 1e-6), faster(1e-3, 1e-6);
    slower.measured(1000, 8 * slower.seconds(1000));
    faster.measured(1000, faster.seconds(1000) / 8);
    const double before = KemTimeModel(1e-3, 1e-6).seconds(1000);
    EXPECT_GT(slower.seconds(1000), 1.5 * before);
    EXPECT_LT(slower.seconds(1000), 2 * before);
    EXPECT_LT(faster.seconds(1000), before / 2.5);
    EXPECT_GT(faster.seconds(1000), before / 4);
}

TEST_F(KemPlaced, EachBatchGoesToTheFasterSide) {
    EXPECT_EQ(on_gpu(40), 0u);
    EXPECT_EQ(on_gpu(80), 0u);
    EXPECT_EQ(on_gpu(130), 130u);
    EXPECT_EQ(on_gpu(4000), 4000u);
}

// Nearly equal times go to the GPU, which frees the cores.
TEST_F(KemPlaced, TheGpuIsLeftForAGainOnly) {
    EXPECT_EQ(on_gpu(105), 105u);
    EXPECT_EQ(on_gpu(85), 0u);
}

TEST_F(KemPlaced, WithoutAGpuEverythingGoesToTheCores) {
    KemPlacement placement(16, 16);
    EXPECT_EQ(placement.gpu_items(kind, 100000, any, true, now_), 0u);
    placement.allow_gpu(other, {1e-3, 1e-9});
    EXPECT_EQ(placement.gpu_items(kind, 100000, any, true, now_), 0u);
    EXPECT_GT(placement.gpu_items(other, 100000, any, true, now_), 0u);
}

TEST_F(KemPlaced, TheGpuGetsNoMoreThanItCanTake) {
    EXPECT_EQ(on_gpu(1000, 999), 0u);
    EXPECT_EQ(on_gpu(1000, 1000), 1000u);
    EXPECT_EQ(on_gpu(1000, 400, true), 400u);
}

// Placement counts the queued shards of a side: 400 items are 4 ms of the cores, 1.4 ms of the GPU.
TEST_F(KemPlaced, QueuedBatchesCount) {
    EXPECT_EQ(on_gpu(400), 400u);
    std::vector<uint64_t> queued;
    for (int i = 0; i < 3; ++i) queued.push_back(placement_.begin(kind, Side::gpu, 400, now_));
    EXPECT_EQ(on_gpu(400), 0u);      // 4 ms, not 5.6 ms
    EXPECT_EQ(on_gpu(4000), 4000u);  // the others end long before
    // Halfway through, each of the three needs 0.7 ms more: 3.5 ms.
    now_ += 2100us;
    EXPECT_EQ(on_gpu(400), 400u);
    now_ += 2100us;
    for (const uint64_t number : queued) placement_.end(number, now_);
    EXPECT_EQ(on_gpu(400), 400u);
    placement_.begin(other, Side::cores, 4000, now_);
    EXPECT_EQ(on_gpu(40), 0u);  // 0.8 ms and 1.04 ms: it shares the cores evenly
    placement_.begin(other, Side::cores, 4000, now_);
    EXPECT_EQ(on_gpu(40), 40u);  // 1.2 ms
}

// Batches that ran together were as fast as one after the other.
TEST_F(KemPlaced, SharedTimeIsNotMeasuredTwice) {
    for (int i = 0; i < 100; ++i) {
        uint64_t numbers[4];
        for (uint64_t& number : numbers) number = placement_.begin(kind, Side::cores, 100, now_);
        now_ += 4ms;
        for (const uint64_t number : numbers) placement_.end(number, now_);
    }
    EXPECT_EQ(on_gpu(80), 0u);
    EXPECT_EQ(on_gpu(130), 130u);
}

// A shard whose end is reported after an hour is measured by the time at which it ended.
TEST_F(KemPlaced, ALateReportIsNoSlowBatch) {
    for (int i = 0; i < 100; ++i) {
        const uint64_t late = placement_.begin(kind, Side::cores, 100, now_);
        const auto ended = now_ + 1ms;
        now_ += 1h;
        const uint64_t next = placement_.begin(kind, Side::cores, 100, now_);
        placement_.end(late, ended);
        now_ += 1ms;
        placement_.end(next, now_);
    }
    EXPECT_EQ(on_gpu(80), 0u);
    EXPECT_EQ(on_gpu(130), 130u);
}

TEST_F(KemPlaced, ABatchIsDividedIfBothFinishFirst) {
    placement_.allow_gpu(kind, {1e-3, 5e-6});
    // 250 items: 2.5 ms on the cores, 2.25 ms on the GPU; 1.5 ms on both.
    EXPECT_NEAR(static_cast<double>(on_gpu(250, any, true)), 100, 10);
    EXPECT_EQ(on_gpu(250), 250u);
    // A shard of fewer items than pay, on either side.
    EXPECT_EQ(on_gpu(124, any, true), 0u);
    placement_.allow_gpu(kind, {1e-6, 1e-6});
    EXPECT_EQ(on_gpu(100, any, true), 100u);
}

TEST_F(KemPlaced, AGpuThatBecomesSlowLosesItsBatches) {
    int slow = 0;
    for (; slow < 20 && on_gpu(1000) != 0; ++slow) run(kind, Side::gpu, 1000, 100ms);
    EXPECT_GE(slow, 2);  // one may be an accident
    EXPECT_LE(slow, 6);
}

// Before it has finished: what is late is expected to stay late.
TEST_F(KemPlaced, AGpuThatStopsGetsNoMore) {
    EXPECT_EQ(on_gpu(200), 200u);
    const uint64_t number = placement_.begin(kind, Side::gpu, 200, now_);
    now_ += 60ms;
    EXPECT_EQ(on_gpu(200), 0u);
    EXPECT_EQ(on_gpu(4000), 0u);
    placement_.end(number, now_);
    EXPECT_EQ(on_gpu(4000), 4000u);
}

// A small shard at a time, less and less often while it is slow, and its batches again afterwards.
TEST_F(KemPlaced, ASideIsTriedAgain) {
    while (on_gpu(200) != 0) run(kind, Side::gpu, 200, 100ms);
    std::vector<int> trials;
    for (int i = 0; i < 1000; ++i) {
        const size_t shard = on_gpu(200, any, true);
        if (shard == 0) continue;
        EXPECT_EQ(shard, KemPlacement::least_gpu_items);
        trials.push_back(i);
        run(kind, Side::gpu, shard, 100ms);
    }
    ASSERT_GE(trials.size(), 4u);
    EXPECT_LE(trials.size(), 6u);
    for (size_t i = 2; i < trials.size(); ++i)
        EXPECT_NEAR(trials[i] - trials[i - 1], 2 * (trials[i - 1] - trials[i - 2]), 3);
    size_t shard = 0;
    for (int i = 0; i < 100000 && shard != 200; ++i) {
        shard = on_gpu(200, any, true);
        if (shard != 0) run(kind, Side::gpu, shard, 1ms + shard * 1us);
    }
    EXPECT_EQ(shard, 200u);
}

TEST_F(KemPlaced, TheCoresAreTriedToo) {
    placement_.allow_gpu(kind, {1e-3, 1e-9});
    std::vector<size_t> shards;
    for (int i = 0; i < 40; ++i) shards.push_back(on_gpu(3200, any, true));
    EXPECT_EQ(std::count(shards.begin(), shards.end(), 3200), 39);
    EXPECT_EQ(std::count(shards.begin(), shards.end(), 3000), 1);
    // Neither a batch that cannot be divided nor a small one is a trial.
    for (int i = 0; i < 100; ++i) EXPECT_EQ(on_gpu(3200), 3200u);
    EXPECT_EQ(on_gpu(120, any, true), 120u);
}

}  // namespace
