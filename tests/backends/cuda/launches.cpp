// Launch tracking: see launches.h. CMakeLists.txt wraps the runtime functions by which objects
// register, load and launch kernels.
#include "launches.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

namespace {

// A kernel in several objects has one function in each, and one name.
struct Seen {
    std::mutex mutex;
    std::map<const void*, std::string> names;
    std::map<std::string, bool> launched;
};
Seen& seen() {
    static auto* all =
        new Seen;  // objects register kernels before this file's own objects are constructed
    return *all;
}

std::atomic<int> loads_until_refusal{0};

std::string demangled(const char* name) {
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    const std::string out = status == 0 ? text : name;
    std::free(text);
    return out;
}

}  // namespace

extern "C" {
void __real___cudaRegisterFunction(void** binary, const char* function, char* device_function,
                                   const char* name, int thread_limit, uint3* thread, uint3* block,
                                   dim3* block_size, dim3* grid_size, int* warp_size);
void __wrap___cudaRegisterFunction(void** binary, const char* function, char* device_function,
                                   const char* name, int thread_limit, uint3* thread, uint3* block,
                                   dim3* block_size, dim3* grid_size, int* warp_size) {
    {
        const std::lock_guard lock(seen().mutex);
        const std::string& kernel = seen().names[function] = demangled(name);
        seen().launched[kernel] = false;
    }
    __real___cudaRegisterFunction(binary, function, device_function, name, thread_limit, thread,
                                  block, block_size, grid_size, warp_size);
}

cudaError_t __real_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream);
cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
    {
        const std::lock_guard lock(seen().mutex);
        const auto found = seen().names.find(function);
        if (found != seen().names.end()) seen().launched[found->second] = true;
    }
    return __real_cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __real_cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function);
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
    if (loads_until_refusal > 0 && --loads_until_refusal == 0) return cudaErrorMemoryAllocation;
    return __real_cudaFuncGetAttributes(out, function);
}
}

namespace gpu {

std::vector<Kernel> kernels() {
    const std::lock_guard lock(seen().mutex);
    std::vector<Kernel> all;
    for (const auto& [name, launched] : seen().launched) all.push_back({name, launched});
    return all;
}

bool refuse_load(int n) { return loads_until_refusal.exchange(n) == 0; }

void zeroize_all_launches() {
    const std::lock_guard lock(seen().mutex);
    for (auto& [name, launched] : seen().launched) launched = false;
}

}  // namespace gpu
