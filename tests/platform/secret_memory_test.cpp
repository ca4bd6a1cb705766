// Memory for secrets: small allocations share pages, and are zeroed, zeroized, locked and handled
// on fork like large ones.
#include "platform/secret_memory.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using warpseal::SecretMemory;

constexpr size_t sizes[] = {1, 16, 64, 65, 1536, 5312, 8192, 8193, 51328};

bool all_are(const SecretMemory& memory, size_t bytes, uint8_t value) {
    const auto* data = static_cast<const uint8_t*>(memory.data());
    return std::all_of(data, data + bytes, [value](uint8_t x) { return x == value; });
}

size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

// Returns true if the mapping of that address has the flag of /proc/self/smaps: "dd" excludes it
// from core dumps.
bool has_flag(const void* at, const std::string& flag) {
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0, end = 0;
        char dash = 0, access[8] = {};
        if (std::sscanf(line.c_str(), "%lx%c%lx %4s", &begin, &dash, &end, access) == 4 &&
            dash == '-')
            here =
                begin <= reinterpret_cast<uintptr_t>(at) && reinterpret_cast<uintptr_t>(at) < end;
        if (here && line.compare(0, 8, "VmFlags:") == 0)
            return line.find(" " + flag) != std::string::npos;
    }
    return false;
}

// Called while a fork holds every ForkMutex. Handlers that prepare a fork run from the newest to
// the oldest, so this one is registered before the library's: objects precede archives when linked.
std::atomic<void (*)()> during_a_fork{nullptr};
__attribute__((constructor(101))) void register_early() {
    (void)pthread_atfork(
        [] {
            if (void (*const call)() = during_a_fork) call();
        },
        nullptr, nullptr);
}

TEST(SecretMemory, IsZeroedPrivateAndOutOfCoreDumps) {
    std::vector<std::unique_ptr<SecretMemory>> all;
    std::vector<size_t> bytes;
    for (int round = 0; round < 3; ++round) {
        for (const size_t size : sizes)
            for (int i = 0; i < 90; ++i) {  // more than the cells of any slab
                all.push_back(std::make_unique<SecretMemory>());
                bytes.push_back(size);
                ASSERT_TRUE(all.back()->allocate(size));
                ASSERT_EQ(reinterpret_cast<uintptr_t>(all.back()->data()) % 64, 0u);
                ASSERT_TRUE(all_are(*all.back(), size, 0)) << size;
                std::memset(all.back()->data(), static_cast<int>(all.size() % 255 + 1), size);
            }
        for (size_t i = 0; i < all.size(); ++i)
            ASSERT_TRUE(all_are(*all[i], bytes[i], static_cast<uint8_t>((i + 1) % 255 + 1)));
        if (round == 0) {
            for (size_t i = 0; i < all.size(); i += 90) ASSERT_TRUE(has_flag(all[i]->data(), "dd"));
        }
        for (size_t i = 0; i < all.size();
             i += 2 - static_cast<size_t>(round) % 2) {  // holes, then all
            all[i]->reset();
            ASSERT_TRUE(all[i]->allocate(bytes[i]));
            ASSERT_TRUE(all_are(*all[i], bytes[i], 0));
        }
        all.clear(), bytes.clear();
    }
}

// Pages of its own, and slabs of size classes unused elsewhere here: others may date from a time
// when the limit was reached.
TEST(SecretMemory, IsLocked) {
    constexpr size_t bytes = size_t{1} << 20;
    void* const probe =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(probe, MAP_FAILED);
    const bool allowed = mlock(probe, bytes) == 0;
    (void)munmap(probe, bytes);
    if (!allowed) GTEST_SKIP() << "NOT RUN: the limit on locked memory is below 1 MiB";
    for (const size_t size : {size_t{3264}, size_t{7104}, size_t{20'000}})
        for (const auto after : {SecretMemory::AfterFork::copied, SecretMemory::AfterFork::wiped}) {
            SecretMemory memory;
            ASSERT_TRUE(memory.allocate(size, after));
            const auto* const data = static_cast<const uint8_t*>(memory.data());
            EXPECT_TRUE(has_flag(data, "lo") && has_flag(data + size - 1, "lo")) << size;
            EXPECT_TRUE(has_flag(data, "dd") && has_flag(data + size - 1, "dd")) << size;
        }
}

TEST(SecretMemory, IsZeroizedOnRelease) {
    SecretMemory neighbour, secret;  // keeps the slab
    ASSERT_TRUE(neighbour.allocate(1536) && secret.allocate(1536));
    std::memset(secret.data(), 0x77, 1536);
    const auto* data = static_cast<const volatile uint8_t*>(secret.data());
    secret.reset();
    for (size_t i = 0; i < 1536; ++i)
        ASSERT_TRUE(data[i] == 0 || i < sizeof(void*)) << i;  // the free list is stored there
}

TEST(SecretMemory, ThousandsUseFewMappingsAndReleaseThem) {
    const size_t before = mappings();
    {
        std::vector<std::unique_ptr<SecretMemory>> all(20000);
        for (auto& memory : all) {
            memory = std::make_unique<SecretMemory>();
            ASSERT_TRUE(memory->allocate(1536));
        }
        EXPECT_LT(mappings(), before + 600);
    }
    EXPECT_LT(mappings(), before + 20);
}

// Pages of its own begin at a page; a cell lies behind the head of its slab.
TEST(SecretMemory, MoreThanACellHoldsGetsPages) {
    for (const size_t size : {size_t{8193}, size_t{12000}, size_t{16384}, size_t{51328}}) {
        SecretMemory secret;
        ASSERT_TRUE(secret.allocate(size));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(secret.data()) % 4096, 0u) << size;
    }
}

TEST(SecretMemory, PagesAreReleased) {
    const size_t before = mappings();
    for (int i = 0; i < 500; ++i) {
        SecretMemory small, large;
        ASSERT_TRUE(small.allocate(9000, SecretMemory::AfterFork::wiped));
        ASSERT_TRUE(large.allocate(100000));
    }
    EXPECT_LT(mappings(), before + 20);
    std::ifstream memory("/proc/self/statm");
    size_t pages = 0, more = 0;
    memory >> pages;
    for (int i = 0; i < 500; ++i) {
        SecretMemory large;
        ASSERT_TRUE(large.allocate(1000000));
    }
    std::ifstream("/proc/self/statm") >> more;
    EXPECT_LT(more, pages + 10000);  // 500 of them would be 122,000 pages
}

TEST(SecretMemory, ThreadsNeverShareACell) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint8_t id = 1; id <= 4; ++id)
        threads.emplace_back([&wrong, id] {
            for (int i = 0; i < 20000; ++i) {
                SecretMemory secrets[3];
                for (SecretMemory& secret : secrets) {
                    if (!secret.allocate(320) || !all_are(secret, 320, 0)) ++wrong;
                    std::memset(secret.data(), id, 320);
                }
                for (const SecretMemory& secret : secrets) wrong += !all_are(secret, 320, id);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// A child must find the slabs consistent: none changes while a fork holds the locks.
TEST(SecretMemory, NoneIsAllocatedDuringAFork) {
    enum Stage { waiting, forking, asking, done };
    static std::atomic<int> stage{waiting};
    static std::atomic<int> seen{waiting};
    stage = seen = waiting;
    during_a_fork = [] {
        using Clock = std::chrono::steady_clock;
        stage = forking;
        while (stage == forking) std::this_thread::yield();
        const auto end = Clock::now() + std::chrono::milliseconds(200);
        while (stage != done && Clock::now() < end) std::this_thread::yield();
        seen = stage.load();
    };
    std::thread other([] {
        while (stage != forking) std::this_thread::yield();
        stage = asking;
        SecretMemory memory;
        EXPECT_TRUE(memory.allocate(320));
        stage = done;
    });
    const pid_t child = fork();
    if (child == 0) _exit(0);
    during_a_fork = nullptr;
    other.join();
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(seen, asking);
    EXPECT_EQ(stage, done);
}

TEST(SecretMemory, AForkedChildHasACopyAndContinues) {
    SecretMemory secret;
    ASSERT_TRUE(secret.allocate(1536));
    std::memset(secret.data(), 0x31, 1536);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) {
            SecretMemory other;
            (void)other.allocate(1536);
        }
    });
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            SecretMemory more;
            _exit(all_are(secret, 1536, 0x31) && more.allocate(1536) && more.data() != secret.data()
                      ? 0
                      : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
    }
    stop = true;
    busy.join();
}

TEST(SecretMemory, AForkedChildHasZerosInsteadOfSecrets) {
    for (const size_t size : sizes) {
        SecretMemory secret;
        ASSERT_TRUE(secret.allocate(size, SecretMemory::AfterFork::wiped));
        std::memset(secret.data(), 0x31, size);
        const pid_t child = fork();
        if (child == 0) _exit(all_are(secret, size, 0) ? 0 : 1);
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << size;
        EXPECT_TRUE(all_are(secret, size, 0x31));
    }
}

}  // namespace
