// The batcher across forks: a child has an empty queue and threads and counts of its own, whatever
// state its parent was in.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "engine/kem/scripted_sides.h"

namespace {

using namespace batched;

constexpr auto keypair = KemOperation::keypair, encapsulate = KemOperation::encapsulate,
               decapsulate = KemOperation::decapsulate;

class KemBatcherForked : public testing::Test {
protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "NOT RUN: ThreadSanitizer ends forked children of programs with threads";
#endif
    }
};

pid_t child_that(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(testing::Test::HasFailure() ? 100 : work());
    return child;
}
int result_of(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

// Runs requests through the batcher from three threads. Returns 7 if all results are right.
int work_in(KemBatcher& batcher) {
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            Items items(40);
            for (const KemOperation operation : {keypair, encapsulate, decapsulate}) {
                items.reset();
                for (size_t i = 0; i < items.count; ++i)
                    wrong += (i % 8 == 0 ? batcher.run(items.request(operation, i))
                                         : items.submit(batcher, operation, i)) != WARPSEAL_OK;
                wrong += !soon([&] { return items.done == items.count - items.count / 8; });
                wrong += items.good() != items.done;
            }
            wrong += items.received != items.sent;
        });
    for (std::thread& one : threads) one.join();
    return wrong == 0 && !testing::Test::HasFailure() ? 7 : 1;
}

// Each child forks at another moment of its parent's work, and forks again.
TEST_F(KemBatcherForked, EightChildrenOfABusyParent) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "NOT RUN: a lock of AddressSanitizer's allocator that a parent's thread holds "
                    "stays held in the child";
#endif
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(64, 1ms), system_random);
    EXPECT_EQ(work_in(batcher), 7);  // self-tests, whose lock a child could find held
    std::atomic<bool> enough{false};
    std::atomic<size_t> wrong{0};
    std::thread parent([&] {
        while (!enough) wrong += work_in(batcher) != 7;
    });
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(child_that([&] {
            if (counts_of(batcher).requests != 0 || counts_of(batcher).waiting != 0) return 2;
            if (work_in(batcher) != 7) return 3;
            const int grandchild = result_of(child_that([&] { return work_in(batcher); }));
            return grandchild == 7 ? work_in(batcher) : 4;
        }));
        std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
    }
    for (const pid_t child : children) EXPECT_EQ(result_of(child), 7);
    enough = true;
    parent.join();
    EXPECT_EQ(wrong, 0u);
}

// A child does not complete its parent's queued requests, and the parent does not lose them. A
// child can also destroy the batcher.
TEST_F(KemBatcherForked, QueuedRequestsBelongToTheParent) {
    const auto engine = gated_engine(1);
    Items items(20);
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    auto batcher = std::make_unique<KemBatcher>(*engine, with(64, 1ms), system_random);
    gate.set_open(false);
    for (size_t i = 0; i < items.count; ++i)
        ASSERT_EQ(items.submit(*batcher, encapsulate, i), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return gate.waiting() == 1; }));
    const pid_t child = child_that([&] {
        Items own(20);
        for (size_t i = 0; i < own.count; ++i)
            if (own.submit(*batcher, keypair, i) != WARPSEAL_OK) return 1;
        batcher.reset();
        if (own.good() != own.count) return 2;
        std::this_thread::sleep_for(20ms);
        return items.done == 0 ? 7 : 3;
    });
    const pid_t unused = child_that([&] {
        batcher.reset();
        return 7;
    });
    EXPECT_EQ(result_of(child), 7);
    EXPECT_EQ(result_of(unused), 7);
    EXPECT_EQ(items.done, 0u);
    gate.set_open(true);
    ASSERT_TRUE(soon([&] { return items.all_done(); }));
    EXPECT_EQ(items.good(), items.count);
}

// No memory can be mapped, not even a stack: submit refuses, run computes inline.
TEST_F(KemBatcherForked, WithoutThreads) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "NOT RUN: AddressSanitizer needs address space of its own";
#endif
    const auto engine = engine_on("cpu", 1);
    Items items(1);
    items.fill(*engine, keypair);
    KemBatcher batcher(*engine, {}, system_random);
    EXPECT_EQ(
        result_of(child_that([&] {
            (void)counts_of(batcher);
            const rlimit none{1, 1};
            if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
            try {  // the stacks of the parent's threads are available for reuse
                while (true) std::thread([] { pause(); }).detach();
            } catch (const std::system_error&) {
            }
            if (items.submit(batcher, keypair, 0) != WARPSEAL_LIMIT_EXCEEDED) return 2;
            if (batcher.run(items.request(keypair, 0)) != WARPSEAL_OK) return 3;
            const auto counts = counts_of(batcher);
            return counts.no_thread == 1 && counts.inline_requests == 1 && items.done == 0 ? 7 : 4;
        })),
        7);
}

// A parent prepares its GPU: a child neither waits for that nor prepares one, and works on the
// cores.
TEST_F(KemBatcherForked, WhileTheGpuIsPrepared) {
    static Sides own;
    sides = &own;
    const GpuBackend* const gpu = scripted_gpu();
    const auto engine = scripted_engine("auto", gpu);
    for (Gate* gate : {&own.opening, &own.preparing}) {
        gate->set_open(false);
        {
            KemBatcher batcher(*engine, with(64, 1ms), system_random);
            EXPECT_TRUE(soon([&] { return gate->waiting() == 1; }));
            auto another = std::make_unique<KemBatcher>(*engine, with(64, 1ms), system_random);
            EXPECT_EQ(work_in(batcher), 7);
            EXPECT_EQ(result_of(child_that([&] {
                          another.reset();
                          return work_in(batcher);
                      })),
                      7);
            gate->set_open(true);
        }
    }
}

// If a batch cannot be staged, its requests are computed one by one, and counted.
TEST_F(KemBatcherForked, WithoutMemoryForABatch) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "NOT RUN: AddressSanitizer needs address space of its own";
#endif
    const auto engine = engine_on("cpu", 1);
    Items items(16);
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    items.fill(*engine, decapsulate);
    KemBatcher batcher(*engine, full_batches(15), system_random);
    EXPECT_EQ(result_of(child_that([&] {
                  std::fill(items.received.begin(), items.received.end(), uint8_t{0});
                  if (items.submit(batcher, decapsulate, 0) != WARPSEAL_OK ||
                      !soon([&] { return items.done == 1; }))
                      return 1;
                  const rlimit none{1, 1};
                  if (setrlimit(RLIMIT_AS, &none) != 0) return 2;
                  for (size_t i = 1; i < items.count; ++i)
                      if (items.submit(batcher, decapsulate, i) != WARPSEAL_OK) return 3;
                  if (!soon([&] { return items.all_done(); }) || items.good() != items.count)
                      return 4;
                  if (items.received != items.sent) return 5;
                  const auto counts = counts_of(batcher);
                  return counts.redone == 15 && counts.batches == 2 && counts.failures == 0 ? 7 : 6;
              })),
              7);
}

// The staging buffer of a running batch is not copied to children. They still have the secret keys
// in their callers' memory.
TEST_F(KemBatcherForked, TheStagingBufferIsNotInheritedByChildren) {
    static GpuBackend backend;
    static const GpuBackend* fake;
    static std::atomic<int> asked;
    backend = *(fake = tests::fake_backend());
    asked = 0;
    backend.kem_host = [](int device, const CudaKem& kem, KemOperation operation,
                          const warpseal_kem_batch& batch, uint64_t in_flight,
                          const DrawnCoins* coins, uint64_t* done, uint64_t* failed) {
        if (operation == decapsulate && batch.count == 20) {
            const size_t bytes = batch.count * batch.secret_key_stride;
            const auto zeros = [&] {
                return std::count(batch.secret_keys, batch.secret_keys + bytes, 0);
            };
            EXPECT_LT(static_cast<size_t>(zeros()), bytes / 2);
            EXPECT_EQ(result_of(child_that(
                          [&] { return static_cast<size_t>(zeros()) == bytes ? 7 : 1; })),
                      7);
            ++asked;
        }
        return fake->kem_host(device, kem, operation, batch, in_flight, coins, done, failed);
    };
    const auto engine = engine_on("cuda", 1, &backend);
    Items items(21);
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    KemBatcher batcher(*engine, full_batches(20), system_random);
    for (size_t i = 0; i < items.count; ++i) {
        ASSERT_EQ(items.submit(batcher, decapsulate, i), WARPSEAL_OK);
        ASSERT_TRUE(i > 0 || soon([&] { return items.done == 1; }));
    }
    ASSERT_TRUE(soon([&] { return items.all_done(); }));
    EXPECT_EQ(items.received, items.sent);
    EXPECT_EQ(asked, 1);
}

}  // namespace
