// How kernels start: one block per multiprocessor, with the table layout that the GPU's shared memory holds.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "backends/cuda/device.h"
#include "backends/cuda/tuning.h"

namespace warpseal::cuda {

// Blocks for so many warps of work: as many as there are multiprocessors, or fewer.
inline unsigned blocks_for(uint64_t warps_of_work, const Limits& limits) {
    const uint64_t wanted = (warps_of_work + tuning::warps - 1) / tuning::warps;
    return static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, limits.multiprocessors));
}

// Starts `kernel` (of that many threads a block) with `job` by value.
template <class Job>
warpseal_status launch(void (*kernel)(Job), unsigned blocks, size_t shared_bytes, const Job& job, cudaStream_t stream) {
    if (shared_bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
        if (error != cudaSuccess) return check(error);
    }
    void* arguments[] = {const_cast<Job*>(&job)};
    return check(
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(tuning::threads), arguments, shared_bytes, stream));
}

}  // namespace warpseal::cuda
