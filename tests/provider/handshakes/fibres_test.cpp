// SSL_MODE_ASYNC: handshakes that pause on their fibres during a batch, and everything that can
// happen to them meanwhile.
#include <dirent.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "provider/handshakes/connection.h"

namespace tests {
namespace {

constexpr char pure[] = "ntru_hps4096821";
constexpr char hybrid[] = "x25519_ntru_hps2048509";

size_t open_descriptors() {
    size_t count = 0;
    DIR* const folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

std::vector<std::unique_ptr<Connection>> connections(const Ends& ends, size_t count, long mode) {
    std::vector<std::unique_ptr<Connection>> made;
    for (size_t i = 0; i < count; ++i) made.push_back(std::make_unique<Connection>(ends, mode));
    return made;
}

// Waits for any paused end of any connection, as an event loop does.
void wait_for_any(const std::vector<std::unique_ptr<Connection>>& all) {
    std::vector<pollfd> wanted;
    for (const auto& one : all)
        for (SSL* const end : {one->client(), one->server()})
            if (SSL_waiting_for_async(end) != 0)
                for (const int descriptor : descriptors(end))
                    wanted.push_back({descriptor, POLLIN, 0});
    ASSERT_FALSE(wanted.empty());
    ASSERT_GT(poll(wanted.data(), wanted.size(), 10'000), 0) << "no connection was woken";
}

bool rung(SSL* end) {
    for (const int descriptor : descriptors(end)) {
        pollfd one{descriptor, POLLIN, 0};
        if (poll(&one, 1, 0) == 1) return true;
    }
    return false;
}

class Fibres : public testing::TestWithParam<const char*> {
protected:
    Library library;
};

TEST_P(Fibres, ManyAtOnceInAnEventLoop) {
    const Ends ends(library, GetParam());
    const size_t before = open_descriptors();
    {
        const auto all = connections(ends, 200, SSL_MODE_ASYNC);
        size_t pauses = 0;
        for (size_t done = 0; done < all.size();) {
            done = 0;
            size_t moved = 0;
            for (const auto& one : all) {
                for (SSL* const end : {one->client(), one->server()}) {
                    if (SSL_waiting_for_async(end) != 0 && !rung(end)) continue;
                    moved += SSL_is_init_finished(end) == 0 ? 1 : 0;
                    ASSERT_TRUE(Connection::step(end, pauses))
                        << ERR_error_string(ERR_peek_error(), nullptr);
                }
                done += one->done() ? 1 : 0;
            }
            if (moved == 0 && done < all.size()) wait_for_any(all);
        }
        // Key generation and decapsulation at the client, encapsulation at the server; except those
        // done before they could pause.
        EXPECT_GE(pauses, all.size());
        std::set<std::string> secrets;
        for (const auto& one : all) secrets.insert(one->exported());
        EXPECT_EQ(secrets.size(), all.size());
        EXPECT_EQ(secrets.count(""), 0u);
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST_P(Fibres, ResumedSpuriously) {
    const Ends ends(library, GetParam());
    const auto all = connections(ends, 50, SSL_MODE_ASYNC);
    size_t pauses = 0;
    for (size_t done = 0; done < all.size();) {
        done = 0;
        for (const auto& one : all) {
            ASSERT_TRUE(one->step(pauses));
            done += one->done() ? 1 : 0;
        }
    }
    for (const auto& one : all) EXPECT_NE(one->exported(), "");
}

TEST_P(Fibres, WokenByACallback) {
    const Ends ends(library, GetParam());
    const size_t before = open_descriptors();
    const auto all = connections(ends, 50, SSL_MODE_ASYNC);
    std::vector<std::atomic<int>> woken(2 * all.size());
    const auto wake = [](SSL*, void* flag) {
        static_cast<std::atomic<int>*>(flag)->store(1);
        return 1;
    };
    for (size_t i = 0; i < woken.size(); ++i) {
        SSL* const end = i % 2 == 0 ? all[i / 2]->client() : all[i / 2]->server();
        ASSERT_EQ(SSL_set_async_callback(end, wake), 1);
        ASSERT_EQ(SSL_set_async_callback_arg(end, &woken[i]), 1);
    }
    size_t pauses = 0, calls = 0;
    for (size_t done = 0; done < all.size();) {
        done = 0;
        for (size_t i = 0; i < woken.size(); ++i) {
            SSL* const end = i % 2 == 0 ? all[i / 2]->client() : all[i / 2]->server();
            if (SSL_waiting_for_async(end) != 0) {
                if (woken[i].exchange(0) == 0) continue;
                ++calls;
            }
            ASSERT_TRUE(Connection::step(end, pauses));
        }
        for (const auto& one : all) done += one->done() ? 1 : 0;
    }
    EXPECT_EQ(calls, pauses);
    EXPECT_GE(calls, all.size());
    EXPECT_EQ(open_descriptors(), before);  // callbacks need no descriptors
    for (const auto& one : all) EXPECT_NE(one->exported(), "");
}

INSTANTIATE_TEST_SUITE_P(Groups, Fibres, testing::Values(pure, hybrid));

// A server may close a connection at any time. libcrypto never ends such a fibre, so the batch must
// not write to its stack.
TEST(Abandoned, ConnectionsAreFreedWhileFibresArePaused) {
    const Library library;
    const Ends ends(library, pure);
    const size_t before = open_descriptors();
    for (int round = 0; round < 4; ++round) {
        auto all = connections(ends, 16, SSL_MODE_ASYNC);
        size_t pauses = 0;
        for (const auto& one : all) ASSERT_TRUE(Connection::step(one->client(), pauses));
        EXPECT_GE(pauses, all.size() / 2);  // a few may have been done before they could pause
        all.clear();
    }
    // Other connections succeed, and the closed ones' descriptors are closed when their batches are
    // done.
    const Connection other(ends, 0);
    size_t none = 0;
    while (!other.done()) ASSERT_TRUE(other.step(none));
    EXPECT_NE(other.exported(), "");
    for (int i = 0; i < 1000 && open_descriptors() > before; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(open_descriptors(), before);
}

struct Job {
    const Library* library;
    EVP_PKEY* key;
    bool blocked;
};

int encapsulate(void* data) {
    const Job& job = *static_cast<const Job*>(data);
    const KeyContext context = job.library->on(job.key);
    unsigned char share[2048], secret[128];
    size_t share_bytes = sizeof share, secret_bytes = sizeof secret;
    if (job.blocked) ASYNC_block_pause();
    const bool done =
        context && EVP_PKEY_encapsulate_init(context.get(), nullptr) == 1 &&
        EVP_PKEY_encapsulate(context.get(), share, &share_bytes, secret, &secret_bytes) == 1;
    if (job.blocked) ASYNC_unblock_pause();
    return done ? 1 : 0;
}

TEST(Jobs, AJobThatMayNotPauseCompletes) {
    const Library library;
    const Key key = library.generate(pure);
    ASSERT_TRUE(key);
    for (const bool blocked : {false, true}) {
        Job job{&library, key.get(), blocked};
        ASYNC_JOB* fibre = nullptr;
        ASYNC_WAIT_CTX* const wait = ASYNC_WAIT_CTX_new();
        int result = 0,
            state = ASYNC_start_job(&fibre, wait, &result, encapsulate, &job, sizeof job);
        EXPECT_TRUE(state == ASYNC_FINISH || (state == ASYNC_PAUSE && !blocked));
        while (state == ASYNC_PAUSE)
            state = ASYNC_start_job(&fibre, wait, &result, encapsulate, &job, sizeof job);
        EXPECT_EQ(state, ASYNC_FINISH);
        EXPECT_EQ(result, 1);
        ASYNC_WAIT_CTX_free(wait);
    }
}

int encrypt_with_all(void* data) {
    const Library& library = **static_cast<const Library* const*>(data);
    const Bytes text(5000, 7);
    Bytes out(text.size() + 64), key(64, 1), iv(16, 2);
    int done = 1;
    for (const char* const name :
         {"AES-256-GCM", "AES-128-CBC", "CAMELLIA-256-CBC", "CAMELLIA-192-CTR", "ARIA-256-GCM",
          "ARIA-128-CBC", "SM4-CTR", "SEED-CBC", "DES-EDE3-CBC"}) {
        EVP_CIPHER* const cipher = EVP_CIPHER_fetch(library.context(), name, our_own);
        EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
        for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(i * 37 + 1);
        int bytes = 0;
        if (cipher == nullptr || context == nullptr ||
            EVP_EncryptInit_ex2(context, cipher, key.data(), iv.data(), nullptr) != 1 ||
            EVP_EncryptUpdate(context, out.data(), &bytes, text.data(),
                              static_cast<int>(text.size())) != 1)
            done = 0;
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_free(cipher);
    }
    return done;
}

// The target with the largest frames, with handshakes and records on fibres, where almost all
// operations run inline. Includes self-tests.
TEST(Stack, OfAFibreIsNotUsedByTheEngine) {
    setenv("WARPSEAL_DEVICE", "portable", 1);
    setenv("WARPSEAL_MAX_WAITING", "1", 1);
    const Library library;
    unsetenv("WARPSEAL_DEVICE");
    unsetenv("WARPSEAL_MAX_WAITING");
    const Ends ends(library, "ntru_hrss1373");
    for (const auto& one : connections(ends, 20, SSL_MODE_ASYNC)) {
        size_t pauses = 0;
        while (!one->done()) ASSERT_TRUE(one->step(pauses));
        EXPECT_NE(one->exported(), "");
    }
    const Library* given = &library;
    ASYNC_JOB* fibre = nullptr;
    ASYNC_WAIT_CTX* const wait = ASYNC_WAIT_CTX_new();
    int result = 0;
    EXPECT_EQ(ASYNC_start_job(&fibre, wait, &result, encrypt_with_all, &given, sizeof given),
              ASYNC_FINISH);
    EXPECT_EQ(result, 1);
    ASYNC_WAIT_CTX_free(wait);
}

TEST(Threads, HandshakesOfMany) {
    const Library library;
    const Ends ends(library, hybrid);
    std::atomic<size_t> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 25; ++j) {
                const Connection one(ends, 0);
                size_t none = 0;
                while (!one.done() && one.step(none)) {
                }
                failed += one.exported().empty() ? 1 : 0;
            }
            OPENSSL_thread_stop_ex(library.context());
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 0u);
}

TEST(Loading, Repeatedly) {
    for (int i = 0; i < 5; ++i) {
        Library library;
        const Ends ends(library, hybrid);
        const Connection one(ends, i % 2 == 0 ? SSL_MODE_ASYNC : 0);
        size_t pauses = 0;
        while (!one.done()) ASSERT_TRUE(one.step(pauses));
        EXPECT_NE(one.exported(), "");
    }
}

}  // namespace
}  // namespace tests
