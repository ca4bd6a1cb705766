// Queries a GPU's clocks from the CUDA driver directly, because the library does not need them, and
// measures a core's, because the kernel does not know it in all virtual machines.
#include "bench/report/clocks.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

namespace warpseal::bench {
namespace {

// CUdevice_attribute values of the CUDA driver API.
constexpr int clock_kilohertz = 13, memory_kilohertz = 36, memory_bits = 37;

template <class Function>
Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::optional<GpuClocks> gpu_clocks(size_t index) {
    struct Close {
        void operator()(void* library) const { dlclose(library); }
    };
    const std::unique_ptr<void, Close> driver(dlopen("libcuda.so.1", RTLD_NOW));
    if (!driver) return std::nullopt;
    const auto init = find<int(unsigned)>(driver.get(), "cuInit");
    const auto get = find<int(int*, int)>(driver.get(), "cuDeviceGet");
    const auto attribute = find<int(int*, int, int)>(driver.get(), "cuDeviceGetAttribute");
    int device = 0, clock = 0, memory_clock = 0, width = 0;
    if (!init || !get || !attribute || init(0) != 0 || get(&device, static_cast<int>(index)) != 0)
        return std::nullopt;
    if (attribute(&clock, clock_kilohertz, device) != 0 ||
        attribute(&memory_clock, memory_kilohertz, device) != 0 ||
        attribute(&width, memory_bits, device) != 0)
        return std::nullopt;
    // The memory transfers twice per clock.
    return GpuClocks{
        static_cast<uint32_t>(clock / 1000),
        uint64_t{2000} * static_cast<uint64_t>(memory_clock) * static_cast<uint64_t>(width / 8)};
}

std::optional<double> core_gigahertz() {
#ifdef __x86_64__
    // A chain of multiplications, each of 3 cycles on all x86-64 processors since 2008.
    constexpr int windows = 50, multiplications = 100'000, cycles_each = 3;
    double shortest = std::numeric_limits<double>::max();
    for (int window = 0; window < windows; ++window) {
        const auto begin = std::chrono::steady_clock::now();
        uint64_t product = 3;
        for (int i = 0; i < multiplications; ++i) {
            product *= product;
            asm volatile("" : "+r"(product));
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        shortest = std::min(shortest, took.count());
    }
    return double(multiplications) * cycles_each / shortest / 1e9;
#else
    return std::nullopt;
#endif
}

}  // namespace warpseal::bench
