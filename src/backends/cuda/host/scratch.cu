// Stream-ordered scratch memory: see scratch.h.
#include "backends/cuda/host/scratch.h"

#include <map>
#include <mutex>
#include <new>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

namespace {

// Returns the pool of the current device; created on first use. Pools are never destroyed: CUDA may
// be gone before static objects are destroyed. The first use may be under stream capture.
warpseal_status pool_of_current_device(cudaMemPool_t& out) try {
    static std::mutex mutex;
    static auto* pools = new std::map<int, cudaMemPool_t>;
    int device = 0;
    warpseal_status status = check(cudaGetDevice(&device));
    if (status != WARPSEAL_OK) return status;
    const std::lock_guard lock(mutex);
    cudaMemPool_t& known = (*pools)[device];
    if (known == nullptr) {
        cudaMemPoolProps wanted{};
        wanted.allocType = cudaMemAllocationTypePinned;
        wanted.location.type = cudaMemLocationTypeDevice;
        wanted.location.id = device;
        cudaMemPool_t made = nullptr;
        uint64_t kept = tuning::retained_scratch_bytes;
        const RelaxedCaptureMode relaxed;
        status = relaxed.status();
        if (status == WARPSEAL_OK) status = check(cudaMemPoolCreate(&made, &wanted));
        if (status != WARPSEAL_OK) return status;
        status = check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept));
        if (status != WARPSEAL_OK) {
            if (!lost()) check(cudaMemPoolDestroy(made));
            return status;
        }
        known = made;
    }
    out = known;
    return status;
} catch (const std::bad_alloc&) {
    return WARPSEAL_OUT_OF_MEMORY;
}

}  // namespace

warpseal_status acquire_scratch(size_t bytes, cudaStream_t stream, uint8_t** out) {
    *out = nullptr;
    cudaMemPool_t pool = nullptr;
    void* memory = nullptr;
    warpseal_status status = pool_of_current_device(pool);
    // The end of the first use of a pool may have found that the GPU is lost.
    if (status == WARPSEAL_OK)
        status = lost() ? WARPSEAL_NO_DEVICE
                        : check(cudaMallocFromPoolAsync(&memory, bytes, pool, stream));
    *out = static_cast<uint8_t*>(memory);
    return status;
}

warpseal_status release_scratch(uint8_t* work, size_t bytes, cudaStream_t stream) {
    if (lost()) return WARPSEAL_NO_DEVICE;
    const warpseal_status wiped = check(cudaMemsetAsync(work, 0, bytes, stream));
    if (lost()) return wiped;
    const warpseal_status freed = check(cudaFreeAsync(work, stream));
    return wiped != WARPSEAL_OK ? wiped : freed;
}

}  // namespace warpseal::cuda
