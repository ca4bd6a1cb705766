// Ephemeral key pools: each key pair is handed out once, despite threads and failing sources. A
// handle is valid for one ciphertext.
#include "pool.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "support/random.h"

namespace {

using tests::AcquiredKeys;
using tests::Handles;
using tests::items;
using tests::PoolHandle;
using tests::source;
using tests::Source;
using tests::Text;

class KemKeyPool : public tests::PoolTest {};

TEST_P(KemKeyPool, KeyPairsWorkAndSlotsAreReused) {
    const PoolHandle some = pool(40);
    std::set<std::string> seen;
    for (const size_t count : {1, 40, 7, 33, 0, 40}) {
        const AcquiredKeys pairs = acquired(some, count);
        EXPECT_TRUE(works(some, pairs)) << count;
        seen.merge(items(pairs.publics, info.public_key_bytes));
    }
    EXPECT_EQ(seen.size(), 121u);
    EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    source = Source::failing;  // all are ready
    const AcquiredKeys pairs = acquired(some, 40);
    source = Source::kernel;
    EXPECT_TRUE(works(some, pairs));
}

// More than one chunk of a call.
TEST_P(KemKeyPool, Large) {
    const PoolHandle some = pool(2500);
    const AcquiredKeys first = acquired(some, 1100);
    EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    const AcquiredKeys second = acquired(some, 1400);
    EXPECT_TRUE(works(some, first));
    EXPECT_TRUE(works(some, second));
    std::set<std::string> seen = items(first.publics, info.public_key_bytes);
    seen.merge(items(second.publics, info.public_key_bytes));
    EXPECT_EQ(seen.size(), 2500u);
}

TEST_P(KemKeyPool, AHandleIsValidForOneCiphertext) {
    const PoolHandle some = pool(4), other = pool(4);
    const AcquiredKeys pairs = acquired(some, 3), others = acquired(other, 3);
    Text ciphertexts, sent, received;
    std::vector<int32_t> statuses;
    encapsulate(pairs.publics, ciphertexts, sent);
    // The second occurs twice, the fourth belongs to another pool, the fifth to none.
    Text given;
    for (const size_t i : {0, 1, 1, 2, 2})
        tests::append(given, tests::slice(ciphertexts, i, info.ciphertext_bytes));
    const Handles handles = {pairs.handles[0], pairs.handles[1], pairs.handles[1],
                             others.handles[2], 12345};
    EXPECT_EQ(decapsulate(some, handles, given, received, statuses), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(statuses,
              (std::vector<int32_t>{WARPSEAL_OK, WARPSEAL_OK, WARPSEAL_INVALID_ARGUMENT,
                                    WARPSEAL_INVALID_ARGUMENT, WARPSEAL_INVALID_ARGUMENT}));
    EXPECT_EQ(Text(received.begin(), received.begin() + 64), Text(sent.begin(), sent.begin() + 64));
    EXPECT_EQ(Text(received.begin() + 64, received.end()), Text(96, 0));
    EXPECT_TRUE(refused(some, {pairs.handles[0], pairs.handles[1]}));  // used
    // Nor when their slots are in use again.
    for (int round = 0; round < 20; ++round) {
        const AcquiredKeys again = acquired(some, 3);
        EXPECT_TRUE(refused(some, {pairs.handles[0], pairs.handles[1]}));
        EXPECT_TRUE(works(some, again));
    }
    EXPECT_TRUE(
        works(some, {tests::slice(pairs.publics, 2, info.public_key_bytes), {pairs.handles[2]}}));
    EXPECT_TRUE(works(other, others));  // the other pool's were not touched
    // Handles near valid ones, and guesses of a careless caller.
    const AcquiredKeys last = acquired(some, 4);
    Handles guesses = {0, 1, 2, 3, 4, UINT64_MAX};
    for (int bit = 0; bit < 64; ++bit)
        if (const uint64_t guess = last.handles[0] ^ uint64_t{1} << bit;
            std::find(last.handles.begin(), last.handles.end(), guess) == last.handles.end())
            guesses.push_back(guess);
    EXPECT_TRUE(refused(some, guesses));
    EXPECT_TRUE(works(some, last));
}

// A handle has bits for 8 slots, and there are 5. Only AddressSanitizer sees a read past them.
TEST_P(KemKeyPool, HandlesOfSlotsPastTheLastAreRefused) {
    const PoolHandle some = pool(5);
    const AcquiredKeys pairs = acquired(some, 5);
    Handles guesses;
    for (const uint64_t handle : pairs.handles)
        for (uint64_t other = 1; other < 8; ++other)
            if (const uint64_t guess = handle ^ other;
                std::find(pairs.handles.begin(), pairs.handles.end(), guess) == pairs.handles.end())
                guesses.push_back(guess);
    EXPECT_GE(guesses.size(), 5u * 3);
    EXPECT_TRUE(refused(some, guesses));
    warpseal_kem_pool_release(some.get(), guesses.size(), guesses.data());
    EXPECT_TRUE(works(some, pairs));
}

TEST_P(KemKeyPool, ReleasedHandlesNameNothing) {
    const PoolHandle some = pool(200), other = pool(1);
    const AcquiredKeys pairs = acquired(some, 200);
    AcquiredKeys none;
    EXPECT_EQ(acquire(some, 1, none), WARPSEAL_LIMIT_EXCEEDED);
    Handles released(pairs.handles.begin(), pairs.handles.begin() + 150);
    released.push_back(77);
    released.push_back(pairs.handles[3]);
    released.push_back(acquired(other, 1).handles[0]);
    warpseal_kem_pool_release(some.get(), released.size(), released.data());
    EXPECT_TRUE(refused(some, released));
    warpseal_kem_pool_release(some.get(), 0, nullptr);
    warpseal_kem_pool_release(nullptr, released.size(), released.data());
    EXPECT_EQ(acquire(some, 151, none),
              WARPSEAL_LIMIT_EXCEEDED);  // a slot was freed once for each handle
    EXPECT_TRUE(works(some, acquired(some, 150)));
    const Text publics(pairs.publics.begin() + static_cast<long>(150 * info.public_key_bytes),
                       pairs.publics.end());
    EXPECT_TRUE(works(some, {publics, Handles(pairs.handles.begin() + 150, pairs.handles.end())}));
}

TEST_P(KemKeyPool, NoKeysBeyondTheLimit) {
    const PoolHandle some = pool(5);
    const AcquiredKeys pairs = acquired(some, 3);
    for (const size_t count : {3, 5, 6, 1000}) {
        AcquiredKeys none;
        EXPECT_EQ(acquire(some, count, none), WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(none.publics, Text(count * info.public_key_bytes, 0xa5));
        EXPECT_EQ(none.handles, Handles(count, 0xa5a5a5a5a5a5a5a5));
    }
    EXPECT_TRUE(works(some, acquired(some, 2)));
    EXPECT_TRUE(works(some, pairs));
}

// The source fails at its first call, at its second, and so on, until all steps succeed.
TEST_P(KemKeyPool, WithoutRandomNothingIsWritten) {
    int needed = 0;
    for (bool done = false; !done; ++needed) {
        tests::calls_left = needed;
        source = Source::some;
        warpseal_kem_pool* made = nullptr;
        if (const warpseal_status status =
                warpseal_kem_pool_create(engine.get(), info.name, 1500, &made);
            status != WARPSEAL_OK) {
            EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
            EXPECT_EQ(made, nullptr);
            continue;
        }
        const PoolHandle some(made);
        AcquiredKeys pairs;
        if (const warpseal_status status = acquire(some, 1200, pairs); status != WARPSEAL_OK) {
            EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
            EXPECT_EQ(pairs.publics, Text(1200 * info.public_key_bytes, 0xa5));
            EXPECT_EQ(pairs.handles, Handles(1200, 0xa5a5a5a5a5a5a5a5));
            EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_NO_RANDOM);
            source = Source::kernel;  // no slot was lost
            EXPECT_TRUE(works(some, acquired(some, 1500)));
            continue;
        }
        done = true;
        tests::calls_left = 0;  // acquiring needs no random bytes
        Text received;
        std::vector<int32_t> statuses;
        EXPECT_EQ(decapsulate(some, pairs.handles, Text(1200 * info.ciphertext_bytes, 0), received,
                              statuses),
                  WARPSEAL_OK);
        source = Source::kernel;
    }
    EXPECT_GE(needed, 3);
}

// Handles are masked by a salt that is drawn.
TEST_P(KemKeyPool, WithoutRandomThereIsNoPool) {
    source = Source::failing;
    warpseal_kem_pool* none = nullptr;
    const warpseal_status status = warpseal_kem_pool_create(engine.get(), info.name, 5, &none);
    source = Source::kernel;
    EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
    EXPECT_EQ(none, nullptr);
}

TEST_P(KemKeyPool, WrongArguments) {
    const size_t pk = info.public_key_bytes, ct = info.ciphertext_bytes;
    warpseal_kem_pool* made = nullptr;
    EXPECT_EQ(warpseal_kem_pool_create(nullptr, info.name, 5, &made), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), nullptr, 5, &made), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, 5, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, 0, &made),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), "ntru", 5, &made), WARPSEAL_UNSUPPORTED);
    for (const uint64_t pairs : {UINT64_MAX, uint64_t{1} << 32, uint64_t{UINT32_MAX}})
        EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, pairs, &made),
                  WARPSEAL_OUT_OF_MEMORY)
            << pairs;
    EXPECT_EQ(made, nullptr);
    warpseal_kem_pool_destroy(nullptr);
    EXPECT_EQ(warpseal_kem_pool_fill(nullptr), WARPSEAL_INVALID_ARGUMENT);

    const PoolHandle some = pool(5);
    Text publics(4 * pk, 0xa5);
    Handles handles(4, 7);
    const auto bad_acquire = [&](warpseal_kem_pool* of, uint64_t count, uint8_t* at,
                                 uint64_t stride, uint64_t* to) {
        EXPECT_EQ(warpseal_kem_pool_acquire(of, count, at, stride, to), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(publics, Text(4 * pk, 0xa5));
        EXPECT_EQ(handles, Handles(4, 7));
    };
    bad_acquire(nullptr, 2, publics.data(), pk, handles.data());
    bad_acquire(some.get(), 2, nullptr, pk, handles.data());
    bad_acquire(some.get(), 2, publics.data(), pk, nullptr);
    for (const uint64_t stride : {uint64_t{0}, uint64_t{1}, pk - 1, UINT64_MAX})
        bad_acquire(some.get(), 2, publics.data(), stride, handles.data());
    bad_acquire(some.get(), 2, publics.data(), pk, reinterpret_cast<uint64_t*>(publics.data() + 8));
    bad_acquire(some.get(), UINT64_MAX, publics.data(), pk, handles.data());

    const AcquiredKeys pairs = acquired(some, 3);
    Text ciphertexts(3 * ct, 0), secrets(96, 0xa5);
    std::vector<int32_t> statuses(3, -1);
    struct Given {
        warpseal_kem_pool* pool;
        uint64_t count;
        const uint64_t* handles;
        const uint8_t* ciphertexts;
        uint64_t ciphertext_stride;
        uint8_t* secrets;
        uint64_t secret_stride;
        int32_t* statuses;
    };
    const auto bad = [&](const char* what, const std::function<void(Given&)>& spoil) {
        Given g{some.get(),     3,  pairs.handles.data(), ciphertexts.data(), ct,
                secrets.data(), 32, statuses.data()};
        spoil(g);
        EXPECT_EQ(warpseal_kem_pool_decapsulate(g.pool, g.count, g.handles, g.ciphertexts,
                                                g.ciphertext_stride, g.secrets, g.secret_stride,
                                                g.statuses),
                  WARPSEAL_INVALID_ARGUMENT)
            << what;
        EXPECT_EQ(secrets, Text(96, 0xa5)) << what;
        EXPECT_EQ(statuses, std::vector<int32_t>(3, -1)) << what;
    };
    bad("no pool", [](Given& g) { g.pool = nullptr; });
    bad("no handles", [](Given& g) { g.handles = nullptr; });
    bad("no ciphertexts", [](Given& g) { g.ciphertexts = nullptr; });
    bad("no secrets", [](Given& g) { g.secrets = nullptr; });
    bad("ciphertexts overlap", [](Given& g) { g.ciphertext_stride -= 1; });
    for (const uint64_t stride : {uint64_t{0}, uint64_t{31}, UINT64_MAX / 2})
        bad("secrets overlap", [&](Given& g) { g.secret_stride = stride; });
    bad("secrets over ciphertexts", [&](Given& g) { g.secrets = ciphertexts.data() + ct; });
    bad("secrets over handles",
        [](Given& g) { g.secrets = reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(g.handles)); });
    bad("statuses over handles", [](Given& g) {
        g.statuses = reinterpret_cast<int32_t*>(const_cast<uint64_t*>(g.handles));
    });
    bad("statuses over secrets",
        [](Given& g) { g.statuses = reinterpret_cast<int32_t*>(g.secrets); });
    bad("a count past the address space", [](Given& g) { g.count = UINT64_MAX; });

    EXPECT_EQ(warpseal_kem_pool_acquire(some.get(), 0, nullptr, 0, nullptr), WARPSEAL_OK);
    EXPECT_EQ(
        warpseal_kem_pool_decapsulate(some.get(), 0, nullptr, nullptr, 0, nullptr, 0, nullptr),
        WARPSEAL_OK);
    EXPECT_EQ(warpseal_kem_pool_decapsulate(some.get(), 3, pairs.handles.data(), ciphertexts.data(),
                                            0, secrets.data(), 32, nullptr),
              WARPSEAL_OK);  // one ciphertext for all, without statuses
}

// Fields of records, with an invalid handle among them. The bytes between the fields belong to the
// caller.
TEST_P(KemKeyPool, RecordsOfFields) {
    constexpr size_t count = 5, bad = 3, public_gap = 13;
    const size_t pk = info.public_key_bytes, public_stride = pk + public_gap,
                 text_stride = info.ciphertext_bytes + 7, secret_stride = 32 + 5;
    const PoolHandle some = pool(count);
    Text publics(count * public_stride, 0xa5), ciphertexts(count * text_stride, 0xa5),
        sent(count * secret_stride, 0xa5);
    Handles handles(count);
    ASSERT_EQ(
        warpseal_kem_pool_acquire(some.get(), count, publics.data(), public_stride, handles.data()),
        WARPSEAL_OK);
    for (size_t i = 0; i < count; ++i) {
        const auto gap = publics.begin() + static_cast<long>(i * public_stride + pk);
        EXPECT_EQ(Text(gap, gap + public_gap), Text(public_gap, 0xa5)) << i;
    }
    encapsulate(publics, ciphertexts, sent, {public_stride, text_stride, secret_stride});
    Handles given = handles;
    given[bad] = ~given[bad];
    std::fill_n(sent.begin() + bad * secret_stride, 32, uint8_t{0});
    Text received(count * secret_stride, 0xa5);
    EXPECT_EQ(warpseal_kem_pool_decapsulate(some.get(), count, given.data(), ciphertexts.data(),
                                            text_stride, received.data(), secret_stride, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(received, sent);  // including the bytes between

    // One ciphertext for all, which does not belong to the first key.
    const AcquiredKeys again = acquired(some, count - 1);
    Text texts, secrets;
    encapsulate(again.publics, texts, secrets);
    const Text last = tests::slice(texts, count - 2, info.ciphertext_bytes),
               secret = tests::slice(secrets, count - 2, 32);
    received.assign((count - 1) * secret_stride, 0xa5);
    EXPECT_EQ(
        warpseal_kem_pool_decapsulate(some.get(), count - 1, again.handles.data(), last.data(), 0,
                                      received.data(), secret_stride, nullptr),
        WARPSEAL_OK);
    for (size_t i = 0; i < count - 1; ++i) {
        const auto at = received.begin() + static_cast<long>(i * secret_stride);
        EXPECT_EQ(Text(at, at + 32) == secret, i == count - 2) << i;
        EXPECT_EQ(Text(at + 32, at + 37), Text(5, 0xa5)) << i;
    }
}

// Threads acquire, use and release at random from a pool that is too small for them all, while one
// fills it.
TEST_P(KemKeyPool, EachKeyPairOnceUnderManyThreads) {
    constexpr unsigned thread_count = 8;
    constexpr size_t rounds = 60;
    const PoolHandle some = pool(48);
    std::vector<Text> publics(thread_count);
    std::atomic<size_t> wrong{0}, given{0};
    std::atomic<bool> done{false};
    std::thread filler([&] {
        while (!done) wrong += warpseal_kem_pool_fill(some.get()) != WARPSEAL_OK;
    });
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < thread_count; ++number)
        threads.emplace_back([&, number] {
            tests::Random random(6000 + number);
            for (size_t round = 0; round < rounds; ++round) {
                AcquiredKeys pairs;
                const warpseal_status status = acquire(some, 1 + random.below(11), pairs);
                if (status == WARPSEAL_LIMIT_EXCEEDED) {
                    std::this_thread::yield();
                    continue;
                }
                wrong += status != WARPSEAL_OK;
                given += pairs.handles.size();
                tests::append(publics[number], pairs.publics);
                if (random.below(4) == 0)
                    warpseal_kem_pool_release(some.get(), pairs.handles.size(),
                                              pairs.handles.data());
                else
                    wrong += !works(some, pairs);
                wrong += !refused(some, pairs.handles);
            }
        });
    for (std::thread& thread : threads) thread.join();
    done = true;
    filler.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(given, 100u);
    std::set<std::string> seen;
    for (const Text& some_of_them : publics) seen.merge(items(some_of_them, info.public_key_bytes));
    EXPECT_EQ(seen.size(), given);
    EXPECT_TRUE(works(some, acquired(some, 48)));  // no slot was lost
}

TEST_P(KemKeyPool, OnlyOneUseOfAHandleGetsTheSecret) {
    constexpr unsigned thread_count = 4;
    constexpr size_t count = 100;
    const PoolHandle some = pool(count);
    const AcquiredKeys pairs = acquired(some, count);
    Text ciphertexts, sent;
    encapsulate(pairs.publics, ciphertexts, sent);
    std::vector<Text> received(thread_count);
    std::vector<std::vector<int32_t>> statuses(thread_count);
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < thread_count; ++number)
        threads.emplace_back([&, number] {
            (void)decapsulate(some, pairs.handles, ciphertexts, received[number], statuses[number]);
        });
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < count; ++i) {
        unsigned winners = 0;
        for (unsigned number = 0; number < thread_count; ++number) {
            const bool won = statuses[number][i] == WARPSEAL_OK;
            winners += won;
            EXPECT_EQ(statuses[number][i], won ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
            EXPECT_EQ(tests::slice(received[number], i, 32),
                      won ? tests::slice(sent, i, 32) : Text(32, 0));
        }
        EXPECT_EQ(winners, 1u) << i;
    }
}

FOR_EACH_POOL(KemKeyPool);

}  // namespace
