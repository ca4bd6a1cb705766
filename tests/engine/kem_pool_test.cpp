// Pools whose secret keys lie on a GPU: whatever step fails, a ticket gives its secret or none, and the pool goes on.
#include "engine/kem_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/inside.h"
#include "engine/pool_clients.h"
#include "engine/scripted_door.h"

namespace {

using namespace pooled;

TEST(KemPoolOnGpu, SecretKeysLieThereAndAreWipedThere) {
    const GpuDoor* door = tests::scripted_door();
    const auto engine = engine_on("cuda", door), cores = engine_on("cpu", nullptr);
    const uint64_t before = tests::script().live_device_allocations;
    {
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 12, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before + 2);
        for (int round = 0; round < 3; ++round) {
            Clients some(*pool, *cores, 7), others(*pool, *cores, 5);
            const uint64_t steps = tests::script().steps;
            EXPECT_EQ(some.decapsulate(*pool), 7u);
            EXPECT_GT(tests::script().steps, steps);
            EXPECT_EQ(some.decapsulate(*pool), 0u);
            pool->drop(2, others.tickets.data());
            EXPECT_EQ(others.decapsulate(*pool), 3u);
        }
    }
    EXPECT_EQ(tests::script().live_device_allocations, before);
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
    EXPECT_FALSE(tests::script().lost);
}

// What a driver copies to other memory goes through its own, which nobody wipes.
TEST(KemPoolOnGpu, SecretsComeDownIntoPinnedMemoryThatIsWiped) {
    static struct {
        uint8_t* pinned = nullptr;
        size_t bytes = 0, downloads = 0, into_pinned = 0;
    } seen;
    static GpuDoor door;
    static const GpuDoor* scripted;
    door = *(scripted = tests::scripted_door());
    door.host_alloc = [](int device, size_t bytes, void** out) {
        const warpseal_status status = scripted->host_alloc(device, bytes, out);
        seen.pinned = static_cast<uint8_t*>(*out);
        seen.bytes = bytes;
        std::fill_n(seen.pinned, bytes, uint8_t{0});
        return status;
    };
    door.download = [](int device, void* to, const void* from, size_t bytes) {
        ++seen.downloads;
        seen.into_pinned += to == seen.pinned;
        return scripted->download(device, to, from, bytes);
    };
    const auto engine = engine_on("cuda", &door), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemPool> pool;
    ASSERT_EQ(KemPool::create(*engine, set.name, 5, counted, pool), WARPSEAL_OK);
    Clients some(*pool, *cores, 5);
    seen.downloads = seen.into_pinned = 0;
    EXPECT_EQ(some.decapsulate(*pool), 5u);
    EXPECT_EQ(seen.downloads, 1u);
    EXPECT_EQ(seen.into_pinned, 1u);
    EXPECT_EQ(Text(seen.pinned, seen.pinned + seen.bytes), Text(seen.bytes, 0));
}

TEST(KemPoolOnGpu, WhateverStepLosesTheGpuThePoolGoesOn) {
    const auto cores = engine_on("cpu", nullptr);
    bool lost = true;
    uint64_t fail_at = 0, with_losses = 0;
    for (; lost; ++fail_at) {
        tests::Script script;
        const GpuDoor* door = tests::scripted_door(script);
        const auto engine = engine_on("cuda", door);
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 10, counted, pool), WARPSEAL_OK);
        tests::script().fail_at = tests::script().steps + 1 + fail_at;
        Clients first(*pool, *cores, 4), second(*pool, *cores, 3);
        EXPECT_EQ(pool->fill(), WARPSEAL_OK);
        pool->drop(1, second.tickets.data());
        size_t good = first.decapsulate(*pool);
        Clients third(*pool, *cores, 3);
        good += second.decapsulate(*pool);
        good += third.decapsulate(*pool);
        lost = tests::script().lost;
        with_losses += good < 9;
        if (!lost) {
            EXPECT_EQ(good, 9u);
        }
        // No place is lost with it, and nothing is handed out twice.
        Clients all(*pool, *cores, 10);
        EXPECT_EQ(all.decapsulate(*pool), 10u);
        std::set<std::string> seen;
        for (const Clients* clients : {&first, &second, &third, &all})
            for (size_t i = 0; i < clients->tickets.size(); ++i)
                seen.emplace(reinterpret_cast<const char*>(clients->publics.data()) + i * pk, pk);
        EXPECT_EQ(seen.size(), 20u);
        EXPECT_EQ(tests::script().calls_after_lost, 0u);
    }
    EXPECT_GT(fail_at, 20u);
    EXPECT_GT(with_losses, 5u);
}

// Out of memory for once, at each step: the call fails, and tickets stay good.
TEST(KemPoolOnGpu, AFailureThatPassesCostsNoTicket) {
    const auto cores = engine_on("cpu", nullptr);
    uint64_t failures = 0;
    for (bool failed = true; failed;) {
        const GpuDoor* door = tests::scripted_door();
        const auto engine = engine_on("cuda", door);
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        Clients clients(*pool, *cores, 3);
        const uint64_t fail_at = tests::script().steps + failures + 1;
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().fail_at = fail_at;
        const warpseal_status status = pool->decapsulate(
            3, clients.tickets.data(), {clients.ciphertexts.data(), ct, clients.received.data(), 32, clients.statuses.data()});
        failed = tests::script().steps >= fail_at;
        if (status == WARPSEAL_OK) {  // also where the wipe is queued, and only waiting for it failed
            EXPECT_EQ(clients.received, clients.sent);
            EXPECT_EQ(clients.decapsulate(*pool), 0u);
        } else {
            EXPECT_TRUE(failed);
            EXPECT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
            EXPECT_EQ(clients.received, Text(96, 0));
            EXPECT_EQ(clients.statuses, std::vector<int32_t>(3, WARPSEAL_OUT_OF_MEMORY));
            EXPECT_EQ(clients.decapsulate(*pool), 3u);
        }
        failures += failed;
    }
    EXPECT_GE(failures, 9u);
}

// A call for one ticket is the cores' there, and a large one is not: as with the calls on host memory.
TEST(KemPoolOnGpu, NotOfItsOwnAccordButItsBatchesGoThere) {
    const GpuDoor* door = tests::scripted_door();
    const auto engine = engine_on("auto", door), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemPool> pool;
    ASSERT_EQ(KemPool::create(*engine, set.name, 600, counted, pool), WARPSEAL_OK);
    Clients one(*pool, *cores, 1);
    EXPECT_EQ(one.decapsulate(*pool), 1u);
    EXPECT_EQ(tests::script().steps, 0u);
    for (const KemOperation operation : {KemOperation::keypair, KemOperation::decapsulate})
        for (int i = 0; i < 3; ++i) {
            engine->inside().kem.paces.note(set_number(set.name), operation, false, 1, 10.0);
            engine->inside().kem.paces.note(set_number(set.name), operation, true, 1000000000, 1.0);
        }
    EXPECT_EQ(pool->fill(), WARPSEAL_OK);
    const uint64_t calls = tests::script().host_calls;
    EXPECT_GT(calls, 0u);
    Clients many(*pool, *cores, 64);
    EXPECT_EQ(tests::script().host_calls, calls);  // all was ready
    EXPECT_EQ(many.decapsulate(*pool), 64u);
    EXPECT_GT(tests::script().host_calls, calls);
    EXPECT_EQ(tests::script().live_device_allocations, 0u);
}

TEST(KemPoolOnGpu, WithoutRoomThereItLiesOnTheHost) {
    const GpuDoor* door = tests::scripted_door();
    const auto engine = engine_on("cuda", door), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemPool> first;
    ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, first), WARPSEAL_OK);  // the self-tests
    tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
    const uint64_t before = tests::script().live_device_allocations;
    for (const uint64_t fail_at : {1, 2, 3}) {
        tests::script().fail_at = tests::script().steps + fail_at;
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before);
        EXPECT_EQ(tests::script().live_host_allocations, 1u);  // the first pool's
        Clients clients(*pool, *cores, 4);
        EXPECT_EQ(clients.decapsulate(*pool), 4u);
    }
}

}  // namespace
