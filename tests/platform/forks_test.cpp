// A fork waits for every ForkMutex, so that no child has one that a thread of its parent holds.
#include "platform/forks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace {

using warpseal::ForkMutex;

int status_of_child(pid_t child) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkMutexes, AForkWaitsForTheirHolders) {
    ForkMutex mutex;
    std::atomic<bool> held{false}, consistent{true};
    std::thread holder([&] {
        const std::lock_guard lock(mutex);
        consistent = false;
        held = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        consistent = true;
    });
    while (!held) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const std::lock_guard lock(mutex);
        _exit(consistent ? 7 : 1);
    }
    EXPECT_EQ(status_of_child(child), 7);
    holder.join();
}

TEST(ForkMutexes, OneThatIsGoneIsForgotten) {
    ForkMutex last;
    for (const bool newest_first : {false, true}) {
        auto one = std::make_unique<ForkMutex>(), two = std::make_unique<ForkMutex>();
        (newest_first ? two : one).reset();
        (newest_first ? one : two).reset();
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            const std::lock_guard lock(last);
            _exit(7);
        }
        EXPECT_EQ(status_of_child(child), 7);
    }
}

TEST(ForkMutexes, ForksAreCountedInTheChild) {
    const unsigned long before = warpseal::forks_so_far();
    const pid_t child = fork();
    if (child == 0) _exit(warpseal::forks_so_far() == before + 1 ? 7 : 1);
    EXPECT_EQ(status_of_child(child), 7);
    EXPECT_EQ(warpseal::forks_so_far(), before);
}

}  // namespace
