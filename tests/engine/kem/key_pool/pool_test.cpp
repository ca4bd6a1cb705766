// Pools whose secret keys lie on a GPU. For every failing step, a handle gives its secret or none,
// and the pool continues.
#include "engine/kem/key_pool/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/kem/key_pool/pool_clients.h"
#include "engine/kem/paths.h"
#include "support/fake_backend.h"

namespace {

using namespace pooled;

TEST(KemPoolOnGpu, SecretKeysAreStoredAndZeroizedThere) {
    const GpuBackend* backend = tests::fake_backend();
    const auto engine = engine_on("cuda", backend), cores = engine_on("cpu", nullptr);
    const uint64_t before = tests::script().live_device_allocations;
    {
        std::unique_ptr<KemKeyPool> pool;
        ASSERT_EQ(KemKeyPool::create(*engine, set.name, 12, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before + 2);
        for (int round = 0; round < 3; ++round) {
            Clients some(*pool, *cores, 7), others(*pool, *cores, 5);
            const uint64_t steps = tests::script().steps;
            EXPECT_EQ(some.decapsulate(*pool), 7u);
            EXPECT_GT(tests::script().steps, steps);
            EXPECT_EQ(some.decapsulate(*pool), 0u);
            pool->release(2, others.handles.data());
            EXPECT_EQ(others.decapsulate(*pool), 3u);
        }
    }
    EXPECT_EQ(tests::script().live_device_allocations, before);
    EXPECT_EQ(tests::script().live_host_allocations, 0u);
    EXPECT_FALSE(tests::script().lost);
}

// Fields of records, with an invalid handle among them. The bytes between the fields belong to the
// caller.
TEST(KemPoolOnGpu, RecordsOfFields) {
    constexpr size_t count = 5, bad = 3, gap = 13;
    const size_t public_stride = pk + gap, text_stride = ct + 7, secret_stride = 32 + 5;
    const GpuBackend* backend = tests::fake_backend();
    const auto engine = engine_on("cuda", backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 2 * count, counted, pool), WARPSEAL_OK);
    Text publics(count * public_stride, 0xa5), ciphertexts(count * text_stride, 0xa5),
        sent(count * secret_stride, 0xa5);
    std::vector<uint64_t> handles(count);
    ASSERT_EQ(pool->acquire(count, {publics.data(), public_stride}, handles.data()), WARPSEAL_OK);
    for (size_t i = 0; i < count; ++i) {
        const auto after = publics.begin() + static_cast<long>(i * public_stride + pk);
        EXPECT_EQ(Text(after, after + gap), Text(gap, 0xa5)) << i;
    }
    warpseal_kem_batch batch = tests::contiguous_batch(set, count);
    batch.public_keys = publics.data();
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = sent.data();
    batch.public_key_stride = public_stride;
    batch.ciphertext_stride = text_stride;
    batch.shared_secret_stride = secret_stride;
    ASSERT_EQ(cores->kem(KemOperation::encapsulate, set.name, batch, counted), WARPSEAL_OK);
    handles[bad] = ~handles[bad];
    std::fill_n(sent.begin() + bad * secret_stride, 32, uint8_t{0});
    Text received(count * secret_stride, 0xa5);
    EXPECT_EQ(pool->decapsulate(
                  count, handles.data(),
                  {ciphertexts.data(), text_stride, received.data(), secret_stride, nullptr, 32}),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(received, sent);  // including the bytes between

    // One ciphertext for all, which does not belong to the first key.
    const Clients others(*pool, *cores, count);
    received.assign(count * secret_stride, 0xa5);
    EXPECT_EQ(pool->decapsulate(count, others.handles.data(),
                                {others.ciphertexts.data() + (count - 1) * ct, 0, received.data(),
                                 secret_stride, nullptr, 32}),
              WARPSEAL_OK);
    for (size_t i = 0; i < count; ++i) {
        const auto at = received.begin() + static_cast<long>(i * secret_stride);
        EXPECT_EQ(std::equal(at, at + 32, others.sent.end() - 32), i == count - 1) << i;
        EXPECT_EQ(Text(at + 32, at + 37), Text(5, 0xa5)) << i;
    }
    EXPECT_GT(tests::script().live_device_allocations, 0u);
}

// A copy to pageable memory goes through the driver's own buffer, which is never zeroized.
TEST(KemPoolOnGpu, SecretsAreCopiedToPinnedMemoryThatIsZeroized) {
    static struct {
        uint8_t* pinned = nullptr;
        size_t bytes = 0, downloads = 0, into_pinned = 0;
    } seen;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.host_alloc = [](int device, size_t bytes, void** out) {
        const warpseal_status status = fake->host_alloc(device, bytes, out);
        seen.pinned = static_cast<uint8_t*>(*out);
        seen.bytes = bytes;
        std::fill_n(seen.pinned, bytes, uint8_t{0});
        return status;
    };
    backend.download = [](int device, void* to, const void* from, size_t bytes) {
        ++seen.downloads;
        seen.into_pinned += to == seen.pinned;
        return fake->download(device, to, from, bytes);
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 5, counted, pool), WARPSEAL_OK);
    Clients some(*pool, *cores, 5);
    seen.downloads = seen.into_pinned = 0;
    EXPECT_EQ(some.decapsulate(*pool), 5u);
    EXPECT_EQ(seen.downloads, 2u);  // the secrets, and the statuses, which are public
    EXPECT_EQ(seen.into_pinned, 1u);
    EXPECT_EQ(Text(seen.pinned, seen.pinned + seen.bytes), Text(seen.bytes, 0));
}

TEST(KemPoolOnGpu, ThePoolContinuesAfterALossAtAnyStep) {
    const auto cores = engine_on("cpu", nullptr);
    bool lost = true;
    uint64_t fail_at = 0, with_losses = 0;
    for (; lost; ++fail_at) {
        tests::Script script;
        const GpuBackend* backend = tests::fake_backend(script);
        const auto engine = engine_on("cuda", backend);
        std::unique_ptr<KemKeyPool> pool;
        ASSERT_EQ(KemKeyPool::create(*engine, set.name, 10, counted, pool), WARPSEAL_OK);
        tests::script().fail_at = tests::script().steps + 1 + fail_at;
        Clients first(*pool, *cores, 4), second(*pool, *cores, 3);
        EXPECT_EQ(pool->fill(), WARPSEAL_OK);
        pool->release(1, second.handles.data());
        size_t good = first.decapsulate(*pool);
        Clients third(*pool, *cores, 3);
        good += second.decapsulate(*pool);
        good += third.decapsulate(*pool);
        lost = tests::script().lost;
        with_losses += good < 9;
        if (!lost) {
            EXPECT_EQ(good, 9u);
        }
        // No slot is lost with it, and no key is handed out twice.
        Clients all(*pool, *cores, 10);
        EXPECT_EQ(all.decapsulate(*pool), 10u);
        std::set<std::string> seen;
        for (const Clients* clients : {&first, &second, &third, &all})
            for (size_t i = 0; i < clients->handles.size(); ++i)
                seen.emplace(reinterpret_cast<const char*>(clients->publics.data()) + i * pk, pk);
        EXPECT_EQ(seen.size(), 20u);
        EXPECT_EQ(tests::script().calls_after_lost, 0u);
    }
    EXPECT_GT(fail_at, 20u);
    EXPECT_GT(with_losses, 5u);
}

// One transient failure for lack of memory at each step: the call fails, and handles stay valid.
TEST(KemPoolOnGpu, ATransientFailureReleasesNoHandle) {
    const auto cores = engine_on("cpu", nullptr);
    uint64_t failures = 0;
    for (bool failed = true; failed;) {
        const GpuBackend* backend = tests::fake_backend();
        const auto engine = engine_on("cuda", backend);
        std::unique_ptr<KemKeyPool> pool;
        ASSERT_EQ(KemKeyPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        Clients clients(*pool, *cores, 3);
        const uint64_t fail_at = tests::script().steps + failures + 1;
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().fail_at = fail_at;
        const warpseal_status status =
            pool->decapsulate(3, clients.handles.data(),
                              {clients.ciphertexts.data(), ct, clients.received.data(), 32,
                               clients.statuses.data(), 32});
        failed = tests::script().steps >= fail_at;
        if (status ==
            WARPSEAL_OK) {  // also if the zeroization is queued and only the wait for it failed
            EXPECT_EQ(clients.received, clients.sent);
            EXPECT_EQ(clients.decapsulate(*pool), 0u);
        } else {
            EXPECT_TRUE(failed);
            EXPECT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
            EXPECT_EQ(clients.received, Text(96, 0));
            EXPECT_EQ(clients.statuses, std::vector<int32_t>(3, WARPSEAL_OUT_OF_MEMORY));
            // Returns the status of the first item without a result.
            tests::script().fail_at = tests::script().steps + 1;
            const uint64_t stray_first[] = {~clients.handles[0], clients.handles[1],
                                            clients.handles[2]};
            EXPECT_EQ(pool->decapsulate(3, stray_first,
                                        {clients.ciphertexts.data(), ct, clients.received.data(),
                                         32, clients.statuses.data(), 32}),
                      WARPSEAL_INVALID_ARGUMENT);
            EXPECT_EQ(clients.statuses,
                      (std::vector<int32_t>{WARPSEAL_INVALID_ARGUMENT, WARPSEAL_OUT_OF_MEMORY,
                                            WARPSEAL_OUT_OF_MEMORY}));
            EXPECT_EQ(clients.decapsulate(*pool), 3u);
        }
        failures += failed;
    }
    EXPECT_GE(failures, 9u);
}

// Staged keys and secrets of a batch are always zeroized, also where a step fails, unless that step
// is the zeroization.
TEST(KemPoolOnGpu, NoStagedSecretRemains) {
    static struct {
        uint8_t* last = nullptr;
        bool wipe_failed = false;
    } seen;
    static GpuBackend backend;
    static const GpuBackend* fake;
    const auto cores = engine_on("cpu", nullptr);
    const size_t secret_bytes =
        KemKeyStore::slots_per_call_limit * ((set.secret_key_bytes() + 15) / 16 * 16 + 32);
    uint64_t fail_at = 0;
    for (bool failed = true; failed; ++fail_at) {
        backend = *(fake = tests::fake_backend());
        backend.device_alloc = [](int device, size_t bytes, void** out) {
            const warpseal_status status = fake->device_alloc(device, bytes, out);
            seen.last = static_cast<uint8_t*>(*out);
            std::fill_n(seen.last, bytes, uint8_t{0});
            return status;
        };
        backend.pool_transfer = [](int device, PoolTransfer what, void* slots, void* items,
                                   size_t stride, const uint32_t* numbers, uint64_t count,
                                   void* stream) {
            const warpseal_status status =
                fake->pool_transfer(device, what, slots, items, stride, numbers, count, stream);
            seen.wipe_failed =
                seen.wipe_failed || (what == PoolTransfer::wipe && status != WARPSEAL_OK);
            return status;
        };
        seen.wipe_failed = false;
        const auto engine = engine_on("cuda", &backend);
        std::unique_ptr<KemKeyPool> pool;
        ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, counted, pool), WARPSEAL_OK);
        const uint8_t* const staged = seen.last;
        const auto expect_no_secret = [&] {
            return std::all_of(staged, staged + secret_bytes,
                               [](uint8_t byte) { return byte == 0; });
        };
        tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
        tests::script().fail_at = tests::script().steps + 1 + fail_at;
        (void)pool->fill();
        EXPECT_TRUE(expect_no_secret()) << fail_at;
        EXPECT_EQ(pool->fill(), WARPSEAL_OK);
        Clients clients(*pool, *cores, 4);
        (void)pool->decapsulate(4, clients.handles.data(),
                                {clients.ciphertexts.data(), ct, clients.received.data(), 32,
                                 clients.statuses.data(), 32});
        EXPECT_TRUE(expect_no_secret() || seen.wipe_failed) << fail_at;
        failed = tests::script().steps >= tests::script().fail_at;
    }
    EXPECT_GT(fail_at, 10u);
}

// There is one staging buffer: two concurrent batches would use each other's keys.
TEST(KemPoolOnGpu, BatchesUseTheStagingBufferInTurn) {
    static std::atomic<int> running, most;
    running = most = 0;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                            const warpseal_kem_batch& batch, uint64_t in_flight,
                            const DrawnCoins* coins, void* stream) {
        most = std::max<int>(most, ++running);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const warpseal_status status =
            fake->kem_device(device, kem, operation, batch, in_flight, coins, stream);
        --running;
        return status;
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 9, counted, pool), WARPSEAL_OK);
    Clients first(*pool, *cores, 2), second(*pool, *cores, 2);
    {
        std::jthread one([&] { EXPECT_EQ(first.decapsulate(*pool), 2u); }),
            other([&] { EXPECT_EQ(second.decapsulate(*pool), 2u); }),
            filler([&] { EXPECT_EQ(pool->fill(), WARPSEAL_OK); });
    }
    EXPECT_EQ(most, 1);
    Clients all(*pool, *cores, 9);
    EXPECT_EQ(all.decapsulate(*pool), 9u);
}

// Slot indices use the same buffer, also for zeroization alone: concurrent batches would zeroize or
// use the wrong slots.
TEST(KemPoolOnGpu, SlotsBelongToTheStagedBatch) {
    static std::atomic<std::thread::id> last;
    static std::atomic<int> of_others;
    of_others = 0;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.upload = [](int device, void* to, const void* from, size_t bytes) {
        const warpseal_status status = fake->upload(device, to, from, bytes);
        last = std::this_thread::get_id();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));  // a window for concurrent calls
        return status;
    };
    backend.pool_transfer = [](int device, PoolTransfer what, void* slots, void* items,
                               size_t stride, const uint32_t* numbers, uint64_t count,
                               void* stream) {
        if (numbers != nullptr) of_others += last.load() != std::this_thread::get_id();
        return fake->pool_transfer(device, what, slots, items, stride, numbers, count, stream);
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 20, counted, pool), WARPSEAL_OK);
    Clients first(*pool, *cores, 2), second(*pool, *cores, 2), released(*pool, *cores, 10);
    {
        std::jthread one([&] { EXPECT_EQ(first.decapsulate(*pool), 2u); }),
            other([&] { EXPECT_EQ(second.decapsulate(*pool), 2u); }),
            filler([&] { EXPECT_EQ(pool->fill(), WARPSEAL_OK); });
        std::jthread droppers[2];
        for (size_t half = 0; half < 2; ++half)
            droppers[half] = std::jthread([&, half] {
                for (size_t i = half; i < 10; i += 2) pool->release(1, &released.handles[i]);
            });
    }
    EXPECT_EQ(of_others, 0);
    EXPECT_EQ(released.decapsulate(*pool), 0u);
    Clients all(*pool, *cores, 20);
    EXPECT_EQ(all.decapsulate(*pool), 20u);
}

// When a use or release returns, the handle's key is zeroized, not merely queued for it.
TEST(KemPoolOnGpu, KeysAreZeroizedWhenTheCallReturns) {
    static int wipes;
    static bool waited;
    wipes = 0;
    waited = false;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.pool_transfer = [](int device, PoolTransfer what, void* slots, void* items,
                               size_t stride, const uint32_t* numbers, uint64_t count,
                               void* stream) {
        EXPECT_EQ(stream, nullptr);
        wipes += what == PoolTransfer::wipe && numbers != nullptr;
        waited = false;
        return fake->pool_transfer(device, what, slots, items, stride, numbers, count, stream);
    };
    backend.synchronize = [](int device, void* stream) {
        waited = stream == nullptr;
        return fake->synchronize(device, stream);
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
    Clients used(*pool, *cores, 2), released(*pool, *cores, 2);
    EXPECT_EQ(used.decapsulate(*pool), 2u);
    EXPECT_EQ(wipes, 1);
    EXPECT_TRUE(waited);
    pool->release(2, released.handles.data());
    EXPECT_EQ(wipes, 2);
    EXPECT_TRUE(waited);
}

// The GPU reports an item without keys: none of that batch is handed out.
TEST(KemPoolOnGpu, ABatchWithAFailedItemIsNotHandedOut) {
    static bool without;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                            const warpseal_kem_batch& batch, uint64_t in_flight,
                            const DrawnCoins* coins, void* stream) {
        const warpseal_status status =
            fake->kem_device(device, kem, operation, batch, in_flight, coins, stream);
        if (without) batch.statuses[1] = WARPSEAL_INVALID_ARGUMENT;
        return status;
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 3, counted, pool), WARPSEAL_OK);
    without = true;
    EXPECT_EQ(pool->fill(), WARPSEAL_INVALID_ARGUMENT);
    without = false;
    Clients all(*pool, *cores, 3);
    EXPECT_EQ(all.decapsulate(*pool), 3u);
}

// The GPU refuses an item: its handle gives zeros and that status, the others their secrets.
TEST(KemPoolOnGpu, ARefusedItemHasItsStatus) {
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
    backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                            const warpseal_kem_batch& batch, uint64_t in_flight,
                            const DrawnCoins* coins, void* stream) {
        const warpseal_status status =
            fake->kem_device(device, kem, operation, batch, in_flight, coins, stream);
        if (operation == KemOperation::decapsulate) batch.statuses[2] = WARPSEAL_INVALID_ARGUMENT;
        return status;
    };
    Clients clients(*pool, *cores, 4);
    EXPECT_EQ(clients.decapsulate(*pool), 3u);
    EXPECT_EQ(clients.statuses[2], WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(clients.decapsulate(*pool), 0u);  // each handle was used
}

// Pools of another scheme have its sizes, and the secrets of its ciphertexts.
void pool_of(const KemSet& other) {
    constexpr size_t count = 5;
    const size_t key = other.public_key_bytes(), text = other.ciphertext_bytes(),
                 secret = other.shared_secret_bytes();
    const auto engine = engine_on("cuda", tests::fake_backend()), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, other.name, count, counted, pool), WARPSEAL_OK);
    Text publics(count * key), ciphertexts(count * text), sent(count * secret),
        received(count * secret);
    std::vector<uint64_t> handles(count);
    std::vector<int32_t> statuses(count, -1);
    ASSERT_EQ(pool->acquire(count, {publics.data(), key}, handles.data()), WARPSEAL_OK);
    warpseal_kem_batch batch = tests::contiguous_batch(other, count);
    batch.public_keys = publics.data();
    batch.ciphertexts = ciphertexts.data();
    batch.shared_secrets = sent.data();
    ASSERT_EQ(cores->kem(KemOperation::encapsulate, other.name, batch, counted), WARPSEAL_OK);
    handles[1] = ~handles[1];
    std::fill_n(sent.begin() + static_cast<long>(secret), secret, uint8_t{0});
    EXPECT_EQ(pool->decapsulate(
                  count, handles.data(),
                  {ciphertexts.data(), text, received.data(), secret, statuses.data(), secret}),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(statuses, (std::vector<int32_t>{WARPSEAL_OK, WARPSEAL_INVALID_ARGUMENT, WARPSEAL_OK,
                                              WARPSEAL_OK, WARPSEAL_OK}));
    EXPECT_GT(tests::script().live_device_allocations, 0u);
}

TEST(KemPoolOnGpu, OtherSchemes) {
    for (const char* name : {"ml-kem-768", "x25519", "x25519mlkem768", "x-wing"}) {
        SCOPED_TRACE(name);
        pool_of(kem_sets[kem_set_number(name)]);
        if (HasFatalFailure()) return;
    }
}

// The GPU is lost while a call holds handles, and other calls continue in host memory: those
// handles are invalid there.
TEST(KemPoolOnGpu, LostWhileOthersUseHostMemory) {
    static std::function<void()> meanwhile;
    static GpuBackend backend;
    static const GpuBackend* fake;
    backend = *(fake = tests::fake_backend());
    backend.kem_device = [](int device, const CudaKem& kem, KemOperation operation,
                            const warpseal_kem_batch& batch, uint64_t in_flight,
                            const DrawnCoins* coins, void* stream) {
        const auto work = std::exchange(meanwhile, nullptr);
        if (work) tests::script().fail_at = tests::script().steps + 1;
        const warpseal_status status =
            fake->kem_device(device, kem, operation, batch, in_flight, coins, stream);
        if (work) work();
        return status;
    };
    const auto engine = engine_on("cuda", &backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, counted, pool), WARPSEAL_OK);
    Clients clients(*pool, *cores, 4);
    meanwhile = [&] { EXPECT_EQ(pool->fill(), WARPSEAL_OK); };
    EXPECT_EQ(clients.decapsulate(*pool), 0u);
    EXPECT_TRUE(tests::script().lost);
    EXPECT_EQ(clients.decapsulate(*pool), 0u);
    Clients all(*pool, *cores, 6);
    EXPECT_EQ(all.decapsulate(*pool), 6u);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
}

// Ready key pairs held by a call when the GPU is lost are lost too: their slots need new ones.
TEST(KemPoolOnGpu, LostDuringAnAcquisition) {
    const GpuBackend* backend = tests::fake_backend();
    const auto engine = engine_on("cuda", backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 6, counted, pool), WARPSEAL_OK);
    ASSERT_EQ(pool->fill(), WARPSEAL_OK);
    Clients first(*pool, *cores, 3);
    EXPECT_EQ(first.decapsulate(*pool), 3u);
    tests::script().fail_at =
        tests::script().steps + 1;  // when the three that are not ready are generated
    Clients all(*pool, *cores, 6);
    EXPECT_TRUE(tests::script().lost);
    EXPECT_EQ(all.decapsulate(*pool), 6u);
    std::set<std::string> seen;
    for (size_t i = 0; i < 6; ++i)
        seen.emplace(reinterpret_cast<const char*>(all.publics.data()) + i * pk, pk);
    EXPECT_EQ(seen.size(), 6u);
    Clients again(*pool, *cores, 6);  // no slot was lost
    EXPECT_EQ(again.decapsulate(*pool), 6u);
    EXPECT_EQ(tests::script().calls_after_lost, 0u);
}

// A call for one handle runs on the cores there, and a large one does not, like calls on host
// memory.
TEST(KemPoolOnGpu, SmallCallsUseTheCoresAndLargeOnesTheGpu) {
    const GpuBackend* backend = tests::fake_backend();
    const auto engine = engine_on("auto", backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> pool;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 600, counted, pool), WARPSEAL_OK);
    Clients one(*pool, *cores, 1);
    EXPECT_EQ(one.decapsulate(*pool), 1u);
    EXPECT_EQ(tests::script().steps, 0u);
    for (const KemOperation operation : {KemOperation::keypair, KemOperation::decapsulate})
        for (int i = 0; i < 3; ++i) {
            engine->impl().kem.throughput.note(kem_set_number(set.name), operation, false, 1, 10.0);
            engine->impl().kem.throughput.note(kem_set_number(set.name), operation, true,
                                               1000000000, 1.0);
        }
    EXPECT_EQ(pool->fill(), WARPSEAL_OK);
    const uint64_t calls = tests::script().host_calls;
    EXPECT_GT(calls, 0u);
    Clients many(*pool, *cores, 64);
    EXPECT_EQ(tests::script().host_calls, calls);  // all were ready
    EXPECT_EQ(many.decapsulate(*pool), 64u);
    EXPECT_GT(tests::script().host_calls, calls);
    EXPECT_EQ(tests::script().live_device_allocations, 0u);
}

TEST(KemPoolOnGpu, WithoutDeviceMemoryItUsesTheHost) {
    const GpuBackend* backend = tests::fake_backend();
    const auto engine = engine_on("cuda", backend), cores = engine_on("cpu", nullptr);
    std::unique_ptr<KemKeyPool> first;
    ASSERT_EQ(KemKeyPool::create(*engine, set.name, 4, counted, first),
              WARPSEAL_OK);  // the self-tests
    tests::script().failure = WARPSEAL_OUT_OF_MEMORY;
    const uint64_t before = tests::script().live_device_allocations;
    for (const uint64_t fail_at : {1, 2, 3}) {
        tests::script().fail_at = tests::script().steps + fail_at;
        std::unique_ptr<KemKeyPool> pool;
        ASSERT_EQ(KemKeyPool::create(*engine, set.name, 4, counted, pool), WARPSEAL_OK);
        EXPECT_EQ(tests::script().live_device_allocations, before);
        EXPECT_EQ(tests::script().live_host_allocations, 1u);  // the first pool's
        Clients clients(*pool, *cores, 4);
        EXPECT_EQ(clients.decapsulate(*pool), 4u);
    }
}

}  // namespace
