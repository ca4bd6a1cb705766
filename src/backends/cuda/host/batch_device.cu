// The scratch of batches in device memory, and the IVs that a GPU draws for them.
#include "backends/cuda/host/batch_device.h"

#include "backends/batch_message.h"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/gcm_plan.h"

namespace warpseal::cuda {
namespace {

struct DrawJob {
    IvCounter* counter;
    warpseal_scattered_batch messages;
};

// Each block takes numbers for its messages from the counter, so the order of blocks does not
// matter.
__global__ void __launch_bounds__(tuning::threads)
    draw_ivs_kernel(const __grid_constant__ DrawJob job) {
    __shared__ unsigned long long first;
    const uint64_t count = job.messages.batch.message_count;
    for (uint64_t begin = uint64_t{blockIdx.x} * blockDim.x; begin < count;
         begin += uint64_t{gridDim.x} * blockDim.x) {
        const uint64_t left = count - begin, some = left < blockDim.x ? left : blockDim.x;
        __syncthreads();
        if (threadIdx.x == 0)
            first = atomicAdd(reinterpret_cast<unsigned long long*>(&job.counter->next),
                              static_cast<unsigned long long>(some));
        __syncthreads();
        if (threadIdx.x >= some) continue;
        const uint64_t i = begin + threadIdx.x;
        const BatchMessage m = message_of(job.messages, i);
        if (within_extents(job.messages, i, m))
            write_drawn_iv(job.counter->start, first + threadIdx.x, const_cast<uint8_t*>(m.iv));
    }
}

}  // namespace

warpseal_status batch_workspace(int device, warpseal_mode mode,
                                const warpseal_scattered_batch& batch, size_t* bytes) {
    *bytes = 0;
    const CurrentDevice current(device);
    Limits limits;
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK) status = current_limits(limits);
    if (status == WARPSEAL_OK && mode == WARPSEAL_GCM) *bytes = gcm_scratch_bytes(batch, limits);
    return status;
}

warpseal_status draw_ivs(int device, void* counter, const warpseal_scattered_batch& batch,
                         void* stream) {
    const CurrentDevice current(device);
    Limits limits;
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK) status = current_limits(limits);
    if (status != WARPSEAL_OK || batch.batch.message_count == 0) return status;
    const DrawJob job{static_cast<IvCounter*>(counter), batch};
    return launch(draw_ivs_kernel, blocks_for(batch.batch.message_count / 32 + 1, limits), 0, job,
                  static_cast<cudaStream_t>(stream));
}

}  // namespace warpseal::cuda
