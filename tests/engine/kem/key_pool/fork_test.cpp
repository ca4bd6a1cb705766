// Ephemeral key pools: cases that need an exact moment, or kind, of fork.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/kem/key_pool/pool_clients.h"
#include "engine/kem/paths.h"

namespace {

using namespace pooled;

class KemPoolForked : public testing::Test {
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "NOT RUN: ThreadSanitizer ends forked children of programs with threads";
#endif
    }
};

int result_of(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

std::function<void()> while_drawing;  // once
bool failing = false;
bool watched(void* out, size_t bytes) {
    if (const auto work = std::exchange(while_drawing, nullptr)) work();
    return !failing && counted(out, bytes);
}

// A fork during key generation. The slots are reserved by a call that the child does not have, and
// are all free in the child.
TEST_F(KemPoolForked, WhileSlotsAreReservedByACall) {
    const auto engine = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, watched, pool), WARPSEAL_OK);
    Clients before(*pool, *engine, 2);
    int result = -1;
    while_drawing = [&] {
        const pid_t child = fork();
        if (child == 0) {
            Clients all(*pool, *engine, 6);
            _exit(before.decapsulate(*pool) == 0 && all.decapsulate(*pool) == 6 &&
                          !testing::Test::HasFailure()
                      ? 7
                      : 1);
        }
        result = result_of(child);
    };
    Clients during(*pool, *engine, 3);
    EXPECT_EQ(result, 7);
    EXPECT_EQ(before.decapsulate(*pool) + during.decapsulate(*pool), 5u);
}

// The same while a background thread fills the pool: the child has no thread to wait for.
TEST_F(KemPoolForked, WhileSlotsAreBeingFilled) {
    const auto engine = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, watched, pool), WARPSEAL_OK);
    int result = -1;
    while_drawing = [&] {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(pool->fill() == WARPSEAL_OK && pool->fill() == WARPSEAL_OK &&
                          !testing::Test::HasFailure()
                      ? 7
                      : 1);
        }
        result = result_of(child);
    };
    EXPECT_EQ(pool->fill(), WARPSEAL_OK);
    EXPECT_EQ(result, 7);
    Clients all(*pool, *engine, 6);
    EXPECT_EQ(all.decapsulate(*pool), 6u);
}

// A child could wait forever for a self-test started by its parent: a pool runs its self-tests at
// creation.
TEST_F(KemPoolForked, ItsPathsAreSelfTestedAtCreation) {
    const auto engine = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 1, counted, pool), WARPSEAL_OK);
    const KemImpl& kem = engine->impl().kem;
    for (const KemOperation operation : {KemOperation::keypair, KemOperation::decapsulate})
        EXPECT_GE(kem.chosen[kem_set_number(set.name)][static_cast<int>(operation)], 0);
    EXPECT_GE(kem.chosen_for_coins, 0);
}

// A process cloned past the C library, so that no fork handler ran: the pages of its keys are
// empty, and it detects that.
TEST_F(KemPoolForked, PastTheLibrary) {
    const auto engine = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, counted, pool), WARPSEAL_OK);
    Clients some(*pool, *engine, 4);
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) {
        const bool refused = some.decapsulate(*pool) == 0;
        Clients all(*pool, *engine, 6);
        _exit(refused && all.decapsulate(*pool) == 6 && !testing::Test::HasFailure() ? 7 : 1);
    }
    EXPECT_EQ(result_of(child), 7);
    EXPECT_EQ(some.decapsulate(*pool), 4u);
}

// A pool that cannot restart in a child reports that for each item, and zeroes the secrets.
TEST_F(KemPoolForked, WithoutRandomEveryItemFails) {
    const auto engine = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 3, watched, pool), WARPSEAL_OK);
    Clients some(*pool, *engine, 3);
    // More than one chunk of a call.
    constexpr size_t count = 3000;
    std::vector<uint64_t> handles(count, some.handles[0]);
    Text received(count * 32, 0xa5);
    std::vector<int32_t> statuses(count, -1);
    const pid_t child = fork();
    if (child == 0) {
        failing = true;
        const PooledTexts texts{some.ciphertexts.data(), 0, received.data(), 32,
                                statuses.data(),         32};
        _exit(pool->decapsulate(count, handles.data(), texts) == WARPSEAL_NO_RANDOM &&
                      received == Text(count * 32, 0) &&
                      statuses == std::vector<int32_t>(count, WARPSEAL_NO_RANDOM)
                  ? 7
                  : 1);
    }
    EXPECT_EQ(result_of(child), 7);
    EXPECT_EQ(some.decapsulate(*pool), 3u);
}

}  // namespace
