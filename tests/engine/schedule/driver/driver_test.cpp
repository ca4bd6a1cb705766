// A fork while another thread loads the driver's library. A child of an unfinished load could load
// no library itself.
#include <gtest/gtest.h>
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
    GpuBackend backend{};
    backend.device_count = count_none;
    backend.lost = never;
    GpuNotice notice;
    Gpu gpu(&backend, 0, notice);
    warpseal_status opened = WARPSEAL_OK;
    std::thread first_use([&] { opened = gpu.open(); });
    while (driver_state == absent && state_at_count < 0) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) _exit(driver_state == loaded ? 0 : 1);
    int status = -1;
    const pid_t ended = waitpid(child, &status, 0);
    first_use.join();
    EXPECT_EQ(opened, WARPSEAL_NO_DEVICE);
    EXPECT_EQ(state_at_count, loaded) << "the backend was called first";
    ASSERT_EQ(ended, child);
    EXPECT_EQ(status, 0) << "the child was forked before the driver was loaded";
}

}  // namespace
