// The provider unloaded while threads use it, forked while it works, and without random bytes.
#include <gtest/gtest.h>
#include <openssl/async.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "library.h"
#include "support/random_source.h"

namespace {

using namespace tests;

constexpr char group[] = "x25519_ntru_hps4096821";

// The program unloads the provider while threads are inside; fetched objects keep it until they are
// freed.
TEST(Unload, WaitsForItsUsers) {
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

// Encapsulations on fibres of libcrypto: started, each pauses with its request in the provider's
// queue.
class Fibres {
public:
    Fibres(const Library& library, EVP_PKEY* key, size_t count) : fibres_(count) {
        for (Fibre& fibre : fibres_) {
            fibre.context = library.on(key);
            fibre.wait = ASYNC_WAIT_CTX_new();
            fibre.out = {Bytes(4096), Bytes(256)};
            if (EVP_PKEY_encapsulate_init(fibre.context.get(), nullptr) != 1 ||
                fibre.wait == nullptr)
                throw std::runtime_error("no fibre");
        }
    }
    Fibres(const Fibres&) = delete;
    Fibres& operator=(const Fibres&) = delete;
    ~Fibres() {
        for (Fibre& fibre : fibres_) ASYNC_WAIT_CTX_free(fibre.wait);
    }

    // Starts all fibres, or resumes the paused ones. Returns the number not done.
    size_t go_on() {
        size_t paused = 0;
        for (Fibre& fibre : fibres_) {
            if (fibre.done) continue;
            Fibre* self = &fibre;
            const int state =
                ASYNC_start_job(&fibre.job, fibre.wait, &fibre.result, run, &self, sizeof self);
            if (state == ASYNC_ERR || state == ASYNC_NO_JOBS) throw std::runtime_error("no fibre");
            fibre.done = state == ASYNC_FINISH;
            paused += !fibre.done;
        }
        return paused;
    }

    // Returns the number that ended with a result.
    size_t end() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (go_on() != 0 && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
        return static_cast<size_t>(std::ranges::count_if(
            fibres_, [](const Fibre& fibre) { return fibre.done && fibre.result == 1; }));
    }

    std::vector<Encapsulated> results() const {
        std::vector<Encapsulated> all;
        for (const Fibre& fibre : fibres_) all.push_back(fibre.out);
        return all;
    }

    // Abandons them. libcrypto never frees an abandoned fibre.
    void abandon(std::vector<ASYNC_JOB*>& abandoned) {
        for (Fibre& fibre : fibres_)
            if (!fibre.done) abandoned.push_back(fibre.job);
    }

private:
    struct Fibre {
        KeyContext context;
        ASYNC_WAIT_CTX* wait = nullptr;
        ASYNC_JOB* job = nullptr;
        int result = 0;
        bool done = false;
        Encapsulated out;
    };

    static int run(void* argument) {
        Fibre& fibre = **static_cast<Fibre**>(argument);
        size_t ciphertext_bytes = fibre.out.ciphertext.size(),
               secret_bytes = fibre.out.secret.size();
        const int result =
            EVP_PKEY_encapsulate(fibre.context.get(), fibre.out.ciphertext.data(),
                                 &ciphertext_bytes, fibre.out.secret.data(), &secret_bytes);
        fibre.out.ciphertext.resize(ciphertext_bytes);
        fibre.out.secret.resize(secret_bytes);
        return result;
    }

    std::vector<Fibre> fibres_;
};

constexpr size_t fibre_count = 200;

TEST(Unload, WhileRequestsOfFibresAreQueued) {
    Library library;
    const Key key = library.generate(group);
    Fibres fibres(library, key.get(), fibre_count);
    EXPECT_GT(fibres.go_on(), 0u) << "no fibre has paused";
    library.unload();
    EXPECT_EQ(fibres.end(), fibre_count);
    for (const Encapsulated& made : fibres.results())
        EXPECT_EQ(decapsulate(library, key.get(), made.ciphertext), made.secret);
}

// Connections freed in the middle of their handshake. Contexts, keys and the provider are freed
// while requests are queued.
TEST(Unload, WithAbandonedFibres) {
    static auto& abandoned = *new std::vector<ASYNC_JOB*>;  // not freed: libcrypto's leak
    for (int round = 0; round < 4; ++round) {
        const Library library;
        const Key key = library.generate(group);
        ASSERT_TRUE(works(library, key.get()));
        Fibres fibres(library, key.get(), fibre_count);
        EXPECT_GT(fibres.go_on(), 0u);
        fibres.abandon(abandoned);
    }
}

// A child sends the public keys of its working pairs over a pipe.
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

// Returns the whole output of one child.
std::string heard(int from) {
    std::string out(size_t{1} << 17, 0);
    size_t bytes = 0;
    for (ssize_t got; (got = read(from, out.data() + bytes, out.size() - bytes)) > 0;)
        bytes += static_cast<size_t>(got);
    out.resize(bytes);
    return out;
}

// Forks `workers` children. Every pair of theirs works, and all pairs differ.
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
        for (size_t at = 0; at + share_bytes <= text.size(); at += share_bytes)
            shares.insert(text.substr(at, share_bytes));
    }
    EXPECT_EQ(shares.size(), static_cast<size_t>(workers * pairs_each))
        << "equal or missing shares";
}

TEST(Fork, EightWorkersOfAParentThatHasUsedIt) {
    const Library library;
    const Key key = library.generate(group);
    ASSERT_TRUE(works(library, key.get()));
    fork_workers(library, key.get());
    EXPECT_TRUE(works(library, key.get()));
}

// The parent's threads are only inside the provider: libcrypto's own locks, which guard its
// fetches, do not survive forks.
TEST(Fork, EightWorkersOfAParentAtWork) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "NOT RUN: a lock of AddressSanitizer's allocator that a parent's thread holds "
                    "stays held in the child";
#endif
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
                wrong += EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes,
                                              secret.data(), &secret_bytes) != 1;
            }
        });
    begun.arrive_and_wait();
    fork_workers(library, key.get());
    enough = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// Random bytes fail at each call in turn: an error, no zero secret, and success once they are
// available again.
TEST(RandomSource, FailuresGiveErrorsOnly) {
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
