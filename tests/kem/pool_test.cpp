// Pools of key pairs: each is handed out once, whatever threads, forks and failing sources do; a ticket is good for one ciphertext.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "doors.h"
#include "random.h"
#include "random_source.h"
#include "residue.h"

namespace {

using tests::source;
using tests::Source;
using tests::Subject;
using tests::Text;
using Tickets = std::vector<uint64_t>;

struct PoolFreed {
    void operator()(warpseal_kem_pool* pool) const { warpseal_kem_pool_destroy(pool); }
};
using PoolHandle = std::unique_ptr<warpseal_kem_pool, PoolFreed>;

// What a call handed out.
struct Taken {
    Text publics;
    Tickets tickets;
};

std::set<std::string> items(const Text& text, size_t bytes) {
    std::set<std::string> out;
    for (size_t i = 0; i < text.size() / bytes; ++i) out.emplace(reinterpret_cast<const char*>(text.data()) + i * bytes, bytes);
    return out;
}

class KemPool : public testing::TestWithParam<Subject> {
protected:
    void SetUp() override {
        if (GetParam().target == "cuda")
            for (const warpseal_target_info& target : targets::all())
                if (target.name == std::string("cuda") && !target.usable) GTEST_SKIP() << "NOT RUN: " << target.reason;
        for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK && info.name != GetParam().set; ++i) {
        }
        engine = targets::engine(GetParam().target, 2);
    }
    ~KemPool() override { source = Source::kernel; }

    PoolHandle pool(uint64_t pairs) const {
        warpseal_kem_pool* out = nullptr;
        EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, pairs, &out), WARPSEAL_OK);
        return PoolHandle(out);
    }
    warpseal_status take(const PoolHandle& pool, size_t count, Taken& out) const {
        out.publics.assign(count * info.public_key_bytes, 0xa5);
        out.tickets.assign(count, 0xa5a5a5a5a5a5a5a5);
        return warpseal_kem_pool_take(pool.get(), count, out.publics.data(), info.public_key_bytes, out.tickets.data());
    }
    Taken taken(const PoolHandle& pool, size_t count) const {
        Taken out;
        EXPECT_EQ(take(pool, count, out), WARPSEAL_OK);
        return out;
    }
    // Ciphertexts under those keys, and what their senders know.
    void encapsulate(const Text& publics, Text& ciphertexts, Text& secrets) const {
        const size_t count = publics.size() / info.public_key_bytes;
        ciphertexts.assign(count * info.ciphertext_bytes, 0);
        secrets.assign(count * 32, 0);
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.public_keys = const_cast<uint8_t*>(publics.data());
        batch.public_key_stride = info.public_key_bytes;
        batch.ciphertexts = ciphertexts.data();
        batch.ciphertext_stride = info.ciphertext_bytes;
        batch.shared_secrets = secrets.data();
        batch.shared_secret_stride = 32;
        EXPECT_EQ(warpseal_kem_encapsulate(engine.get(), info.name, &batch), WARPSEAL_OK);
    }
    warpseal_status decapsulate(const PoolHandle& pool, const Tickets& tickets, const Text& ciphertexts, Text& secrets,
                                std::vector<int32_t>& statuses) const {
        secrets.assign(tickets.size() * 32, 0xa5);
        statuses.assign(tickets.size(), -1);
        return warpseal_kem_pool_decapsulate(pool.get(), tickets.size(), tickets.data(), ciphertexts.data(), info.ciphertext_bytes,
                                             secrets.data(), 32, statuses.data());
    }
    // Whether every one of them still opens what is sent to it. They are used then.
    bool works(const PoolHandle& pool, const Taken& pairs) const {
        Text ciphertexts, sent, received;
        std::vector<int32_t> statuses;
        encapsulate(pairs.publics, ciphertexts, sent);
        return decapsulate(pool, pairs.tickets, ciphertexts, received, statuses) == WARPSEAL_OK && received == sent &&
               statuses == std::vector<int32_t>(pairs.tickets.size(), WARPSEAL_OK);
    }
    // Whether each is refused, with a secret of zeros.
    bool refused(const PoolHandle& pool, const Tickets& tickets) const {
        Text received;
        std::vector<int32_t> statuses;
        return decapsulate(pool, tickets, Text(tickets.size() * info.ciphertext_bytes, 0), received, statuses) ==
                   WARPSEAL_INVALID_ARGUMENT &&
               received == Text(tickets.size() * 32, 0) && statuses == std::vector<int32_t>(tickets.size(), WARPSEAL_INVALID_ARGUMENT);
    }

    warpseal_kem_info info{};
    targets::EngineHandle engine;
};

TEST_P(KemPool, PairsWorkAndPlacesAreUsedAgain) {
    const PoolHandle some = pool(40);
    std::set<std::string> seen;
    for (const size_t count : {1, 40, 7, 33, 0, 40}) {
        const Taken pairs = taken(some, count);
        EXPECT_TRUE(works(some, pairs)) << count;
        seen.merge(items(pairs.publics, info.public_key_bytes));
    }
    EXPECT_EQ(seen.size(), 121u);
    EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    source = Source::failing;  // all is ready
    const Taken pairs = taken(some, 40);
    source = Source::kernel;
    EXPECT_TRUE(works(some, pairs));
}

// More than one piece of a call.
TEST_P(KemPool, Large) {
    const PoolHandle some = pool(2500);
    const Taken first = taken(some, 1100);
    EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    const Taken second = taken(some, 1400);
    EXPECT_TRUE(works(some, first));
    EXPECT_TRUE(works(some, second));
    std::set<std::string> seen = items(first.publics, info.public_key_bytes);
    seen.merge(items(second.publics, info.public_key_bytes));
    EXPECT_EQ(seen.size(), 2500u);
}

TEST_P(KemPool, ATicketIsGoodForOneCiphertext) {
    const PoolHandle some = pool(4), other = pool(4);
    const Taken pairs = taken(some, 3), others = taken(other, 3);
    Text ciphertexts, sent, received;
    std::vector<int32_t> statuses;
    encapsulate(pairs.publics, ciphertexts, sent);
    // The second stands twice, the fourth is another pool's, the fifth of nobody.
    Text given;
    for (const size_t i : {0, 1, 1, 2, 2}) tests::append(given, tests::slice(ciphertexts, i, info.ciphertext_bytes));
    const Tickets tickets = {pairs.tickets[0], pairs.tickets[1], pairs.tickets[1], others.tickets[2], 12345};
    EXPECT_EQ(decapsulate(some, tickets, given, received, statuses), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(statuses, (std::vector<int32_t>{WARPSEAL_OK, WARPSEAL_OK, WARPSEAL_INVALID_ARGUMENT, WARPSEAL_INVALID_ARGUMENT,
                                              WARPSEAL_INVALID_ARGUMENT}));
    EXPECT_EQ(Text(received.begin(), received.begin() + 64), Text(sent.begin(), sent.begin() + 64));
    EXPECT_EQ(Text(received.begin() + 64, received.end()), Text(96, 0));
    EXPECT_TRUE(refused(some, {pairs.tickets[0], pairs.tickets[1]}));  // used
    // Nor when their places have been used again.
    for (int round = 0; round < 20; ++round) {
        const Taken again = taken(some, 3);
        EXPECT_TRUE(refused(some, {pairs.tickets[0], pairs.tickets[1]}));
        EXPECT_TRUE(works(some, again));
    }
    EXPECT_TRUE(works(some, {tests::slice(pairs.publics, 2, info.public_key_bytes), {pairs.tickets[2]}}));
    EXPECT_TRUE(works(other, others));  // the other pool's were not touched
    // Tickets near good ones, and what a careless caller would try.
    const Taken last = taken(some, 4);
    Tickets guesses = {0, 1, 2, 3, 4, UINT64_MAX};
    for (int bit = 0; bit < 64; ++bit)
        if (const uint64_t guess = last.tickets[0] ^ uint64_t{1} << bit;
            std::find(last.tickets.begin(), last.tickets.end(), guess) == last.tickets.end())
            guesses.push_back(guess);
    EXPECT_TRUE(refused(some, guesses));
    EXPECT_TRUE(works(some, last));
}

TEST_P(KemPool, DroppedTicketsNameNothing) {
    const PoolHandle some = pool(200), other = pool(1);
    const Taken pairs = taken(some, 200);
    Taken none;
    EXPECT_EQ(take(some, 1, none), WARPSEAL_LIMIT_EXCEEDED);
    Tickets dropped(pairs.tickets.begin(), pairs.tickets.begin() + 150);
    dropped.push_back(77);
    dropped.push_back(pairs.tickets[3]);
    dropped.push_back(taken(other, 1).tickets[0]);
    warpseal_kem_pool_drop(some.get(), dropped.size(), dropped.data());
    EXPECT_TRUE(refused(some, dropped));
    warpseal_kem_pool_drop(some.get(), 0, nullptr);
    warpseal_kem_pool_drop(nullptr, dropped.size(), dropped.data());
    EXPECT_EQ(take(some, 151, none), WARPSEAL_LIMIT_EXCEEDED);  // a place was freed once for each ticket
    EXPECT_TRUE(works(some, taken(some, 150)));
    const Text publics(pairs.publics.begin() + static_cast<long>(150 * info.public_key_bytes), pairs.publics.end());
    EXPECT_TRUE(works(some, {publics, Tickets(pairs.tickets.begin() + 150, pairs.tickets.end())}));
}

TEST_P(KemPool, PastTheLimitNothingIsHandedOut) {
    const PoolHandle some = pool(5);
    const Taken pairs = taken(some, 3);
    for (const size_t count : {3, 5, 6, 1000}) {
        Taken none;
        EXPECT_EQ(take(some, count, none), WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(none.publics, Text(count * info.public_key_bytes, 0xa5));
        EXPECT_EQ(none.tickets, Tickets(count, 0xa5a5a5a5a5a5a5a5));
    }
    EXPECT_TRUE(works(some, taken(some, 2)));
    EXPECT_TRUE(works(some, pairs));
}

// The source fails at its first call, at its second, and so on, until there are enough for all that is done.
TEST_P(KemPool, WithoutRandomNothingIsWritten) {
    int needed = 0;
    for (bool done = false; !done; ++needed) {
        tests::calls_left = needed;
        source = Source::some;
        warpseal_kem_pool* made = nullptr;
        if (const warpseal_status status = warpseal_kem_pool_create(engine.get(), info.name, 1500, &made); status != WARPSEAL_OK) {
            EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
            EXPECT_EQ(made, nullptr);
            continue;
        }
        const PoolHandle some(made);
        Taken pairs;
        if (const warpseal_status status = take(some, 1200, pairs); status != WARPSEAL_OK) {
            EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
            EXPECT_EQ(pairs.publics, Text(1200 * info.public_key_bytes, 0xa5));
            EXPECT_EQ(pairs.tickets, Tickets(1200, 0xa5a5a5a5a5a5a5a5));
            EXPECT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_NO_RANDOM);
            source = Source::kernel;  // no place was lost
            EXPECT_TRUE(works(some, taken(some, 1500)));
            continue;
        }
        done = true;
        tests::calls_left = 0;  // what is taken needs none
        Text received;
        std::vector<int32_t> statuses;
        EXPECT_EQ(decapsulate(some, pairs.tickets, Text(1200 * info.ciphertext_bytes, 0), received, statuses), WARPSEAL_OK);
        source = Source::kernel;
    }
    EXPECT_GE(needed, 3);
}

TEST_P(KemPool, WrongArguments) {
    const size_t pk = info.public_key_bytes, ct = info.ciphertext_bytes;
    warpseal_kem_pool* made = nullptr;
    EXPECT_EQ(warpseal_kem_pool_create(nullptr, info.name, 5, &made), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), nullptr, 5, &made), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, 5, nullptr), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, 0, &made), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_kem_pool_create(engine.get(), "ntru", 5, &made), WARPSEAL_UNSUPPORTED);
    for (const uint64_t pairs : {UINT64_MAX, uint64_t{1} << 32, uint64_t{UINT32_MAX}})
        EXPECT_EQ(warpseal_kem_pool_create(engine.get(), info.name, pairs, &made), WARPSEAL_OUT_OF_MEMORY) << pairs;
    EXPECT_EQ(made, nullptr);
    warpseal_kem_pool_destroy(nullptr);
    EXPECT_EQ(warpseal_kem_pool_fill(nullptr), WARPSEAL_INVALID_ARGUMENT);

    const PoolHandle some = pool(5);
    Text publics(4 * pk, 0xa5);
    Tickets tickets(4, 7);
    const auto bad_take = [&](warpseal_kem_pool* of, uint64_t count, uint8_t* at, uint64_t stride, uint64_t* to) {
        EXPECT_EQ(warpseal_kem_pool_take(of, count, at, stride, to), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(publics, Text(4 * pk, 0xa5));
        EXPECT_EQ(tickets, Tickets(4, 7));
    };
    bad_take(nullptr, 2, publics.data(), pk, tickets.data());
    bad_take(some.get(), 2, nullptr, pk, tickets.data());
    bad_take(some.get(), 2, publics.data(), pk, nullptr);
    for (const uint64_t stride : {uint64_t{0}, uint64_t{1}, pk - 1, UINT64_MAX})
        bad_take(some.get(), 2, publics.data(), stride, tickets.data());
    bad_take(some.get(), 2, publics.data(), pk, reinterpret_cast<uint64_t*>(publics.data() + 8));
    bad_take(some.get(), UINT64_MAX, publics.data(), pk, tickets.data());

    const Taken pairs = taken(some, 3);
    Text ciphertexts(3 * ct, 0), secrets(96, 0xa5);
    std::vector<int32_t> statuses(3, -1);
    struct Given {
        warpseal_kem_pool* pool;
        uint64_t count;
        const uint64_t* tickets;
        const uint8_t* ciphertexts;
        uint64_t ciphertext_stride;
        uint8_t* secrets;
        uint64_t secret_stride;
        int32_t* statuses;
    };
    const auto bad = [&](const char* what, const std::function<void(Given&)>& spoil) {
        Given g{some.get(), 3, pairs.tickets.data(), ciphertexts.data(), ct, secrets.data(), 32, statuses.data()};
        spoil(g);
        EXPECT_EQ(warpseal_kem_pool_decapsulate(g.pool, g.count, g.tickets, g.ciphertexts, g.ciphertext_stride, g.secrets, g.secret_stride,
                                                g.statuses),
                  WARPSEAL_INVALID_ARGUMENT)
            << what;
        EXPECT_EQ(secrets, Text(96, 0xa5)) << what;
        EXPECT_EQ(statuses, std::vector<int32_t>(3, -1)) << what;
    };
    bad("no pool", [](Given& g) { g.pool = nullptr; });
    bad("no tickets", [](Given& g) { g.tickets = nullptr; });
    bad("no ciphertexts", [](Given& g) { g.ciphertexts = nullptr; });
    bad("no secrets", [](Given& g) { g.secrets = nullptr; });
    bad("ciphertexts overlap", [](Given& g) { g.ciphertext_stride -= 1; });
    for (const uint64_t stride : {uint64_t{0}, uint64_t{31}, UINT64_MAX / 2})
        bad("secrets overlap", [&](Given& g) { g.secret_stride = stride; });
    bad("secrets over ciphertexts", [&](Given& g) { g.secrets = ciphertexts.data() + ct; });
    bad("secrets over tickets", [](Given& g) { g.secrets = reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(g.tickets)); });
    bad("statuses over tickets", [](Given& g) { g.statuses = reinterpret_cast<int32_t*>(const_cast<uint64_t*>(g.tickets)); });
    bad("statuses over secrets", [](Given& g) { g.statuses = reinterpret_cast<int32_t*>(g.secrets); });
    bad("a count past the address space", [](Given& g) { g.count = UINT64_MAX; });

    EXPECT_EQ(warpseal_kem_pool_take(some.get(), 0, nullptr, 0, nullptr), WARPSEAL_OK);
    EXPECT_EQ(warpseal_kem_pool_decapsulate(some.get(), 0, nullptr, nullptr, 0, nullptr, 0, nullptr), WARPSEAL_OK);
    EXPECT_EQ(warpseal_kem_pool_decapsulate(some.get(), 3, pairs.tickets.data(), ciphertexts.data(), 0, secrets.data(), 32, nullptr),
              WARPSEAL_OK);  // one ciphertext for all, statuses of no interest
}

// Threads take, use and drop at random, of a pool that is too small for them all, while one fills it.
TEST_P(KemPool, EachPairOnceUnderManyThreads) {
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
                Taken pairs;
                const warpseal_status status = take(some, 1 + random.below(11), pairs);
                if (status == WARPSEAL_LIMIT_EXCEEDED) {
                    std::this_thread::yield();
                    continue;
                }
                wrong += status != WARPSEAL_OK;
                given += pairs.tickets.size();
                tests::append(publics[number], pairs.publics);
                if (random.below(4) == 0)
                    warpseal_kem_pool_drop(some.get(), pairs.tickets.size(), pairs.tickets.data());
                else
                    wrong += !works(some, pairs);
                wrong += !refused(some, pairs.tickets);
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
    EXPECT_TRUE(works(some, taken(some, 48)));  // no place was lost
}

TEST_P(KemPool, OfManyWhoUseATicketOneHasTheSecret) {
    constexpr unsigned thread_count = 4;
    constexpr size_t count = 100;
    const PoolHandle some = pool(count);
    const Taken pairs = taken(some, count);
    Text ciphertexts, sent;
    encapsulate(pairs.publics, ciphertexts, sent);
    std::vector<Text> received(thread_count);
    std::vector<std::vector<int32_t>> statuses(thread_count);
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < thread_count; ++number)
        threads.emplace_back([&, number] { (void)decapsulate(some, pairs.tickets, ciphertexts, received[number], statuses[number]); });
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < count; ++i) {
        unsigned winners = 0;
        for (unsigned number = 0; number < thread_count; ++number) {
            const bool won = statuses[number][i] == WARPSEAL_OK;
            winners += won;
            EXPECT_EQ(statuses[number][i], won ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
            EXPECT_EQ(tests::slice(received[number], i, 32), won ? tests::slice(sent, i, 32) : Text(32, 0));
        }
        EXPECT_EQ(winners, 1u) << i;
    }
}

// --- forks ------------------------------------------------------------------------------------------------------------------------

// Runs `work` in a forked child; its result, 0 to 100.
int in_child(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

// Children of a parent whose threads are at work, and so now and then hold each lock. A child has no pair of its parent's, ready or taken;
// its own work; and the parent's go on.
TEST_P(KemPool, ForkedChildrenHaveNoneOfTheirParents) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: ThreadSanitizer ends forked children of programs with threads";
#endif
    constexpr size_t children = 8, pairs_each = 60;
    const PoolHandle some = pool(300);
    ASSERT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    const Taken mine = taken(some, 20);
    std::atomic<bool> done{false};
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!done) wrong += !works(some, taken(some, 5)) || warpseal_kem_pool_fill(some.get()) != WARPSEAL_OK;
        });
    std::vector<int> pipes;
    for (size_t i = 0; i < children; ++i) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            if (!refused(some, mine.tickets)) _exit(1);
            const Taken own = taken(some, pairs_each);
            if (write(ends[1], own.publics.data(), own.publics.size()) != static_cast<ssize_t>(own.publics.size())) _exit(2);
            if (!works(some, own)) _exit(3);
            // Nor when each place has a pair of the child's, as it had one of the parent's.
            const Taken all = taken(some, 300);
            if (!refused(some, mine.tickets) || !works(some, all)) _exit(6);
            // And so on, in its children.
            const Taken left = taken(some, 3);
            if (in_child([&] {
                    const Taken all = taken(some, 300);
                    return refused(some, left.tickets) && works(some, all) ? 7 : 1;
                }) != 7)
                _exit(4);
            _exit(works(some, left) ? 7 : 5);
        }
        close(ends[1]);
        pipes.push_back(ends[0]);
    }
    Text publics = mine.publics;
    for (const int from : pipes) {
        Text part(pairs_each * info.public_key_bytes);
        size_t got = 0;
        for (ssize_t more; got < part.size() && (more = read(from, part.data() + got, part.size() - got)) > 0;)
            got += static_cast<size_t>(more);
        EXPECT_EQ(got, part.size());
        close(from);
        tests::append(publics, part);
    }
    for (size_t i = 0; i < children; ++i) {
        int status = 0;
        ASSERT_GT(wait(&status), 0);
        EXPECT_EQ(WEXITSTATUS(status), 7);
        EXPECT_TRUE(WIFEXITED(status));
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(works(some, mine));
    tests::append(publics, taken(some, 300).publics);  // what was ready before, too
    EXPECT_EQ(items(publics, info.public_key_bytes).size(), 20 + children * pairs_each + 300);
}

// --- what is left in memory -------------------------------------------------------------------------------------------------------

// Windows of secret keys that a pool has, masked: drawn again, from the same source. Each at four places, as the search looks at every
// fourth byte: so it sees a fourth of them.
residue::Patterns secrets_of(const targets::EngineHandle& engine, const warpseal_kem_info& info, size_t count) {
    Text publics(count * info.public_key_bytes), secrets(count * info.secret_key_bytes);
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_keys = publics.data();
    batch.public_key_stride = info.public_key_bytes;
    batch.secret_keys = secrets.data();
    batch.secret_key_stride = info.secret_key_bytes;
    EXPECT_EQ(warpseal_kem_keypair(engine.get(), info.name, &batch), WARPSEAL_OK);
    residue::Patterns patterns;
    for (size_t i = 0; i < count; ++i)
        for (size_t at = 64; at + 32 <= info.secret_key_bytes; ++at)
            if (at % 32 < 4) patterns.push_back(residue::masked(secrets.data() + i * info.secret_key_bytes + at, 32));
    std::fill(secrets.begin(), secrets.end(), uint8_t{0});
    __asm__ __volatile__("" : : "r"(secrets.data()) : "memory");
    return patterns;
}

TEST_P(KemPool, WhatIsUsedDroppedOrForkedAwayIsWiped) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    constexpr size_t count = 12;
    source = Source::fixed;
    const residue::Patterns patterns = secrets_of(engine, info, count);
    const size_t each = patterns.size() / count / 4;
    EXPECT_EQ(residue::occurrences(patterns), 0u);
    PoolHandle some = pool(count);
    Taken pairs = taken(some, count);
    source = Source::kernel;
    // On a GPU they are not in this memory at all.
    const size_t kept = GetParam().target == "cuda" ? 0 : 1;
    EXPECT_EQ(residue::occurrences(patterns), kept * count * each) << "or this test sees nothing";
    EXPECT_EQ(in_child([&] { return residue::occurrences(patterns) == 0 ? 7 : 1; }), 7);
    warpseal_kem_pool_drop(some.get(), 4, pairs.tickets.data());
    EXPECT_EQ(residue::occurrences(patterns), kept * (count - 4) * each);
    const auto rest = [&](size_t from, size_t to) {
        return Taken{Text(pairs.publics.begin() + static_cast<long>(from * info.public_key_bytes),
                          pairs.publics.begin() + static_cast<long>(to * info.public_key_bytes)),
                     Tickets(pairs.tickets.begin() + static_cast<long>(from), pairs.tickets.begin() + static_cast<long>(to))};
    };
    EXPECT_TRUE(works(some, rest(4, 9)));
    EXPECT_EQ(residue::occurrences(patterns), kept * (count - 9) * each);
    some.reset();
    EXPECT_EQ(residue::occurrences(patterns), 0u);
}

std::vector<Subject> two_sets() {
    std::vector<Subject> out;
    for (const char* set : {"ntruhps2048509", "ntruhrss701"})
        for (const char* target : {"cpu", "cuda"}) out.push_back({set, target});
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, KemPool, testing::ValuesIn(two_sets()), tests::name_of);

}  // namespace
