// A fork while another thread loads the driver's library. A child of an unfinished load could load
// no library itself.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "engine/schedule/gpus.h"

enum DriverState : int { absent, loading, loaded };
extern "C" {
// Changed by driver.c.
[[gnu::visibility("default")]] std::atomic<int> driver_state{absent};
}

namespace {

using namespace warpseal;

std::atomic<int> state_at_count{-1};

warpseal_status count_none(int* count) {
    state_at_count = driver_state.load();
    *count = 0;
    return WARPSEAL_OK;
}

bool never() { return false; }

TEST(Driver, AForkWaitsUntilItIsLoaded) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    GpuBackend backend{};
    backend.device_count = count_none;
    backend.lost = never;
    GpuNotice notice;
    Gpu gpu(&backend, 0, notice);
    warpseal_status opened = WARPSEAL_OK;
    std::thread first_use([&] { opened = gpu.open(); });
    while (driver_state == absent && state_at_count < 0) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        const int state = driver_state;
        (void)!write(ends[1], &state, sizeof state);
        raise(SIGKILL);  // ThreadSanitizer would report the parent's thread at an exit
    }
    close(ends[1]);
    int state_in_child = -1;
    const ssize_t bytes = read(ends[0], &state_in_child, sizeof state_in_child);
    const pid_t ended = waitpid(child, nullptr, 0);
    first_use.join();
    close(ends[0]);
    EXPECT_EQ(opened, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(state_at_count, loaded) << "the backend was called first";
    ASSERT_EQ(ended, child);
    ASSERT_EQ(bytes, static_cast<ssize_t>(sizeof state_in_child));
    EXPECT_EQ(state_in_child, loaded) << "the child was forked before the driver was loaded";
}

}  // namespace
