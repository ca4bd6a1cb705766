// Kernel launches: persistent kernels with one block on each multiprocessor, and stream-ordered
// scratch memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/scratch.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

// Returns the number of blocks for this many warps of work: at most one for each multiprocessor.
inline unsigned blocks_for(uint64_t warps_of_work, const Limits& limits) {
    const uint64_t wanted = (warps_of_work + tuning::warps - 1) / tuning::warps;
    return static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, limits.multiprocessors));
}

// Lets a kernel have more shared memory than by default.
template <class Job>
warpseal_status allow_shared_bytes(void (*kernel)(Job), size_t shared_bytes) {
    if (shared_bytes <= 48 * 1024) return WARPSEAL_OK;
    return check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared_bytes)));
}

// Loads a kernel for launch_loaded. CUDA loads a kernel at its first use, and may lack the memory.
template <class Job>
warpseal_status load_kernel(void (*kernel)(Job), size_t shared_bytes) {
    cudaFuncAttributes attributes;
    const warpseal_status status =
        check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
    return status == WARPSEAL_OK ? allow_shared_bytes(kernel, shared_bytes) : status;
}

// Launches a kernel that may have these bytes of shared memory.
template <class Job>
warpseal_status launch_loaded(void (*kernel)(Job), unsigned blocks, size_t shared_bytes,
                              const Job& job, cudaStream_t stream,
                              unsigned threads = tuning::threads) {
    static_assert(sizeof job <= job_bytes_limit);
    void* arguments[] = {const_cast<Job*>(&job)};
    const void* function = reinterpret_cast<const void*>(kernel);
    const warpseal_status status = check(
        cudaLaunchKernel(function, dim3(blocks), dim3(threads), arguments, shared_bytes, stream));
    return status == WARPSEAL_OK ? record_launch({function, sizeof job, shared_bytes, threads})
                                 : status;
}

// Launches `kernel` with `threads` threads a block and `job` by value. An all-zero job must be one
// without work: see LaunchRecord.
template <class Job>
warpseal_status launch(void (*kernel)(Job), unsigned blocks, size_t shared_bytes, const Job& job,
                       cudaStream_t stream, unsigned threads = tuning::threads) {
    const warpseal_status status = allow_shared_bytes(kernel, shared_bytes);
    return status == WARPSEAL_OK ? launch_loaded(kernel, blocks, shared_bytes, job, stream, threads)
                                 : status;
}

#ifdef __CUDACC__

// Index of the warp's first item. Warps of one block take distant items, so that a small number of
// items still spreads over all multiprocessors.
__device__ __forceinline__ uint64_t first_item() {
    return uint64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x;
}
// Warps of one block take neighbouring items if there are enough for all blocks: their text then
// lies in few pages, whose translations the multiprocessor's TLB holds.
__device__ __forceinline__ uint64_t first_neighbour(uint64_t items) {
    return items < uint64_t{gridDim.x} * tuning::warps
               ? first_item()
               : uint64_t{blockIdx.x} * tuning::warps + threadIdx.x / 32;
}
__device__ __forceinline__ uint64_t item_step() { return uint64_t{gridDim.x} * tuning::warps; }

#endif

// Takes scratch from the workspace or allocates it, calls `work(scratch)` to queue kernels, and
// zeroizes the scratch afterwards. All of it can be captured in a graph.
// Returns WARPSEAL_OUT_OF_MEMORY, and queues nothing, if the workspace is too small.
template <class Work>
warpseal_status with_scratch(const Workspace& workspace, size_t bytes, cudaStream_t stream,
                             const Work& work) {
    uint8_t* scratch = workspace.memory;
    const bool own = scratch == nullptr;
    if (!own && bytes > workspace.bytes) return WARPSEAL_OUT_OF_MEMORY;
    warpseal_status status = own ? acquire_scratch(bytes, stream, &scratch) : WARPSEAL_OK;
    if (status != WARPSEAL_OK) return status;
    status = work(scratch);
    const warpseal_status released = own      ? release_scratch(scratch, bytes, stream)
                                     : lost() ? WARPSEAL_NO_DEVICE
                                              : check(cudaMemsetAsync(scratch, 0, bytes, stream));
    return status != WARPSEAL_OK ? status : released;
}
template <class Work>
warpseal_status with_scratch(size_t bytes, cudaStream_t stream, const Work& work) {
    return with_scratch(Workspace{}, bytes, stream, work);
}

}  // namespace warpseal::cuda
