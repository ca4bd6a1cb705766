// The batcher with a GPU: prepared in the background, while the cores serve, and then used where it
// finishes first.
#include <signal.h>

#include "engine/engine_impl.h"
#include "engine/kem/batcher/preparation.h"
#include "engine/kem/scripted_sides.h"

namespace {

using namespace batched;

constexpr auto keypair = KemOperation::keypair, encapsulate = KemOperation::encapsulate,
               decapsulate = KemOperation::decapsulate;
constexpr size_t large = 200;

class KemBatcherOnGpu : public testing::Test {
protected:
    // Times are short, so that no batch reaches the longest time and lowers the limit of the next.
    // 200 items take 2 us on the cores and 1.7 us on the GPU; 40 take 0.4 us and 1.54 us.
    KemBatcherOnGpu() : items_(large), one_(1) {
        sides = &sides_;
        sides_.set_times(10ns, 1500ns, 1ns);
        items_.fill(*engine_on_cores_, keypair);
        one_.fill(*engine_on_cores_, keypair);
    }
    ~KemBatcherOnGpu() override {
        sides_.opening.set_open(true);
        sides_.preparing.set_open(true);
        sides_.decapsulating.set_open(true);
    }
    std::unique_ptr<Engine> unprepared_engine() {
        sides_.preparing.set_open(false);
        gpu_ = scripted_gpu();
        return scripted_engine("auto", gpu_);
    }
    // Completes the first request of a batcher, which waits for no others.
    void first(KemBatcher& batcher) {
        one_.reset();
        EXPECT_EQ(one_.submit(batcher, encapsulate, 0), WARPSEAL_OK);
        EXPECT_TRUE(soon([&] { return one_.all_done(); }));
    }
    // Completes a full batch. Returns the number of items that the GPU ran.
    uint64_t burst(KemBatcher& batcher) {
        const uint64_t before = sides_.gpu_items;
        items_.reset();
        for (size_t i = 0; i < large; ++i)
            EXPECT_EQ(items_.submit(batcher, encapsulate, i), WARPSEAL_OK);
        EXPECT_TRUE(soon([&] { return items_.all_done(); }));
        EXPECT_EQ(items_.good(), large);
        return sides_.gpu_items - before;
    }
    // Runs no request while the GPU is timed, as they would advance the same clock. Encapsulation
    // is settled when the preparation begins with decapsulation.
    void bursts_until_the_gpu_serves(KemBatcher& batcher) {
        sides_.prepares_decapsulation = false;
        sides_.blocks = 0;
        for (int i = 0; i < 4; ++i) {  // each after a silence
            FakeClock::advance(2h);
            first(batcher);
        }
        one_.reset();
        EXPECT_EQ(one_.submit(batcher, decapsulate, 0), WARPSEAL_OK);
        EXPECT_TRUE(soon([&] { return one_.all_done(); }));
        for (int i = 0; i < 6; ++i) EXPECT_EQ(burst(batcher), 0u);
        sides_.preparing.set_open(true);
        ASSERT_TRUE(soon([&] { return sides_.prepares_decapsulation || gpu_->lost(); }));
    }
    void expect_secrets_match() {
        items_.fill(*engine_on_cores_, decapsulate);
        EXPECT_EQ(items_.received, items_.sent);
    }

    Sides sides_;
    const GpuBackend* gpu_ = nullptr;
    Items items_, one_;
    std::unique_ptr<Engine> engine_on_cores_ = engine_on("cpu", 1);
};

TEST_F(KemBatcherOnGpu, TheCoresServeUntilItIsPrepared) {
    for (Gate* gate : {&sides_.opening, &sides_.preparing}) {
        const auto engine = scripted_engine("auto", scripted_gpu());
        gate->set_open(false);
        KemBatcher batcher(*engine, full_batches(large), system_random);
        ASSERT_TRUE(soon([&] { return gate->waiting() == 1; }));
        first(batcher);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(burst(batcher), 0u);
        expect_secrets_match();
        EXPECT_EQ(gate->waiting(), 1);
        EXPECT_EQ(tests::script().host_calls, 0u);
        EXPECT_EQ(sides_.blocks, 0u);
        gate->set_open(true);
        ASSERT_TRUE(soon([&] { return burst(batcher) != 0; }));
        expect_secrets_match();
        sides_.blocks = 0;
    }
}

// Opens the GPU after three idle polls in a row, or after 30.
TEST_F(KemBatcherOnGpu, ThePreparationWaitsUntilTheBatcherIsIdle) {
    for (const int busy_polls : {20, 1000}) {
        const auto engine = scripted_engine("auto", scripted_gpu());
        sides_.opening.set_open(false);
        std::atomic<int> polls{0}, unblocked{0};
        const KemBatcherOptions options = full_batches(large);
        KemPreparation preparation(
            *engine, options, system_random, 1, [](KemKind, const auto&) {},
            [&] {
                sigset_t mask;
                pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                unblocked += sigismember(&mask, SIGTERM) == 0;
                return ++polls <= busy_polls;
            });
        ASSERT_TRUE(preparation.start());
        ASSERT_TRUE(soon([&] { return sides_.opening.waiting() == 1; }));
        EXPECT_EQ(polls, busy_polls == 20 ? 23 : 30);
        EXPECT_EQ(unblocked, 0) << "the program's signals are for its own threads";
        preparation.stop();
        sides_.opening.set_open(true);
    }
}

// The key pairs and secrets of the timed calls are in the block.
TEST_F(KemBatcherOnGpu, ABlockIsZeroizedAfterTheTimedCalls) {
    const auto engine = scripted_engine("auto", scripted_gpu());
    const KemBatcherOptions options = full_batches(large);
    for (const KemOperation operation : {keypair, encapsulate}) {
        std::atomic<int> settled{0};
        KemPreparation preparation(*engine, options, system_random, 1,
                                   [&](KemKind, const KemPreparation::Outcome& outcome) {
                                       EXPECT_TRUE(outcome);
                                       ++settled;
                                   },
                                   {});
        ASSERT_TRUE(preparation.start());
        preparation.ask({0, operation});
        ASSERT_TRUE(soon([&] { return settled == 1; }));
        const KemPinnedBlocks::Block block = preparation.blocks().lease();
        ASSERT_FALSE(block.empty());
        EXPECT_TRUE(
            std::all_of(block.begin(), block.end(), [](uint8_t byte) { return byte == 0; }));
        preparation.blocks().give_back(block);
    }
}

// The random source throws while an operation is timed: the block is zeroized and freed, and the
// kind stays on the cores.
TEST_F(KemBatcherOnGpu, ABlockIsGivenBackAfterAnException) {
    const auto engine = scripted_engine("auto", scripted_gpu());
    const KemBatcherOptions options = full_batches(large);
    std::atomic<int> settled{0};
    {
        KemPreparation preparation(
            *engine, options, [](void*, size_t) -> bool { throw std::bad_alloc(); }, 1,
            [&](KemKind, const KemPreparation::Outcome& outcome) {
                EXPECT_FALSE(outcome);
                ++settled;
            },
            {});
        ASSERT_TRUE(preparation.start());
        preparation.ask({0, encapsulate});
        ASSERT_TRUE(soon([&] { return settled == 1; }));
        EXPECT_EQ(sides_.blocks, 1u);
        const KemPinnedBlocks::Block block = preparation.blocks().lease();
        EXPECT_FALSE(block.empty());
        preparation.blocks().give_back(block);
    }
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
}

// A request on the cores is in flight: at least 25 polls of a millisecond are left.
TEST_F(KemBatcherOnGpu, ARequestInFlightDelaysThePreparation) {
    const auto engine =
        engine_encapsulating_by<encapsulate_past_the_gate>(1, "auto", scripted_gpu());
    sides_.opening.set_open(false);
    sides_.preparing.set_open(false);
    gate.set_open(false);
    {
        KemBatcher batcher(*engine, full_batches(1), system_random);
        ASSERT_TRUE(soon([&] { return sides_.opening.waiting() == 1; }));
        one_.reset();
        ASSERT_EQ(one_.submit(batcher, encapsulate, 0), WARPSEAL_OK);
        ASSERT_TRUE(soon([] { return gate.waiting() == 1; }));
        const auto begin = std::chrono::steady_clock::now();
        sides_.opening.set_open(true);
        ASSERT_TRUE(soon([&] { return sides_.preparing.waiting() == 1; }));
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 25ms);
        gate.set_open(true);
        sides_.preparing.set_open(true);
    }
    EXPECT_EQ(one_.good(), 1u);
}

TEST_F(KemBatcherOnGpu, LargeBatchesGoThereAndSmallOnesToTheCores) {
    const auto engine = unprepared_engine();
    constexpr size_t small = 40;
    Items few(small);
    std::copy_n(items_.publics.begin(), few.publics.size(), few.publics.begin());
    // Until then the preparation leases no pinned block.
    sides_.decapsulating.set_open(false);
    {
        KemBatcher batcher(*engine, full_batches(large), system_random);
        bursts_until_the_gpu_serves(batcher);
        const uint64_t pinned = sides_.pinned_calls, calls = sides_.gpu_calls;
        for (int i = 0; i < 10; ++i) EXPECT_EQ(burst(batcher), large);
        expect_secrets_match();
        EXPECT_EQ(sides_.gpu_calls, calls + 10);
        EXPECT_EQ(sides_.pinned_calls, pinned + 10);
        sides_.gpu_items = 0;
        for (size_t i = 0; i < small; ++i)
            ASSERT_EQ(few.submit(batcher, encapsulate, i), WARPSEAL_OK);
        sides_.decapsulating.set_open(true);
    }
    EXPECT_EQ(few.good(), small);
    EXPECT_EQ(sides_.gpu_items, 0u);
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
}

// 200 items take 2 us on either side, and 1.2 us on both.
TEST_F(KemBatcherOnGpu, ABatchIsDividedBetweenBoth) {
    sides_.set_times(10ns, 600ns, 7ns);
    const auto engine = unprepared_engine();
    KemBatcher batcher(*engine, full_batches(large), system_random);
    bursts_until_the_gpu_serves(batcher);
    expect_secrets_match();
    const uint64_t before = sides_.core_items, there = burst(batcher);
    EXPECT_GT(there, 40u);
    EXPECT_LT(there, 160u);
    EXPECT_EQ(sides_.core_items - before + there, large);
}

TEST_F(KemBatcherOnGpu, ItCannotBeOpened) {
    sides_.opens = WARPSEAL_NO_DEVICE;
    const auto engine = scripted_engine("auto", scripted_gpu());
    KemBatcher batcher(*engine, full_batches(large), system_random);
    first(batcher);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(burst(batcher), 0u);
    expect_secrets_match();
    EXPECT_EQ(tests::script().host_calls, 0u);
}

// Its self-test of encapsulation fails, so it decapsulates only.
TEST_F(KemBatcherOnGpu, AKindThatItCannotRunStaysOnTheCores) {
    const auto engine =
        scripted_engine("auto", scripted_gpu({.wrong_kem = 1u << static_cast<int>(encapsulate)}));
    KemBatcher batcher(*engine, full_batches(large), system_random);
    first(batcher);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(burst(batcher), 0u);
    expect_secrets_match();
}

TEST_F(KemBatcherOnGpu, NoMemoryCanBePinned) {
    sides_.pins = WARPSEAL_OUT_OF_MEMORY;
    // Nothing is timed without pinned memory; the GPU is assumed to need 0.5 ms. The cores need 2.
    sides_.core_item = BatcherClock::duration(10us).count();
    const auto engine = scripted_engine("auto", scripted_gpu());
    KemBatcher batcher(*engine, full_batches(large), system_random);
    first(batcher);
    ASSERT_TRUE(soon([&] { return burst(batcher) != 0; }));
    EXPECT_EQ(burst(batcher), large);
    EXPECT_EQ(sides_.blocks + sides_.pinned_calls, 0u);
    expect_secrets_match();
}

// It loses its batches, and gets them back once it is fast again.
TEST_F(KemBatcherOnGpu, ItBecomesSlow) {
    // 20 us for 200 items on the cores: in a trial both sides advance the clock.
    sides_.set_times(100ns, 1us, 1ns);
    const auto engine = unprepared_engine();
    KemBatcher batcher(*engine, full_batches(large), system_random);
    bursts_until_the_gpu_serves(batcher);
    EXPECT_EQ(burst(batcher), large);
    sides_.computes = false;
    sides_.gpu_delay = BatcherClock::duration(1ms).count();
    int slow = 0;
    while (slow < 20 && burst(batcher) == large) ++slow;
    EXPECT_LT(slow, 6);
    const uint64_t before = sides_.gpu_items;
    for (int i = 0; i < 20; ++i) burst(batcher);
    EXPECT_LT(sides_.gpu_items - before, large);  // trials
    sides_.gpu_delay = BatcherClock::duration(1us).count();
    int lost = 0;
    while (lost < 2000 && burst(batcher) != large) ++lost;
    EXPECT_LT(lost, 2000);
}

// Each step from the batcher's creation on, in strides: no request fails.
TEST_F(KemBatcherOnGpu, ItIsLostAtAnyStep) {
    bool lost = true;
    for (uint64_t at = 1; lost; at += 97) {
        const auto engine = unprepared_engine();
        tests::script().fail_at = at;
        {
            KemBatcher batcher(*engine, full_batches(large), system_random);
            bursts_until_the_gpu_serves(batcher);
            const uint64_t there = burst(batcher);
            expect_secrets_match();
            EXPECT_TRUE(gpu_->lost() || there == large) << at;
            EXPECT_TRUE(!gpu_->lost() || burst(batcher) == 0) << at;
        }
        lost = gpu_->lost();
        EXPECT_EQ(tests::script().calls_after_lost, 0u);
        EXPECT_TRUE(lost || tests::script().live_host_allocations == 0);
        EXPECT_TRUE(lost || at > 500) << at;
    }
}

// The batcher completes its requests, and then waits for the step in progress alone.
TEST_F(KemBatcherOnGpu, DestroyedWhileItIsPrepared) {
    for (Gate* gate : {&sides_.opening, &sides_.preparing}) {
        const auto engine = scripted_engine("auto", scripted_gpu());
        gate->set_open(false);
        auto batcher = std::make_unique<KemBatcher>(*engine, full_batches(large), system_random);
        ASSERT_TRUE(soon([&] { return gate->waiting() == 1; }));
        items_.reset();
        for (size_t i = 0; i + 1 < items_.count; ++i)
            ASSERT_EQ(items_.submit(*batcher, encapsulate, i), WARPSEAL_OK);
        std::thread destroyer([&] { batcher.reset(); });
        EXPECT_TRUE(soon([&] { return items_.done == items_.count - 1; }));
        EXPECT_EQ(gate->waiting(), 1);
        gate->set_open(true);
        destroyer.join();
        EXPECT_EQ(items_.good(), items_.count - 1);
        EXPECT_EQ(sides_.blocks, 0u);
        EXPECT_EQ(tests::script().host_calls, 0u);
        EXPECT_EQ(tests::script().live_host_allocations, 0u);
    }
}

// A batcher that gets no request still frees what it has prepared.
TEST_F(KemBatcherOnGpu, DestroyedUnused) {
    const auto engine = scripted_engine("auto", scripted_gpu());
    {
        KemBatcher batcher(*engine, full_batches(large), system_random);
        EXPECT_TRUE(soon([&] { return sides_.blocks == 2; }));
    }
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
}

// An engine of GPUs alone: no core may serve.
TEST_F(KemBatcherOnGpu, RequestsToTheGpuAloneWait) {
    const auto engine = scripted_engine("cuda", scripted_gpu());
    sides_.preparing.set_open(false);
    KemBatcher batcher(*engine, full_batches(large), system_random);
    ASSERT_TRUE(soon([&] { return sides_.preparing.waiting() == 1; }));
    items_.reset();
    for (size_t i = 0; i < large; ++i)
        ASSERT_EQ(items_.submit(batcher, encapsulate, i), WARPSEAL_OK);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(items_.done, 0u);
    sides_.preparing.set_open(true);
    ASSERT_TRUE(soon([&] { return items_.all_done(); }));
    EXPECT_EQ(items_.good(), items_.count);
    EXPECT_EQ(sides_.core_items, 0u);
    EXPECT_EQ(sides_.gpu_items, items_.count);
    expect_secrets_match();
}

TEST_F(KemBatcherOnGpu, TheGpuAloneDestroyedWhileItIsPrepared) {
    const auto engine = scripted_engine("cuda", scripted_gpu());
    sides_.preparing.set_open(false);
    auto batcher = std::make_unique<KemBatcher>(*engine, full_batches(large), system_random);
    ASSERT_TRUE(soon([&] { return sides_.preparing.waiting() == 1; }));
    items_.reset();
    for (size_t i = 0; i < 50; ++i) ASSERT_EQ(items_.submit(*batcher, encapsulate, i), WARPSEAL_OK);
    std::thread destroyer([&] { batcher.reset(); });
    EXPECT_TRUE(soon([&] { return items_.done == 50; }));
    sides_.preparing.set_open(true);
    destroyer.join();
    EXPECT_EQ(items_.good(), 50u);
    EXPECT_EQ(sides_.core_items, 0u);
}

// An engine on the cores does not touch a GPU.
TEST_F(KemBatcherOnGpu, CoresAlone) {
    const auto engine = scripted_engine("cpu", scripted_gpu());
    {
        KemBatcher batcher(*engine, full_batches(large), system_random);
        first(batcher);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(burst(batcher), 0u);
    }
    EXPECT_EQ(tests::script().steps, 0u);
    EXPECT_EQ(sides_.blocks, 0u);
}

}  // namespace
