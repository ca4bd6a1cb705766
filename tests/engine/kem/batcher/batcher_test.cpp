// Batches of requests: outputs in any company, start times, the bound, and the end.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <tuple>

#include "c_api/handles.h"
#include "engine/kem/gated_kem.h"
#include "support/fake_backend.h"
#include "support/residue.h"

namespace {

using namespace batched;

constexpr KemOperation operations[] = {KemOperation::keypair, KemOperation::encapsulate,
                                       KemOperation::decapsulate};
constexpr auto keypair = KemOperation::keypair, encapsulate = KemOperation::encapsulate,
               decapsulate = KemOperation::decapsulate;

// Batch limit while the duration of operations is unknown.
constexpr size_t first_limit = 256;

// The first request arrives after idleness, and is done before the others arrive.
void submit_all(KemBatcher& batcher, KemOperation operation, Items& items) {
    FakeClock::advance(2h);
    items.reset();
    for (size_t i = 0; i < items.count; ++i) {
        ASSERT_EQ(items.submit(batcher, operation, i), WARPSEAL_OK);
        if (i == 0) {
            ASSERT_TRUE(soon([&] { return items.done == 1; }));
        }
    }
    ASSERT_TRUE(soon([&] { return items.all_done(); }));
}

// Keys, ciphertexts and secrets all through full batches: they match only if every item has its
// own values. They equal those of a direct call.
TEST(KemBatcher, EveryItemHasItsOwnOutput) {
    constexpr size_t full = 100, most_items = 4 * full + 1, least_items = full + 1;
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, full_batches(full), system_random);
    for (const KemSet& params : kem_sets) {
        Items items(&params == &set ? most_items : least_items, params);
        for (const KemOperation operation : operations) {
            submit_all(batcher, operation, items);
            EXPECT_EQ(items.good(), items.count);
        }
        EXPECT_EQ(items.received, items.sent);
        items.fill(*engine, decapsulate);
        EXPECT_EQ(items.received, items.sent);
        const size_t bytes = params.shared_secret_bytes();
        for (size_t i = 1; i < items.count; ++i)
            EXPECT_NE(0, std::memcmp(&items.sent[bytes * i], &items.sent[bytes * (i - 1)], bytes));
    }
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.requests, 3 * (most_items + (kem_set_count - 1) * least_items));
    EXPECT_EQ(counts.batched_requests, counts.requests);
    EXPECT_EQ(counts.largest_batch, full);
    EXPECT_EQ(counts.batches,
              3u * (5 + (kem_set_count - 1) * 2));  // with the first request of each kind, alone
    EXPECT_EQ(counts.failures + counts.full_queue + counts.no_thread + counts.redone, 0u);
}

TEST(KemBatcher, SixteenThreadsMixedWaitingAndNot) {
    constexpr size_t threads = 16, each = 250;
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(64, 1ms), system_random);
    const KemSet* sets[] = {&set, &kem_sets[7]};
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> all;
    for (size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            Items items(each, *sets[t % 2]);
            for (const KemOperation operation : operations) {
                items.reset();
                for (size_t i = 0; i < each; ++i) {
                    if ((i + t) % 3 == 0) {
                        wrong += batcher.run(items.request(operation, i)) != WARPSEAL_OK;
                        items.statuses[i] = WARPSEAL_OK;
                        ++items.done;
                    } else {
                        wrong += items.submit(batcher, operation, i) != WARPSEAL_OK;
                    }
                }
                wrong += !soon([&] { return items.all_done(); });
                wrong += each - items.good();
            }
            wrong += items.received != items.sent;
        });
    for (std::thread& one : all) one.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(counts_of(batcher).requests, threads * each * 3);
    EXPECT_EQ(counts_of(batcher).waiting, 0u);
}

TEST(KemBatcher, BadItemsDoNotAffectOthers) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, full_batches(199), system_random);
    Items items(200);
    items.fill(*engine, keypair);
    for (size_t i = 3; i < items.count; i += 7)
        items.publics[(i + 1) * set.public_key_bytes() - 1] |= 0x80;
    submit_all(batcher, encapsulate, items);
    size_t bad = 0;
    for (size_t i = 0; i < items.count; ++i) {
        const bool spoilt = i % 7 == 3;
        bad += spoilt;
        EXPECT_EQ(items.statuses[i], spoilt ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK) << i;
        EXPECT_EQ(std::count(&items.sent[32 * i], &items.sent[32 * i] + 32, 0) == 32, spoilt) << i;
    }
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.failures, bad);
    EXPECT_EQ(counts.redone, 0u);
    EXPECT_EQ(counts.largest_batch, 199u);
    // A ciphertext that matches no key is not an error.
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    for (size_t i = 0; i < items.count; i += 2)
        items.ciphertexts[i * set.ciphertext_bytes() + 100] ^= 1;
    submit_all(batcher, decapsulate, items);
    EXPECT_EQ(items.good(), items.count);
    for (size_t i = 0; i < items.count; ++i)
        EXPECT_EQ(std::memcmp(&items.sent[32 * i], &items.received[32 * i], 32) == 0, i % 2 == 1);
}

// Number of failing draws from now on.
std::atomic<int> failures{0};
bool failing_random(void* out, size_t bytes) {
    return failures.fetch_sub(1) <= 0 && system_random(out, bytes);
}

TEST(KemBatcher, AFailedBatchIsRetriedOneByOne) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, full_batches(64), failing_random);
    Items items(65);
    submit_all(batcher, keypair, items);  // one, and 64
    failures = 2;
    submit_all(batcher, encapsulate, items);
    failures = 0;
    EXPECT_EQ(items.good(), 64u);
    EXPECT_EQ(items.statuses[0], WARPSEAL_NO_RANDOM);
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.redone, 64u);
    EXPECT_EQ(counts.failures, 1u);
    items.fill(*engine, decapsulate);
    EXPECT_TRUE(std::equal(items.sent.begin() + 32, items.sent.end(), items.received.begin() + 32));
    failures = 1 << 20;
    submit_all(batcher, encapsulate, items);
    for (const auto& status : items.statuses) EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
    EXPECT_EQ(batcher.run(items.request(encapsulate, 0)), WARPSEAL_NO_RANDOM);
    EXPECT_EQ(counts_of(batcher).failures, 1u + 65 + 1);
    failures = 0;
}

TEST(KemBatcher, ASingleCallerDoesNotWait) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(64, 1h), system_random);
    Items items(2);
    EXPECT_EQ(batcher.run(items.request(keypair, 0)), WARPSEAL_OK);
    EXPECT_EQ(items.submit(batcher, keypair, 1), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return items.done == 1; }));
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.inline_requests, 1u);
    EXPECT_EQ(counts.batches, 1u);
    EXPECT_LT(counts.wait_seconds_sum, 60.0);  // and not an hour
}

// The first request runs at once, the next 64 together although they could wait for an hour more.
// Requests of another kind run at once meanwhile.
TEST(KemBatcher, AFullBatchStarts) {
    const auto engine = engine_on("cpu");
    Items items(75), others(1, other_set);
    KemBatcher batcher(*engine, full_batches(64), system_random);
    for (size_t i = 0; i < items.count; ++i) {
        ASSERT_EQ(items.submit(batcher, keypair, i), WARPSEAL_OK);
        if (i == 0) {
            ASSERT_TRUE(soon([&] { return items.done == 1; }));
        }
        if (i == 1)
            std::this_thread::sleep_for(10ms);  // the watching thread has seen it, and sleeps again
    }
    ASSERT_TRUE(soon([&] { return items.done == 65; }));
    ASSERT_EQ(others.submit(batcher, keypair, 0), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return others.all_done(); }));
    std::this_thread::sleep_for(20ms);
    auto counts = counts_of(batcher);
    EXPECT_EQ(items.done, 65u);
    EXPECT_EQ(counts.waiting, 10u);
    EXPECT_EQ(counts.batches, 3u);
    EXPECT_EQ(counts.largest_batch, 64u);
    EXPECT_EQ(counts.batch_size_buckets[0], 2u);
    EXPECT_EQ(counts.batch_size_buckets[6], 1u);
}

// A batch starts from whichever submitter fills it, even while the watching thread sleeps and no
// submitter knows of another's requests. Small and large missing counts take different paths.
TEST(KemBatcher, AFullBatchOfManySubmittersStarts) {
    constexpr size_t most_submitters = 7;
    const auto engine = engine_on("cpu", 16);
    Items items(180 + 1);
    items.fill(*engine, keypair);
    for (size_t turn = 0; turn < 40; ++turn) {
        const size_t full = turn % 2 == 0 ? 180 : 60;
        KemBatcher batcher(*engine, full_batches(full), system_random);
        items.reset();
        ASSERT_EQ(items.submit(batcher, encapsulate, 0), WARPSEAL_OK);
        ASSERT_TRUE(soon([&] { return items.done == 1; }));
        for (size_t round = 0; round < 2; ++round) {
            items.reset();
            std::atomic<size_t> next{1};
            std::vector<std::thread> threads;
            for (size_t t = 0; t <= (turn + 3 * round) % most_submitters; ++t)
                threads.emplace_back([&, t] {
                    for (size_t i; (i = next.fetch_add(1)) <= full;) {
                        EXPECT_EQ(items.submit(batcher, encapsulate, i), WARPSEAL_OK);
                        if ((i + t) % 32 == 0)
                            std::this_thread::sleep_for(
                                200us);  // the sleeping thread has checked the queues
                    }
                });
            for (std::thread& one : threads) one.join();
            ASSERT_TRUE(soon([&] { return items.done == full; })) << turn << " " << round;
        }
        EXPECT_EQ(counts_of(batcher).batches, 3u);
    }
}

// Requests that an hour of delay would hold back are completed when the batcher ends.
TEST(KemBatcher, TheEndCompletesQueuedRequests) {
    const auto engine = engine_on("cpu");
    Items items(75), others(20, other_set);
    {
        KemBatcher batcher(*engine, full_batches(64), system_random);
        for (size_t i = 0; i < items.count; ++i)
            ASSERT_EQ(items.submit(batcher, keypair, i), WARPSEAL_OK);
        for (size_t i = 0; i < others.count; ++i)
            ASSERT_EQ(others.submit(batcher, keypair, i), WARPSEAL_OK);
    }
    EXPECT_EQ(items.done, items.count);
    EXPECT_EQ(items.good(), items.count);
    EXPECT_EQ(others.good(), others.count);
}

// Requests come steadily, so that another is always expected, by a clock that the test advances.
// Those that are as old as the delay are completed, whatever the real time.
TEST(KemBatcher, NoRequestWaitsPastTheDelay) {
    const auto engine = engine_on("cpu");
    KemBatcherOptions options = with(4096, 30ms);
    options.now = FakeClock::now;
    KemBatcher batcher(*engine, options, system_random);
    Items items(60);
    constexpr size_t of_the_delay = 10;  // requests
    for (size_t i = 0; i < items.count; ++i) {
        ASSERT_EQ(items.submit(batcher, keypair, i), WARPSEAL_OK);
        FakeClock::advance(30ms / of_the_delay);
        ASSERT_TRUE(soon([&] { return items.done + of_the_delay > i; })) << i;
    }
    FakeClock::advance(30ms);
    ASSERT_TRUE(soon([&] { return items.all_done(); }));
    EXPECT_GE(counts_of(batcher).batches, items.count / (of_the_delay + 1));
    EXPECT_EQ(items.good(), items.count);
}

// Each request starts when the one before is done, while the watching thread is about to sleep:
// none is missed.
TEST(KemBatcher, OneByOne) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(64, 100us), system_random);
    Items items(1);
    items.fill(*engine, keypair);
    for (int i = 0; i < 20000; ++i) {
        items.reset();
        ASSERT_EQ(items.submit(batcher, encapsulate, 0), WARPSEAL_OK);
        const auto end = BatcherClock::now() + 60s;
        while (!items.all_done() && BatcherClock::now() < end) std::this_thread::yield();
        ASSERT_TRUE(items.all_done());
    }
}

class GatedKemBatcher : public testing::Test {
protected:
    GatedKemBatcher() : items_(40) {
        items_.fill(*engine_, keypair);
        items_.fill(*engine_, encapsulate);  // its self-test
    }
    ~GatedKemBatcher() override { gate.set_open(true); }
    std::unique_ptr<Engine> engine_ = gated_engine(1);
    Items items_;
};

TEST_F(GatedKemBatcher, TheBound) {
    constexpr uint32_t room = 10;
    KemBatcher batcher(*engine_, with(1000, 1ms, room), system_random);
    gate.set_open(false);
    ASSERT_EQ(items_.submit(batcher, encapsulate, 0), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return gate.waiting() == 1; }));
    EXPECT_EQ(counts_of(batcher).waiting, 0u);
    // One inline, and one that waits in the queue, as the only core already runs one inline.
    std::thread waiting[2];
    std::atomic<int> right{0};
    for (size_t i = 0; i < 2; ++i) {
        waiting[i] = std::thread(
            [&, i] { right += batcher.run(items_.request(encapsulate, 38 + i)) == WARPSEAL_OK; });
        ASSERT_TRUE(soon([&] { return gate.waiting() + counts_of(batcher).waiting == 2 + i; }));
    }
    EXPECT_EQ(counts_of(batcher).waiting, 1u);
    size_t queued = 1;
    while (items_.submit(batcher, encapsulate, queued) == WARPSEAL_OK) ++queued;
    EXPECT_EQ(queued, room);
    EXPECT_EQ(counts_of(batcher).waiting, room);
    EXPECT_EQ(counts_of(batcher).full_queue, 1u);
    EXPECT_EQ(items_.submit(batcher, keypair, 20),
              WARPSEAL_LIMIT_EXCEEDED);  // one bound for all kinds
    EXPECT_EQ(batcher.run(items_.request(keypair, 20)), WARPSEAL_OK);
    EXPECT_EQ(counts_of(batcher).full_queue, 3u);
    gate.set_open(true);
    for (std::thread& thread : waiting) thread.join();
    EXPECT_EQ(right, 2);
    ASSERT_TRUE(soon([&] { return items_.done == room; }));
    EXPECT_EQ(items_.good(), room);
    EXPECT_EQ(counts_of(batcher).waiting, 0u);
    for (size_t i = queued; i < 2 * room; ++i)
        ASSERT_EQ(items_.submit(batcher, encapsulate, i), WARPSEAL_OK) << i;  // there is room again
    ASSERT_TRUE(soon([&] { return items_.done == 2 * room; }));
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.inline_requests, 2u);
    EXPECT_EQ(counts.requests, 2 * room + 3);
}

// Options as batcher.h documents them, and null options.
TEST_F(GatedKemBatcher, OptionsOfTheCInterface) {
    warpseal_engine engine{gated_engine(1)};
    Items items(4200);
    for (size_t i = 0; i < items.count; ++i)
        std::copy_n(items_.publics.begin(), set.public_key_bytes(),
                    &items.publics[i * set.public_key_bytes()]);
    warpseal_kem_batcher_options zeros{}, some{};
    zeros.struct_bytes = some.struct_bytes = sizeof some;
    some.max_batch = 3;
    some.max_waiting = 10;
    constexpr size_t least = first_limit / 4 * 3;  // the first operation lasts until the gate opens
    for (const auto& [options, waiting, largest] :
         {std::tuple<const warpseal_kem_batcher_options*, size_t, size_t>{nullptr, 4096, least},
          {&zeros, 4096, least},
          {&some, 10, 3}}) {
        items.reset();
        warpseal_kem_batcher* batcher = nullptr;
        ASSERT_EQ(warpseal_kem_batcher_create(&engine, options, &batcher), WARPSEAL_OK);
        const auto submit = [&](size_t i) {
            warpseal_kem_request one = items.request(encapsulate, i);
            auto completion = std::make_unique<Items::Completion>(Items::Completion{&items, i});
            one.user = completion.get();
            const warpseal_status status = warpseal_kem_batcher_submit(batcher, &one);
            if (status == WARPSEAL_OK) (void)completion.release();
            return status;
        };
        gate.set_open(false);
        EXPECT_EQ(submit(0), WARPSEAL_OK);
        EXPECT_TRUE(soon([&] { return gate.waiting() == 1; }));
        size_t queued = 0;
        while (queued < 4199 && submit(1 + queued) == WARPSEAL_OK) ++queued;
        EXPECT_EQ(queued, waiting);
        gate.set_open(true);
        EXPECT_TRUE(soon([&] { return items.done == 1 + queued; }));
        EXPECT_EQ(items.good(), 1 + queued);
        warpseal_kem_batcher_counts counts{};
        counts.struct_bytes = sizeof counts;
        EXPECT_EQ(warpseal_kem_batcher_counts_read(batcher, &counts), WARPSEAL_OK);
        EXPECT_GE(counts.largest_batch, largest);
        EXPECT_TRUE(options != &some || counts.largest_batch == largest);
        warpseal_kem_batcher_destroy(batcher);
    }
}

// Each submitter has a submission queue with slots of its own: together they have as many as one
// would have.
TEST_F(GatedKemBatcher, TheBoundCoversAllSubmitters) {
    constexpr uint32_t room = 500;
    const auto engine = gated_engine(16);
    Items items(room + 100);
    items.fill(*engine, keypair);
    KemBatcher batcher(*engine, with(1000, 1ms, room), system_random);
    gate.set_open(false);
    constexpr int threads = 5;  // of 6: a kind gets all but one
    size_t next = 0;
    for (; next < threads; ++next) {
        ASSERT_EQ(items.submit(batcher, encapsulate, next), WARPSEAL_OK);
        ASSERT_TRUE(soon([&] { return gate.waiting() == static_cast<int>(next) + 1; }));
    }
    for (int t = 0; t < 9; ++t)
        std::thread([&] {
            for (int i = 0; i < 3; ++i, ++next)
                EXPECT_EQ(items.submit(batcher, encapsulate, next), WARPSEAL_OK);
        }).join();
    EXPECT_EQ(counts_of(batcher).waiting, 27u);
    while (items.submit(batcher, encapsulate, next) == WARPSEAL_OK) ++next;
    EXPECT_EQ(counts_of(batcher).waiting, room);
    EXPECT_EQ(next, threads + room);
    EXPECT_EQ(counts_of(batcher).full_queue, 1u);
    std::thread([&] {
        EXPECT_EQ(items.submit(batcher, encapsulate, next), WARPSEAL_LIMIT_EXCEEDED);
    }).join();
    gate.set_open(true);
    ASSERT_TRUE(soon([&] { return items.done == next; }));
    EXPECT_EQ(items.good(), next);
    EXPECT_EQ(counts_of(batcher).waiting, 0u);
}

// Uses as many submitters as slots, each of which submits again after its result: a submitter
// always finds a slot.
TEST_F(GatedKemBatcher, NoRequestWithinTheBoundIsRefused) {
    constexpr size_t threads = 8, each = 300;
    const auto engine = gated_engine(16);
    KemBatcher batcher(*engine, with(64, 1ms, threads), system_random);
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> all;
    for (size_t t = 0; t < threads; ++t)
        all.emplace_back([&] {
            Items items(1);
            for (size_t i = 0; i < each; ++i) {
                items.reset();
                wrong += items.submit(batcher, keypair, 0) != WARPSEAL_OK ||
                         !soon([&] { return items.all_done(); });
            }
        });
    for (std::thread& one : all) one.join();
    EXPECT_EQ(wrong, 0u);
    const auto counts = counts_of(batcher);
    EXPECT_EQ(counts.requests, threads * each);
    EXPECT_EQ(counts.full_queue, 0u);
}

// A batch in flight, and the same kind again: new requests start when that batch ends, not before,
// as other kinds need a thread.
TEST_F(GatedKemBatcher, RequestsDuringABatchFormTheNext) {
    KemBatcher batcher(*engine_, with(1000, 1ms), system_random);
    gate.set_open(false);
    ASSERT_EQ(items_.submit(batcher, encapsulate, 0), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return gate.waiting() == 1; }));
    for (size_t i = 1; i < 20; ++i) ASSERT_EQ(items_.submit(batcher, encapsulate, i), WARPSEAL_OK);
    Items others(3);
    submit_all(batcher, keypair, others);
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(gate.waiting(), 1);
    EXPECT_EQ(items_.done, 0u);
    EXPECT_EQ(counts_of(batcher).waiting, 19u);
    gate.set_open(true);
    ASSERT_TRUE(soon([&] { return items_.done == 20; }));
    EXPECT_EQ(counts_of(batcher).largest_batch, 19u);
}

// A watching thread sleeps meanwhile.
TEST_F(GatedKemBatcher, AKindThatUsedAllItsThreadsIsServed) {
    Items others(3);
    KemBatcher batcher(*engine_, with(1000, 1h), system_random);
    ASSERT_EQ(others.submit(batcher, keypair, 0), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return others.done == 1; }));
    for (int round = 0; round < 50; ++round) {
        gate.set_open(false);
        items_.reset();
        // Callers that wait never wait for further requests.
        std::vector<std::thread> callers;
        for (size_t i = 0; i < 3; ++i)
            callers.emplace_back(
                [&, i] { EXPECT_EQ(batcher.run(items_.request(encapsulate, i)), WARPSEAL_OK); });
        EXPECT_TRUE(soon([&] {
            return gate.waiting() == 2;
        }));  // inline, and in a batch of both others, or one waits
        gate.set_open(true);
        for (std::thread& caller : callers) caller.join();
    }
    ASSERT_EQ(others.submit(batcher, keypair, 1), WARPSEAL_OK);  // an hour of delay
}

// A worker that returns from a batch moves some of them to the queue and goes to sleep: the
// sleeping thread counts them.
TEST_F(GatedKemBatcher, RequestsCollectedByAnotherThreadAreCounted) {
    constexpr size_t full = 60;
    Items others(full + 1);
    const auto engine = gated_engine(16);  // threads to spare: no kind lacks one
    KemBatcher batcher(*engine, full_batches(full), system_random);
    gate.set_open(false);
    ASSERT_EQ(items_.submit(batcher, encapsulate, 0), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return gate.waiting() == 1; }));
    const auto submit_to = [&](size_t& next, size_t end) {
        for (; next < end; ++next) ASSERT_EQ(others.submit(batcher, keypair, next), WARPSEAL_OK);
        std::this_thread::sleep_for(20ms);
    };
    size_t next = 0;
    submit_to(next, 1);
    ASSERT_TRUE(soon([&] { return others.done == 1; }));
    submit_to(next, 2);  // the sleeper has seen one that must wait, and none of these
    submit_to(next, full / 2);
    gate.set_open(true);
    ASSERT_TRUE(soon([&] { return items_.done == 1; }));
    submit_to(next, full + 1);
    ASSERT_TRUE(soon([&] { return others.all_done(); }));
    EXPECT_EQ(counts_of(batcher).largest_batch, full);
}

// All inline slots are in use, and the thread that calls `done` is the only one available to its
// kind.
TEST_F(GatedKemBatcher, RunFromDoneWaitsForNobody) {
    KemBatcher batcher(*engine_, with(1000, 1ms), system_random);
    gate.set_open(false);
    std::thread inline_there(
        [&] { EXPECT_EQ(batcher.run(items_.request(encapsulate, 0)), WARPSEAL_OK); });
    EXPECT_TRUE(soon([&] { return gate.waiting() == 1; }));
    struct Completion {
        KemBatcher& batcher;
        Items& items;
        std::atomic<int> status{-1};
    } completion{batcher, items_};
    warpseal_kem_request one = items_.request(keypair, 1);
    one.user = &completion;
    one.done = [](void* user, warpseal_status) {
        Completion& completion = *static_cast<Completion*>(user);
        completion.status = completion.batcher.run(completion.items.request(keypair, 2));
    };
    EXPECT_EQ(batcher.submit(one), WARPSEAL_OK);
    EXPECT_TRUE(soon([&] { return completion.status == WARPSEAL_OK; }));
    gate.set_open(true);
    inline_there.join();
}

// Each `done` submits the next request and calls run.
TEST(KemBatcher, DoneMaySubmitAndRun) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, with(64, 1ms), system_random);
    struct Chain {
        KemBatcher& batcher;
        Items items{300};
        std::atomic<size_t> done{0}, wrong{0};
        void next(size_t i) {
            warpseal_kem_request one = items.request(keypair, i);
            one.user = new std::pair<Chain*, size_t>(this, i);
            one.done = [](void* user, warpseal_status status) {
                const std::unique_ptr<std::pair<Chain*, size_t>> completion(
                    static_cast<std::pair<Chain*, size_t>*>(user));
                const auto [chain, i] = *completion;
                chain->wrong += status != WARPSEAL_OK || chain->batcher.run(chain->items.request(
                                                             encapsulate, i)) != WARPSEAL_OK;
                if (i + 8 < chain->items.count) chain->next(i + 8);
                ++chain->done;
            };
            wrong += batcher.submit(one) != WARPSEAL_OK;
        }
    } chain{batcher};
    for (size_t i = 0; i < 8; ++i) chain.next(i);
    ASSERT_TRUE(soon([&] { return chain.done == chain.items.count; }));
    EXPECT_EQ(chain.wrong, 0u);
    chain.items.fill(*engine, decapsulate);
    EXPECT_EQ(chain.items.received, chain.items.sent);
}

// Destruction refuses submissions from `done`; otherwise it would wait for those too, and for their
// successors.
TEST(KemBatcher, SubmissionsFromDoneAreRefusedAtTheEnd) {
    const auto engine = engine_on("cpu");
    Items items(1);
    items.fill(*engine, keypair);
    struct Chain {
        KemBatcher* batcher;
        Items& items;
        std::atomic<bool> ending{false};
        std::atomic<int> done{0}, refusal{WARPSEAL_OK};
        BatcherClock::time_point end{};  // set before `ending`
        void next() {
            warpseal_kem_request one = items.request(keypair, 0);
            one.user = this;
            one.done = [](void* user, warpseal_status) {
                Chain& chain = *static_cast<Chain*>(user);
                ++chain.done;
                if (chain.ending && BatcherClock::now() > chain.end) return;
                chain.next();
            };
            // Another thread may complete the request, and submit the next, before this returns.
            if (const int status = batcher->submit(one); status != WARPSEAL_OK) refusal = status;
        }
    } chain{nullptr, items};
    {
        KemBatcher batcher(*engine, with(64, 1ms), system_random);
        chain.batcher = &batcher;
        chain.next();
        ASSERT_TRUE(soon([&] { return chain.done > 3; }));
        // The main thread may run late, so the number of requests until the end is open.
        chain.end = BatcherClock::now() + 60s;
        chain.ending = true;
    }
    EXPECT_EQ(chain.refusal, WARPSEAL_LIMIT_EXCEEDED);
}

void submit_up_to(KemBatcher& batcher, Items& items, size_t end) {
    for (size_t i = items.done; i < end; ++i)
        ASSERT_EQ(items.submit(batcher, encapsulate, i), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return items.done == end; }));
}

// Several threads gather and complete large batches.
TEST(KemBatcher, LargeBatchesAreGatheredInChunks) {
    const auto engine = engine_on("cpu", 3);
    for (const size_t most : {800, 870, 937, 1000}) {
        Items items(1 + first_limit + most);
        items.fill(*engine, keypair);
        KemBatcher batcher(*engine, full_batches(most), system_random);
        submit_up_to(batcher, items, 1);
        submit_up_to(batcher, items, 1 + first_limit);
        submit_up_to(batcher, items, items.count);
        EXPECT_EQ(items.good(), items.count);
        EXPECT_EQ(counts_of(batcher).batches, 3u);
        EXPECT_EQ(counts_of(batcher).largest_batch, most);
        items.fill(*engine, decapsulate);
        EXPECT_EQ(items.received, items.sent) << most;
    }
}

// The batch limit depends on the duration of operations, not on that of `done`, even where `done`
// takes the longest batch time.
TEST(KemBatcher, DoneDoesNotCountAsOperationTime) {
    const auto engine = engine_on("cpu", 1);
    Items items(1 + first_limit);
    KemBatcher batcher(*engine, full_batches(1000), system_random);
    warpseal_kem_request slow = items.request(keypair, 0);
    slow.user = &items;
    slow.done = [](void* user, warpseal_status status) {
        Items& completion = *static_cast<Items*>(user);
        FakeClock::advance(1min);
        completion.statuses[0] = status;
        ++completion.done;
    };
    ASSERT_EQ(batcher.submit(slow), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return items.done == 1; }));
    for (size_t i = 1; i < items.count; ++i)
        ASSERT_EQ(items.submit(batcher, keypair, i), WARPSEAL_OK);
    ASSERT_TRUE(soon([&] { return items.all_done(); }));
    EXPECT_EQ(items.good(), items.count);
    EXPECT_EQ(counts_of(batcher).batches, 2u);
}

// A failed allocation is reported by all three interfaces, and the batcher continues.
TEST(KemBatcher, OutOfMemory) {
    static std::atomic<bool> out{false};
    out = false;
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, full_batches(16), [](void* to, size_t bytes) {
        return out ? throw std::bad_alloc() : system_random(to, bytes);
    });
    Items items(17);
    submit_all(batcher, keypair, items);
    out = true;
    submit_all(batcher, encapsulate, items);
    for (const auto& status : items.statuses) EXPECT_EQ(status, WARPSEAL_OUT_OF_MEMORY);
    EXPECT_EQ(batcher.run(items.request(encapsulate, 0)), WARPSEAL_OUT_OF_MEMORY);
    out = false;
    submit_all(batcher, encapsulate, items);
    EXPECT_EQ(items.good(), items.count);
}

TEST(KemBatcher, CreatedAndDestroyedUnderLoad) {
    const auto engine = engine_on("cpu");
    Items items(200);
    for (int round = 0; round < 40; ++round) {
        items.reset();
        {
            KemBatcher batcher(*engine, with(50, std::chrono::microseconds(round * 100)),
                               system_random);
            std::vector<std::thread> threads;
            for (size_t t = 0; t < 4; ++t)
                threads.emplace_back([&, t] {
                    for (size_t i = t; i < items.count; i += 4)
                        EXPECT_EQ(items.submit(batcher, keypair, i), WARPSEAL_OK);
                });
            for (std::thread& one : threads) one.join();
        }
        ASSERT_EQ(items.done, items.count);
        EXPECT_EQ(items.good(), items.count);
    }
}

// Signals are for the program's own threads: a batcher's threads block them, and a caller's mask
// does not change.
TEST(KemBatcher, ItsThreadsBlockSignals) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, {}, system_random);
    Items items(1);
    static std::atomic<int> blocked;
    blocked = -1;
    warpseal_kem_request one = items.request(keypair, 0);
    one.done = [](void*, warpseal_status) {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked = sigismember(&mask, SIGTERM);
    };
    ASSERT_EQ(batcher.submit(one), WARPSEAL_OK);
    ASSERT_TRUE(soon([] { return blocked >= 0; }));
    EXPECT_EQ(blocked, 1);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST(KemBatcher, NoSecretOfABatchRemains) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: sanitizers keep memory of their own";
#endif
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, full_batches(69), system_random);
    Items items(70);
    for (const KemOperation operation : operations) submit_all(batcher, operation, items);
    EXPECT_EQ(counts_of(batcher).largest_batch, 69u);
    residue::Patterns patterns;
    const auto hide = [&](Text& text, size_t stride) {
        for (size_t i = 0; i < items.count; ++i)
            for (size_t at = 0; at + 20 <= stride; ++at)
                if (at < 4 || at % 64 < 4)
                    patterns.push_back(residue::masked(&text[i * stride + at], 16));
        for (uint8_t& byte : text) byte ^= residue::mask;
    };
    hide(items.secrets, set.secret_key_bytes());
    hide(items.sent, 32);
    for (uint8_t& byte : items.received) byte = 0;
    EXPECT_EQ(residue::occurrences(patterns), 0u);
}

// The last pinned allocation, zeroized before it was returned.
struct {
    uint8_t* memory = nullptr;
    size_t bytes = 0;
    std::atomic<int> freed{0}, freed_with_text{0};
    bool has(const Text& text, size_t stride, size_t i) const {
        return std::search(memory, memory + bytes, &text[i * stride], &text[i * stride] + 32) !=
               memory + bytes;
    }
} pinned;
// A new backend each time, as self-test results of a backend persist.
const GpuBackend* pinning_backend(const tests::Script& script = {}) {
    static std::vector<std::unique_ptr<GpuBackend>> backends;
    static const GpuBackend* fake;
    pinned.memory = nullptr;
    pinned.bytes = 0;
    pinned.freed = pinned.freed_with_text = 0;
    fake = tests::fake_backend(script);
    backends.push_back(std::make_unique<GpuBackend>(*fake));
    backends.back()->host_alloc = [](int device, size_t bytes, void** out) {
        const warpseal_status status = fake->host_alloc(device, bytes, out);
        pinned.memory = static_cast<uint8_t*>(*out);
        pinned.bytes = bytes;
        std::fill_n(pinned.memory, bytes, uint8_t{0});
        return status;
    };
    backends.back()->host_free = [](int device, void* memory, size_t bytes) {
        const auto* const begin = static_cast<const uint8_t*>(memory);
        ++pinned.freed;
        pinned.freed_with_text += std::count(begin, begin + bytes, 0) != static_cast<long>(bytes);
        fake->host_free(device, memory, bytes);
    };
    return backends.back().get();
}

// Pinned gather buffers are zeroized by their owner too.
TEST(KemBatcher, PinnedMemoryIsZeroizedAfterEachBatch) {
    const auto engine = engine_on("cuda", 1, pinning_backend());
    Items items(161);
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    // Small batches are not in pinned memory.
    {
        KemBatcher batcher(*engine, full_batches(99), system_random);
        Items few(100);
        few.fill(*engine, keypair);
        submit_all(batcher, encapsulate, few);
        EXPECT_EQ(few.good(), few.count);
        for (size_t i = 0; i < few.count; ++i)
            EXPECT_FALSE(pinned.has(few.ciphertexts, set.ciphertext_bytes(), i));
    }
    auto owner = std::make_unique<KemBatcher>(*engine, full_batches(160), system_random);
    KemBatcher& batcher = *owner;
    submit_all(batcher, decapsulate, items);
    EXPECT_EQ(items.received, items.sent);
    ASSERT_NE(pinned.memory, nullptr);
    size_t public_items = 0;
    for (size_t i = 1; i < items.count; ++i) {
        EXPECT_FALSE(pinned.has(items.secrets, set.secret_key_bytes(), i));
        EXPECT_FALSE(pinned.has(items.sent, 32, i));
        public_items += pinned.has(items.ciphertexts, set.ciphertext_bytes(), i);
    }
    EXPECT_EQ(public_items, items.count - 1);
    owner.reset();
    EXPECT_GT(pinned.freed, 0);
    EXPECT_EQ(pinned.freed_with_text, 0);
}

// Also after a batch that failed as a whole: the GPU decapsulates wrongly, and no core replaces it.
TEST(KemBatcher, PinnedMemoryIsZeroizedAfterAFailedBatch) {
    const auto engine =
        engine_on("cuda", 1, pinning_backend({.wrong_kem = 1u << static_cast<int>(decapsulate)}));
    Items items(161);
    items.fill(*engine, keypair);
    items.fill(*engine, encapsulate);
    KemBatcher batcher(*engine, full_batches(160), system_random);
    submit_all(batcher, decapsulate, items);
    ASSERT_NE(pinned.memory, nullptr);
    size_t public_items = 0;
    for (size_t i = 0; i < items.count; ++i) {
        EXPECT_EQ(items.statuses[i], WARPSEAL_SELF_TEST_FAILED);
        EXPECT_FALSE(pinned.has(items.secrets, set.secret_key_bytes(), i));
        public_items += pinned.has(items.ciphertexts, set.ciphertext_bytes(), i);
    }
    EXPECT_EQ(public_items, items.count - 1);
    EXPECT_EQ(counts_of(batcher).redone, items.count - 1);
    EXPECT_EQ(counts_of(batcher).failures, items.count);
}

TEST(KemBatcher, RefusesInvalidArguments) {
    const auto engine = engine_on("cpu");
    KemBatcher batcher(*engine, {}, system_random);
    Items items(1);
    const auto refused = [&](warpseal_status why,
                             const std::function<void(warpseal_kem_request&)>& spoil) {
        for (const KemOperation operation : operations) {
            warpseal_kem_request one = items.request(operation, 0);
            spoil(one);
            EXPECT_EQ(batcher.run(one), why);
            one.done = [](void*, warpseal_status) { ADD_FAILURE(); };
            EXPECT_EQ(batcher.submit(one), why);
        }
    };
    refused(WARPSEAL_UNSUPPORTED, [](auto& one) { one.set = "ntruhps"; });
    for (const int32_t operation : {-1, 3, INT32_MIN, INT32_MAX})
        refused(WARPSEAL_INVALID_ARGUMENT, [&](auto& one) { one.operation = operation; });
    refused(WARPSEAL_INVALID_ARGUMENT,
            [](auto& one) { one.public_key = one.ciphertext = nullptr; });
    refused(WARPSEAL_INVALID_ARGUMENT,
            [](auto& one) { one.secret_key = one.shared_secret = nullptr; });
    refused(WARPSEAL_INVALID_ARGUMENT, [](auto& one) {
        one.public_key = one.secret_key = one.ciphertext = one.shared_secret;
    });
    warpseal_kem_request one = items.request(keypair, 0);
    one.done = nullptr;
    EXPECT_EQ(batcher.submit(one), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(counts_of(batcher).requests, 0u);
}

}  // namespace
