// The thread pool hands out every task exactly once to any callers, on as many threads as the
// system grants.
#include "platform/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <stdexcept>

#include "platform/cores.h"

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
        EXPECT_TRUE(
            all_here.wait_for(lock, std::chrono::seconds(30), [&] { return threads.size() == 3; }));
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

// ---- cores

using Files = std::map<std::string, std::string>;

unsigned quota(const std::string& groups, const std::string& mounts, const Files& files) {
    return warpseal::quota_cores(groups, mounts, [&](const std::string& path) {
        const auto found = files.find(path);
        return found == files.end() ? std::string() : found->second;
    });
}

const char* const unified =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const first_version =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Cores, UnifiedGroups) {
    const std::string group = "0::/a/b\n";
    EXPECT_EQ(quota(group, unified, {}), 0u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}}), 0u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"}}), 2u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"}}), 2u);
    EXPECT_EQ(quota(group, unified, {{"/sys/fs/cgroup/a/b/cpu.max", "1000 100000\n"}}), 1u);
    EXPECT_EQ(quota(group, unified,
                    {{"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"},
                     {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}}),
              3u);
}

TEST(Cores, InsideAContainer) {  // the namespace's root is the mount's root
    EXPECT_EQ(quota("0::/\n", unified, {{"/sys/fs/cgroup/cpu.max", "100000 50000\n"}}), 2u);
    const char* const bound = "30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    EXPECT_EQ(quota("0::/docker/x\n", bound, {{"/sys/fs/cgroup/cpu.max", "500000 100000\n"}}), 5u);
}

TEST(Cores, FirstVersionGroups) {
    const std::string groups = "3:memory:/m\n2:cpu,cpuacct:/a\n0::/\n";
    EXPECT_EQ(quota(groups, first_version,
                    {{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"},
                     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}}),
              0u);
    EXPECT_EQ(quota(groups, first_version,
                    {{"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n"},
                     {"/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}}),
              3u);
}

TEST(Cores, InvalidTextIsIgnored) {
    for (const char* text : {"", "\n", ":::\n", "0::", "garbage", "- - - -\n"}) {
        EXPECT_EQ(quota(text, unified, {}), 0u);
        EXPECT_EQ(quota("0::/a\n", text, {}), 0u);
    }
}

TEST(Cores, AffinityCounts) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_LE(warpseal::usable_cores(), static_cast<unsigned>(CPU_COUNT(&before)));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(warpseal::usable_cores(), 1u);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
