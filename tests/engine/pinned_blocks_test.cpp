// Blocks of pinned memory that the engine keeps: their bound, failed allocations, a lost GPU, and
// forked children.
#include "engine/pinned_blocks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "engine/engines.h"
#include "engine/no_memory.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::script;

class Pinned : public testing::Test {
protected:
    void open(const tests::Script& plan = {}) {
        ASSERT_EQ(tests::create("cuda", engine, 1, tests::fake_backend(plan)), WARPSEAL_OK);
        ASSERT_EQ(engine->cuda_device(), 0);
    }
    PinnedBlocks::Lease acquire(bool needed) {
        return engine->pinned_blocks().acquire(needed, all_in_use);
    }
    // Leases of all shared blocks.
    std::vector<PinnedBlocks::Lease> all_shared() {
        std::vector<PinnedBlocks::Lease> leases;
        while (PinnedBlocks::Lease lease = acquire(false)) {
            EXPECT_FALSE(all_in_use);
            leases.push_back(std::move(lease));
            if (leases.size() > PinnedBlocks::most_shared) break;
        }
        EXPECT_TRUE(all_in_use);
        EXPECT_EQ(leases.size(), PinnedBlocks::most_shared);
        return leases;
    }

    std::unique_ptr<Engine> engine;
    bool all_in_use = false;
};

// All users share 256 MiB. Beyond them each gets the one block that it needs.
TEST_F(Pinned, MemoryIsBounded) {
    open();
    EXPECT_EQ(PinnedBlocks::most_shared * PinnedBlocks::block_bytes, size_t{256} << 20);
    {
        std::vector<PinnedBlocks::Lease> leases = all_shared();
        {
            const PinnedBlocks::Lease needed = acquire(true);
            ASSERT_NE(needed, nullptr);
            EXPECT_FALSE(all_in_use);
            EXPECT_EQ(acquire(false), nullptr);
            EXPECT_TRUE(all_in_use);
        }
        const uint64_t allocations = script().host_allocations;
        leases.pop_back();
        EXPECT_NE(acquire(false), nullptr);
        EXPECT_EQ(script().host_allocations, allocations) << "a released one is used again";
        EXPECT_EQ(engine->pinned_blocks().in_use(), PinnedBlocks::most_shared - 1);
    }
    EXPECT_EQ(engine->pinned_blocks().in_use(), 0u);
    {
        const std::vector<PinnedBlocks::Lease> leases = all_shared();
        std::vector<PinnedBlocks::Lease> needed;
        for (int i = 0; i < 5; ++i) needed.push_back(acquire(true));
    }
    EXPECT_EQ(script().live_host_allocations, PinnedBlocks::most_shared) << "no more are kept";
    engine.reset();
    EXPECT_EQ(script().live_host_allocations, 0u);
}

// Memory that could not be had does not count as a block in use.
TEST_F(Pinned, FailedAllocationsAreNotInUse) {
    open();
    long failures = 0;
    for (bool succeeds = false; !succeeds; failures += succeeds ? 0 : 1) {
        tests::refused_once = true;
        tests::requests_met = failures;
        succeeds = acquire(false) != nullptr;
        tests::requests_met = -1;
        ASSERT_EQ(engine->pinned_blocks().in_use(), 0u);
        ASSERT_LT(failures, 100);
    }
    EXPECT_GE(failures, 2);
    EXPECT_EQ(all_shared().size(), PinnedBlocks::most_shared);
}

// Where no memory can be pinned, a needed block is pageable, and is not kept for others.
TEST_F(Pinned, NeededBlocksMayBePageable) {
    tests::Script plan;
    plan.pinnable = 1;
    open(plan);
    const PinnedBlocks::Lease pinned = acquire(false);
    ASSERT_NE(pinned, nullptr);
    EXPECT_EQ(acquire(false), nullptr);
    EXPECT_FALSE(all_in_use);
    for (int i = 0; i < 3; ++i) {
        const PinnedBlocks::Lease needed = acquire(true);
        ASSERT_NE(needed, nullptr);
        std::memset(needed.get(), 1, PinnedBlocks::block_bytes);
    }
    EXPECT_EQ(acquire(false), nullptr) << "a pageable block is kept";
    EXPECT_EQ(script().live_host_allocations, 1u);
}

// After a loss no call of the backend is made. The process frees the memory when it ends.
TEST_F(Pinned, ALostGpu) {
    open();
    { const PinnedBlocks::Lease pinned = acquire(false); }
    const PinnedBlocks::Lease pinned = acquire(false);
    script().lost = true;
    EXPECT_EQ(acquire(false), nullptr);
    EXPECT_NE(acquire(true), nullptr);
    EXPECT_EQ(script().calls_after_lost, 0u);
}

// A child neither frees nor overwrites its parent's blocks, which it does not have.
TEST_F(Pinned, AForkedChildLeavesThem) {
    open();
    uint8_t* at = nullptr;
    {
        const PinnedBlocks::Lease pinned = acquire(false);
        at = pinned.get();
        std::memset(at, 0x5a, PinnedBlocks::block_bytes);
    }
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        engine.reset();
        const bool left = at[0] == 0x5a && script().live_host_allocations == 1;
        _exit(left ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    engine.reset();
    EXPECT_EQ(script().live_host_allocations, 0u);
}

}  // namespace
