// Moves secret keys between the slots of an ephemeral key pool and a contiguous batch, and zeroizes
// them, with one warp for each key.
#include "backends/cuda/kem/pool_transfer.h"

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {
namespace {

struct PoolTransferJob {
    PoolTransfer what;
    uint4* slots;
    uint4* items;
    uint64_t units;  // 16-byte units of an item
    const uint32_t* numbers;
    uint64_t count;
};

__global__ void __launch_bounds__(tuning::threads) move_keys(const PoolTransferJob job) {
    const uint4 zero = make_uint4(0, 0, 0, 0);
    for (uint64_t i = first_item(); i < job.count; i += item_step()) {
        const uint64_t number = job.numbers == nullptr ? i : job.numbers[i];
        const bool absent = number == no_pool_slot;
        uint4* const slot = job.slots + number * job.units;
        uint4* const item = job.items + i * job.units;
        for (uint64_t unit = threadIdx.x % 32; unit < job.units; unit += 32) {
            if (job.what == PoolTransfer::get) item[unit] = absent ? zero : slot[unit];
            if (job.what == PoolTransfer::put && !absent) slot[unit] = item[unit];
            if (job.what == PoolTransfer::put) item[unit] = zero;
            if (job.what == PoolTransfer::wipe && !absent) slot[unit] = zero;
        }
    }
}

}  // namespace

warpseal_status pool_transfer(int device, PoolTransfer what, void* slots, void* items,
                              size_t stride, const uint32_t* numbers, uint64_t count,
                              void* stream) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK || count == 0) return current.status();
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    const PoolTransferJob job{what,
                              static_cast<uint4*>(slots),
                              static_cast<uint4*>(items),
                              stride / sizeof(uint4),
                              numbers,
                              count};
    return launch(move_keys, blocks_for(count, limits), 0, job, static_cast<cudaStream_t>(stream));
}

}  // namespace warpseal::cuda
