// Pools whose secret keys lie on a GPU: whatever step fails, a ticket gives its secret or none, and the pool goes on.
#include "engine/kem_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/answers.h"
#include "engine/scripted_door.h"

namespace {

using namespace warpseal;
using answers::Text;

const kem::Params& set = kem::ntruhps2048509;
const size_t pk = set.public_key_bytes(), ct = set.ciphertext_bytes();

bool counted(void* out, size_t bytes) {
    static uint64_t calls = 0;
    ++calls;
    for (size_t i = 0; i < bytes; ++i)
        static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(calls * 0x9e3779b97f4a7c15u >> (i % 8 * 8)) ^ static_cast<uint8_t>(i);
    return true;
}

std::unique_ptr<Engine> engine_on(const char* device, const GpuDoor* door) {
    EngineOptions options;
    options.device = device;
    options.threads = 1;
    options.cuda = door;
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    return engine;
}

// Pairs that a pool handed out, with a ciphertext for each.
struct Clients {
    Text publics, ciphertexts, sent, received;
    std::vector<uint64_t> tickets;
    std::vector<int32_t> statuses;

    Clients(KemPool& pool, Engine& cores, size_t count)
        : publics(count * pk), ciphertexts(count * ct), sent(count * 32), received(count * 32, 0xa5), tickets(count), statuses(count, -1) {
        EXPECT_EQ(pool.take(count, {publics.data(), pk}, tickets.data()), WARPSEAL_OK);
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.public_keys = publics.data();
        batch.public_key_stride = pk;
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = ct;
        batch.shared_secrets = sent.data();
        batch.shared_secret_stride = 32;
        EXPECT_EQ(cores.kem(KemOperation::encapsulate, set.name, batch, counted), WARPSEAL_OK);
    }
    // How many have their secret; the others have zeros, and a status that says that their tickets name nothing.
    size_t decapsulate(KemPool& pool) {
        const size_t count = tickets.size();
        const warpseal_status status =
            pool.decapsulate(count, tickets.data(), {ciphertexts.data(), ct, received.data(), 32, statuses.data()});
        size_t good = 0;
        for (size_t i = 0; i < count; ++i) {
            const Text mine(received.begin() + static_cast<long>(32 * i), received.begin() + static_cast<long>(32 * i + 32)),
                theirs(sent.begin() + static_cast<long>(32 * i), sent.begin() + static_cast<long>(32 * i + 32));
            good += statuses[i] == WARPSEAL_OK;
            EXPECT_EQ(mine, statuses[i] == WARPSEAL_OK ? theirs : Text(32, 0));
            EXPECT_TRUE(statuses[i] == WARPSEAL_OK || statuses[i] == WARPSEAL_INVALID_ARGUMENT) << statuses[i];
        }
        EXPECT_EQ(status, good == count ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        return good;
    }
};

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
    EXPECT_FALSE(tests::script().lost);
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

// Out of memory for once: the call fails, tickets stay good.
TEST(KemPoolOnGpu, AFailureThatPassesCostsNoTicket) {
    const auto cores = engine_on("cpu", nullptr);
    for (uint64_t fail_at = 1; fail_at < 8; ++fail_at) {
        const GpuDoor* door = tests::scripted_door();
        const auto engine = engine_on("cuda", door);
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        Clients clients(*pool, *cores, 3);
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().fail_at = tests::script().steps + fail_at;
        const warpseal_status status = pool->decapsulate(
            3, clients.tickets.data(), {clients.ciphertexts.data(), ct, clients.received.data(), 32, clients.statuses.data()});
        if (status == WARPSEAL_OK) {
            EXPECT_EQ(clients.received, clients.sent);
            EXPECT_EQ(clients.decapsulate(*pool), 0u);
            continue;
        }
        EXPECT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
        EXPECT_EQ(clients.received, Text(96, 0));
        EXPECT_EQ(clients.statuses, std::vector<int32_t>(3, WARPSEAL_OUT_OF_MEMORY));
        EXPECT_EQ(clients.decapsulate(*pool), 3u);
    }
}

TEST(KemPoolOnGpu, OfItsOwnAccordOnlyIfItIsLarge) {
    const GpuDoor* door = tests::scripted_door();
    const auto engine = engine_on("auto", door);
    for (const uint64_t pairs : {1u, 511u, 512u}) {
        const uint64_t before = tests::script().live_device_allocations;
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, pairs, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before + (pairs < 512 ? 0 : 2));
    }
}

TEST(KemPoolOnGpu, WithoutRoomThereItLiesOnTheHost) {
    const GpuDoor* door = tests::scripted_door();
    const auto engine = engine_on("cuda", door), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemPool> first;
    ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, first), WARPSEAL_OK);  // the self-tests
    tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
    const uint64_t before = tests::script().live_device_allocations;
    for (const uint64_t fail_at : {1, 2}) {
        tests::script().fail_at = tests::script().steps + fail_at;
        std::unique_ptr<KemPool> pool;
        ASSERT_EQ(KemPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before);
        Clients clients(*pool, *cores, 4);
        EXPECT_EQ(clients.decapsulate(*pool), 4u);
    }
}

}  // namespace
