// Allocation tracking: see allocations.h. CMakeLists.txt wraps the runtime functions that allocate
// and free memory.
#include "allocations.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace {

struct Watch {
    std::mutex mutex;
    bool on = false;
    std::map<void*, size_t> held;
    gpu::Leftovers seen;
};
Watch& watch() {
    static auto* one = new Watch;
    return *one;
}

std::atomic<bool> refuse_next{false};

cudaError_t taken(cudaError_t error, void* memory, size_t bytes) {
    const std::lock_guard lock(watch().mutex);
    if (error == cudaSuccess) watch().held[memory] = bytes;
    return error;
}

bool holds_something(void* memory, size_t bytes) {
    std::vector<unsigned char> copy(bytes);
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(copy.data(), memory, bytes, cudaMemcpyDefault) != cudaSuccess)
        return true;
    return std::any_of(copy.begin(), copy.end(), [](unsigned char byte) { return byte != 0; });
}

void given_back(void* memory) {
    const std::lock_guard lock(watch().mutex);
    const auto found = watch().held.find(memory);
    if (found == watch().held.end()) return;
    watch().seen.freed += watch().on;
    watch().seen.freed_unwiped += watch().on && holds_something(memory, found->second);
    watch().held.erase(found);
}

}  // namespace

extern "C" {
cudaError_t __real_cudaMalloc(void** out, size_t bytes);
cudaError_t __real_cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream);
cudaError_t __real_cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream);
cudaError_t __real_cudaHostAlloc(void** out, size_t bytes, unsigned flags);
cudaError_t __real_cudaFree(void* memory);
cudaError_t __real_cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t __real_cudaFreeHost(void* memory);

cudaError_t __wrap_cudaMalloc(void** out, size_t bytes) {
    const cudaError_t error = __real_cudaMalloc(out, bytes);
    return taken(error, *out, bytes);
}
cudaError_t __wrap_cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
    const cudaError_t error = __real_cudaMallocAsync(out, bytes, stream);
    return taken(error, *out, bytes);
}
cudaError_t __wrap_cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
    if (refuse_next.exchange(false)) return cudaErrorMemoryAllocation;
    const cudaError_t error = __real_cudaMallocFromPoolAsync(out, bytes, pool, stream);
    return taken(error, *out, bytes);
}
cudaError_t __wrap_cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
    const cudaError_t error = __real_cudaHostAlloc(out, bytes, flags);
    return taken(error, *out, bytes);
}
cudaError_t __wrap_cudaFree(void* memory) { return given_back(memory), __real_cudaFree(memory); }
cudaError_t __wrap_cudaFreeAsync(void* memory, cudaStream_t stream) {
    return given_back(memory), __real_cudaFreeAsync(memory, stream);
}
cudaError_t __wrap_cudaFreeHost(void* memory) {
    return given_back(memory), __real_cudaFreeHost(memory);
}
}

namespace gpu {

void watch_allocations() {
    const std::lock_guard lock(watch().mutex);
    watch().on = true;
    watch().seen = {};
}

Leftovers leftovers() {
    const std::lock_guard lock(watch().mutex);
    watch().on = false;
    for (const auto& [memory, bytes] : watch().held) {
        ++watch().seen.kept;
        watch().seen.kept_not_zeroized += holds_something(memory, bytes);
    }
    return watch().seen;
}

void refuse_next_scratch() { refuse_next = true; }

bool refused_scratch() { return !refuse_next.exchange(false); }

}  // namespace gpu
