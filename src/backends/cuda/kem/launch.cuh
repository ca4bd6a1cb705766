// Launches of kernels with a warp for each item, or for each 32.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/host/device.h"

namespace warpseal::cuda {

// Launches `kernel` with at least `warps` warps in blocks of `threads` threads. `rows` is the
// second dimension of the grid. The job holds no secrets: the driver keeps copies of launch
// parameters.
template <class Job>
warpseal_status launch_warps(void (*kernel)(Job), uint64_t warps, int shared_bytes_of_warp,
                             unsigned threads, const Job& job, cudaStream_t stream,
                             unsigned rows = 1) {
    const uint64_t blocks = (warps + threads / 32 - 1) / (threads / 32);
    // The keys of so many items would be terabytes.
    if (blocks > INT32_MAX) return WARPSEAL_LIMIT_EXCEEDED;
    const size_t shared_bytes = size_t{threads} / 32 * static_cast<size_t>(shared_bytes_of_warp);
    if (shared_bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
        if (error != cudaSuccess) return check(error);
    }
    void* arguments[] = {const_cast<Job*>(&job)};
    return check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                  dim3(static_cast<unsigned>(blocks), rows), dim3(threads),
                                  arguments, shared_bytes, stream));
}

}  // namespace warpseal::cuda
