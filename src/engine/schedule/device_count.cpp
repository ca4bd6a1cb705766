#include "engine/schedule/device_count.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "platform/forks.h"

namespace warpseal {
namespace {

// Only the loading holds the mutex. The driver's start takes longer, and no fork waits for it.
struct DriverLibrary {
    ForkMutex mutex;
    std::atomic<bool> tried{false};

    void load() {
        if (tried.load(std::memory_order_acquire)) return;
        const std::lock_guard lock(mutex);
        if (tried.load(std::memory_order_relaxed)) return;
        // Never unloaded, as the CUDA runtime keeps it too.
        (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        tried.store(true, std::memory_order_release);
    }
};
WARPSEAL_AT_LOAD AtLoad<DriverLibrary> driver_library;

}  // namespace

warpseal_status count_devices(const GpuBackend& backend, int* count) {
    driver_library->load();
    return backend.device_count(count);
}

}  // namespace warpseal
