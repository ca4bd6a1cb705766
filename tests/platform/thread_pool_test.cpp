// The thread pool hands out every task exactly once to any callers, on as many threads as the
// system grants.
#include "platform/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <stdexcept>

namespace {

using warpseal::Pool;

TEST(Pool, EveryTaskOnce) {
    Pool pool(4);
    for (const size_t count : {0, 1, 2, 3, 7, 64, 1000}) {
        std::vector<std::atomic<int>> seen(count);
        pool.run(count, 4, [&](size_t i) { ++seen[i]; });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
}

TEST(Pool, OneThreadIsTheCaller) {
    Pool pool(4);
    const auto caller = std::this_thread::get_id();
    pool.run(100, 1, [&](size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
    Pool alone(1);
    alone.run(100, 4, [&](size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(Pool, AsManyThreadsAsRequested) {
    Pool pool(3);
    std::mutex mutex;
    std::condition_variable all_here;
    std::set<std::thread::id> threads;
    pool.run(3, 3, [&](size_t) {  // returns only once three threads run tasks
        std::unique_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        all_here.notify_all();
        EXPECT_TRUE(all_here.wait_for(lock, std::chrono::seconds(120),
                                      [&] { return threads.size() == 3; }));
    });
    EXPECT_EQ(threads.size(), 3u);
}

TEST(Pool, NestedWorkRunsInline) {
    Pool pool(4);
    std::atomic<int> tasks{0};
    pool.run(8, 4, [&](size_t) {
        const auto self = std::this_thread::get_id();
        pool.run(8, 4, [&](size_t) {
            EXPECT_EQ(std::this_thread::get_id(), self);
            ++tasks;
        });
    });
    EXPECT_EQ(tasks, 64);
}

TEST(Pool, ManyCallersAtOnce) {
    Pool pool(4);
    std::atomic<uint64_t> sum{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 6; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 200; ++round) pool.run(17, 4, [&](size_t i) { sum += i; });
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(sum, 6u * 200 * (16 * 17 / 2));
}

TEST(Pool, ExceptionsReachTheCaller) {
    Pool pool(4);
    for (int round = 0; round < 50; ++round)
        EXPECT_THROW(pool.run(100, 4,
                              [&](size_t i) {
                                  if (i == 37) throw std::runtime_error("37");
                              }),
                     std::runtime_error);
    int after = 0;
    pool.run(1, 4, [&](size_t) { ++after; });
    EXPECT_EQ(after, 1);
}

// The other thread, which has more tasks than it could ever do, takes no more of them.
TEST(Pool, AnExceptionEndsTheJob) {
    using Clock = std::chrono::steady_clock;
    Pool pool(2);
    std::atomic<int> arrived{0};
    std::atomic<bool> went_on{false};
    std::atomic<Clock::time_point> end{Clock::time_point::max()};
    const auto task = [&](size_t i) {
        if (i < 2) ++arrived;
        while (arrived < 2) sched_yield();  // one task on each thread
        if (i == 0) {
            end = Clock::now() + std::chrono::seconds(30);
            throw std::runtime_error("0");
        }
        if (Clock::now() < end.load()) return;
        went_on = true;
        throw std::runtime_error("no end");
    };
    EXPECT_THROW(pool.run(SIZE_MAX / 2, 2, task), std::runtime_error);
    EXPECT_FALSE(went_on);
}

TEST(Pool, KeepsTheCallersSignalMask) {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    ASSERT_EQ(sigismember(&before, SIGTERM), 0);
    Pool pool(2);
    pool.run(2, 2, [](size_t) {});
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
        EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
}

TEST(Pool, WorkersBlockSignals) {
    Pool pool(2);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> arrived{0};
    pool.run(2, 2, [&](size_t) {
        ++arrived;
        while (arrived < 2) sched_yield();  // one task on each thread
        if (std::this_thread::get_id() == caller) return;
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
        EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    });
}

TEST(Pool, AForkedChildWorksAlone) {
    Pool pool(4);
    // All workers are started and asleep, so that a sanitizer's own locks are free in the child.
    std::atomic<int> arrived{0};
    pool.run(4, 4, [&](size_t) {
        ++arrived;
        while (arrived < 4) sched_yield();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const pid_t child = fork();
    if (child == 0) {
        std::atomic<int> tasks{0};
#if defined(__SANITIZE_THREAD__)
        tasks += 64;  // ThreadSanitizer aborts a forked child that starts threads
#else
        {
            Pool own(4);  // made in the child: has threads of its own
            own.run(64, 4, [&](size_t) { ++tasks; });
        }
#endif
        pool.run(64, 4, [&](size_t) { ++tasks; });
        pool.~Pool();  // must neither wait for missing threads nor end the process
        _exit(tasks == 128 ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

// Another thread of the parent often holds the pool's mutex at the fork.
TEST(Pool, ForkedChildrenOfABusyParentWorkAlone) {
    Pool pool(2);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) pool.run(2, 2, [](size_t) {});
    });
    int failed = 0;
    for (int i = 0; i < 300 && failed == 0; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(120);
            int tasks = 0;
            pool.run(64, 2, [&](size_t) { ++tasks; });
            _exit(tasks == 64 ? 7 : 1);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
    stop = true;
    busy.join();
    EXPECT_EQ(failed, 0);
}

TEST(Pool, WithoutThreadsTheCallerDoesAllWork) {
    const pid_t child = fork();
    if (child == 0) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes,
                                  size_t{1} << 46);  // no address space has room for such a stack
        if (pthread_setattr_default_np(&attributes) != 0) _exit(2);
        Pool pool(4);
        size_t tasks = 0;
        pool.run(64, 4, [&](size_t) { ++tasks; });
        _exit(tasks == 64 ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
