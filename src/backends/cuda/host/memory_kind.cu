// Memory kinds: see memory_kind.h.
#include "backends/cuda/host/memory_kind.h"

#include <cuda.h>

#include <atomic>

#include "backends/cuda/host/device.h"

namespace warpseal::cuda {

namespace {

using PointerAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);

// Returns the driver's cuPointerGetAttribute, for which the runtime has no equivalent. Null if the
// driver lacks it.
PointerAttribute pointer_attribute() {
    static std::atomic<PointerAttribute> found{nullptr};
    if (PointerAttribute function = found) return function;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (check(cudaGetDriverEntryPointByVersion("cuPointerGetAttribute", &function, 12000,
                                               cudaEnableDefault, &result)) != WARPSEAL_OK ||
        result != cudaDriverEntryPointSuccess)
        return nullptr;
    found = reinterpret_cast<PointerAttribute>(function);
    return found;
}

// Returns the end of the pinned range that contains `address`, or 0 if the address is not pinned.
uintptr_t pinned_until(uintptr_t address) {
    cudaPointerAttributes attributes{};
    if (lost() ||
        check(cudaPointerGetAttributes(&attributes, reinterpret_cast<void*>(address))) !=
            WARPSEAL_OK ||
        attributes.type != cudaMemoryTypeHost)
        return 0;
    const PointerAttribute query = pointer_attribute();
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    if (query == nullptr ||
        query(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        query(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS)
        return 0;
    return address - begin < bytes ? static_cast<uintptr_t>(begin) + bytes : 0;
}

}  // namespace

// Checks range by range: pageable memory may lie between two pinned ranges.
bool is_pinned(const void* begin, size_t bytes) {
    uintptr_t at = reinterpret_cast<uintptr_t>(begin);
    const uintptr_t end = at + bytes;
    if (bytes == 0 || end < at) return false;
    while (at < end) {
        at = pinned_until(at);
        if (at == 0) return false;
    }
    return true;
}

warpseal_status device_of(const void* memory, int* device) {
    cudaPointerAttributes attributes{};
    warpseal_status status = enter();
    if (status == WARPSEAL_OK) status = check(cudaPointerGetAttributes(&attributes, memory));
    if (status != WARPSEAL_OK) return status;
    *device = attributes.device;
    const bool there =
        attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    return there ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT;
}

}  // namespace warpseal::cuda
