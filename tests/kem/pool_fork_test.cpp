// Ephemeral key pools across forks, and the secrets they leave in memory.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "pool.h"
#include "support/residue.h"

namespace {

using tests::AcquiredKeys;
using tests::Handles;
using tests::items;
using tests::PoolHandle;
using tests::source;
using tests::Source;
using tests::Text;

class KemPoolForks : public tests::PoolTest {};

// Ends a child that waits for a lock held by its parent.
constexpr unsigned longest_seconds = 120;

// Runs `work` in a forked child and returns its result, 0 to 100.
int in_child(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(longest_seconds);
        _exit(work());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

// Children of a parent whose threads run, so that some forks happen under each lock. A child has no
// key pair of its parent, ready or acquired. Its own work succeeds, and its parent's continues.
TEST_P(KemPoolForks, ForkedChildrenHaveNoneOfTheirParents) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: ThreadSanitizer ends forked children of programs with threads";
#endif
    constexpr size_t children = 8, pairs_each = 60;
    const PoolHandle some = pool(300);
    ASSERT_EQ(warpseal_kem_pool_fill(some.get()), WARPSEAL_OK);
    const AcquiredKeys mine = acquired(some, 20);
    std::atomic<bool> done{false};
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!done)
                wrong += !works(some, acquired(some, 5)) ||
                         warpseal_kem_pool_fill(some.get()) != WARPSEAL_OK;
        });
    std::vector<int> pipes;
    for (size_t i = 0; i < children; ++i) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            alarm(longest_seconds);
            if (!refused(some, mine.handles)) _exit(1);
            const AcquiredKeys own = acquired(some, pairs_each);
            if (write(ends[1], own.publics.data(), own.publics.size()) !=
                static_cast<ssize_t>(own.publics.size()))
                _exit(2);
            if (!works(some, own)) _exit(3);
            // Nor when each slot has a key pair of the child instead of one of the parent.
            const AcquiredKeys all = acquired(some, 300);
            if (!refused(some, mine.handles) || !works(some, all)) _exit(6);
            // The same again in its children.
            const AcquiredKeys left = acquired(some, 3);
            if (in_child([&] {
                    const AcquiredKeys all = acquired(some, 300);
                    return refused(some, left.handles) && works(some, all) ? 7 : 1;
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
        for (ssize_t more;
             got < part.size() && (more = read(from, part.data() + got, part.size() - got)) > 0;)
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
    tests::append(publics, acquired(some, 300).publics);  // including those ready before
    EXPECT_EQ(items(publics, info.public_key_bytes).size(), 20 + children * pairs_each + 300);
}

// Masked windows of a pool's secret keys, drawn again from the same source. Each at four offsets,
// as the search checks every fourth byte: so it finds a fourth of them.
residue::Patterns secrets_of(const targets::EngineHandle& engine, const warpseal_kem_info& info,
                             size_t count) {
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
    // A secret key of ML-KEM begins with its secret, and then holds the public key. Only windows
    // with all four offsets count there.
    const bool holds_public = info.name == std::string("ml-kem-768");
    const size_t secret_bytes = holds_public ? info.public_key_bytes - 32 : info.secret_key_bytes;
    for (size_t i = 0; i < count; ++i)
        for (size_t at = 64; at + 32 <= secret_bytes; ++at)
            if (at % 32 < 4 && (!holds_public || at / 32 * 32 + 35 <= secret_bytes))
                patterns.push_back(
                    residue::masked(secrets.data() + i * info.secret_key_bytes + at, 32));
    std::fill(secrets.begin(), secrets.end(), uint8_t{0});
    __asm__ __volatile__("" : : "r"(secrets.data()) : "memory");
    return patterns;
}

TEST_P(KemPoolForks, UsedReleasedAndForkedKeysAreZeroized) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    constexpr size_t count = 12;
    source = Source::fixed;
    const residue::Patterns patterns = secrets_of(engine, info, count);
    const size_t each = patterns.size() / count / 4;
    EXPECT_EQ(residue::occurrences(patterns), 0u);
    PoolHandle some = pool(count);
    AcquiredKeys pairs = acquired(some, count);
    source = Source::kernel;
    // With a GPU they are not in this memory at all.
    const size_t kept = GetParam().target == "cuda" ? 0 : 1;
    EXPECT_EQ(residue::occurrences(patterns), kept * count * each) << "otherwise the test is blind";
    EXPECT_EQ(in_child([&] { return residue::occurrences(patterns) == 0 ? 7 : 1; }), 7);
    warpseal_kem_pool_release(some.get(), 4, pairs.handles.data());
    EXPECT_EQ(residue::occurrences(patterns), kept * (count - 4) * each);
    const auto rest = [&](size_t from, size_t to) {
        return AcquiredKeys{
            Text(pairs.publics.begin() + static_cast<long>(from * info.public_key_bytes),
                 pairs.publics.begin() + static_cast<long>(to * info.public_key_bytes)),
            Handles(pairs.handles.begin() + static_cast<long>(from),
                    pairs.handles.begin() + static_cast<long>(to))};
    };
    EXPECT_TRUE(works(some, rest(4, 9)));
    EXPECT_EQ(residue::occurrences(patterns), kept * (count - 9) * each);
    some.reset();
    EXPECT_EQ(residue::occurrences(patterns), 0u);
}

FOR_EACH_POOL(KemPoolForks);

}  // namespace
