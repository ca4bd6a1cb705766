// The provider unloaded while threads use it, forked while it works, and without random bytes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <set>
#include <string>
#include <thread>

#include "kem/random_source.h"
#include "library.h"

namespace {

using namespace tests;

constexpr char group[] = "x25519_ntru_hps4096821";

// The program lets go of the provider while its threads are within; what they fetched keeps it until they have done.
TEST(Unload, WaitsForThoseWhoUseIt) {
    for (int round = 0; round < 8; ++round) {
        Library library;
        std::barrier begun(5);
        std::atomic<int> right{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                const Key key = library.generate(group);
                begun.arrive_and_wait();
                for (int j = 0; j < 40; ++j) right += works(library, key.get());
            });
        begun.arrive_and_wait();
        library.unload();
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(right, 4 * 40) << "round " << round;
    }
}

TEST(Unload, ManyTimesAndAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 25; ++j) {
                const Library library;
                right += works(library, library.generate("ntru_hps2048509").get());
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 4 * 25);
}

// What a child says over a pipe: public keys of pairs that worked.
constexpr int workers = 8, pairs_each = 50;

void child_works(const Library& library, EVP_PKEY* of_parent, int out) {
    for (int i = 0; i < pairs_each; ++i) {
        const Key key = library.generate(group);
        if (!key || !works(library, key.get()) || !works(library, of_parent)) _exit(1);
        const Bytes share = encoded_public_key(key.get());
        if (write(out, share.data(), share.size()) != static_cast<ssize_t>(share.size())) _exit(2);
    }
    _exit(0);
}

// What one child said, whole.
std::string heard(int from) {
    std::string out(size_t{1} << 17, 0);
    size_t bytes = 0;
    for (ssize_t got; (got = read(from, out.data() + bytes, out.size() - bytes)) > 0;) bytes += static_cast<size_t>(got);
    out.resize(bytes);
    return out;
}

// Forks `workers` children; every pair of theirs works, and no two in all of them are alike.
void fork_workers(const Library& library, EVP_PKEY* of_parent) {
    const size_t share_bytes = encoded_public_key(of_parent).size();
    std::vector<std::pair<pid_t, int>> children;
    for (int i = 0; i < workers; ++i) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(60);
            close(ends[0]);
            child_works(library, of_parent, ends[1]);
        }
        close(ends[1]);
        children.emplace_back(child, ends[0]);
    }
    std::set<std::string> shares;
    for (const auto& [child, from] : children) {
        const std::string text = heard(from);
        close(from);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
        for (size_t at = 0; at + share_bytes <= text.size(); at += share_bytes) shares.insert(text.substr(at, share_bytes));
    }
    EXPECT_EQ(shares.size(), static_cast<size_t>(workers * pairs_each)) << "shares alike, or lost";
}

TEST(Fork, EightWorkersOfAParentThatHasUsedIt) {
    const Library library;
    const Key key = library.generate(group);
    ASSERT_TRUE(works(library, key.get()));
    fork_workers(library, key.get());
    EXPECT_TRUE(works(library, key.get()));
}

// The parent's threads are within the provider alone: libcrypto's own locks, which guard its fetches, are not for forks.
TEST(Fork, EightWorkersOfAParentAtWork) {
    const Library library;
    const Key key = library.generate(group), pure = library.generate("ntru_hps4096821");
    ASSERT_TRUE(works(library, key.get()));
    std::atomic<bool> enough{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    std::barrier begun(4);
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            const KeyContext context = library.on(pure.get());
            wrong += EVP_PKEY_encapsulate_init(context.get(), nullptr) != 1;
            Bytes ciphertext(4096), secret(4096);
            begun.arrive_and_wait();
            while (!enough) {
                size_t bytes = ciphertext.size(), secret_bytes = secret.size();
                wrong += EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes) != 1;
            }
        });
    begun.arrive_and_wait();
    fork_workers(library, key.get());
    enough = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// At whichever call random bytes fail: an error, no secret of zeros, and all is well when they are there again.
TEST(RandomSource, FailingGivesErrorsAndNothingElse) {
    const Library library;
    for (const std::string& name : library.groups()) {
        const Key key = library.generate(name);
        ASSERT_TRUE(works(library, key.get())) << name;
        source = Source::failing;
        EXPECT_FALSE(library.generate(name)) << name;
        EXPECT_TRUE(encapsulate(library, key.get()).secret.empty()) << name;
        source = Source::kernel;
        ERR_clear_error();
        EXPECT_TRUE(works(library, key.get())) << name;
    }
}

}  // namespace
