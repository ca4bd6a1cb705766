// Counts the tiles of a batch in GCM on the device.
#include "backends/cuda/kernels/gcm_tiles.h"

#include "backends/cuda/device/access.cuh"
#include "backends/cuda/host/launch.cuh"

namespace warpseal::cuda {
namespace {

struct CountJob {
    warpseal_scattered_batch messages;
    DeviceTiles* tiles;
    uint64_t min_blocks, wanted;  // blocks of a tile; tiles of all messages
};

constexpr uint32_t all_lanes = 0xffffffffu;

// Blocks of AAD and text of message i; 0 if it is refused or there is none.
__device__ uint64_t blocks_of(const warpseal_scattered_batch& messages, uint64_t i) {
    if (i >= messages.batch.message_count) return 0;
    const BatchMessage m = message_of(messages, i);
    if (refusal_of(messages, i, m, gcm_limits()) != WARPSEAL_OK) return 0;
    return (m.aad_bytes + 15) / 16 + (m.bytes + 15) / 16;
}

// Calls visit(i) with a message for each lane, in all lanes of a warp together.
template <class Visit>
__device__ void each_row(uint64_t message_count, const Visit& visit) {
    for (uint64_t row = 32 * first_item(); row < message_count; row += 32 * item_step())
        visit(row + threadIdx.x % 32);
}

__global__ void __launch_bounds__(tuning::threads)
    count_blocks_kernel(const __grid_constant__ CountJob job) {
    each_row(job.messages.batch.message_count, [&](uint64_t i) {
        unsigned long long blocks = blocks_of(job.messages, i);
        for (int step = 16; step > 0; step /= 2)
            blocks += __shfl_down_sync(all_lanes, blocks, step);
        if (threadIdx.x % 32 == 0) atomicAdd(&job.tiles->blocks, blocks);
    });
}

// Appends the messages of several tiles to the list. One addition reserves entries and items, so
// that the items of later entries are higher.
__global__ void __launch_bounds__(tuning::threads)
    list_long_messages_kernel(const __grid_constant__ CountJob job) {
    const uint32_t lane = threadIdx.x % 32;
    if (job.messages.batch.message_count == 0) return;
    const uint64_t even = job.tiles->blocks / job.wanted / 32 * 32 + 32,
                   length = even > job.min_blocks ? even : job.min_blocks;
    if (blockIdx.x == 0 && threadIdx.x == 0) job.tiles->tile_blocks = length;
    each_row(job.messages.batch.message_count, [&](uint64_t i) {
        const uint64_t blocks = blocks_of(job.messages, i);
        const uint64_t further = blocks > length ? (blocks - 1) / length : 0;
        // The high half counts entries, the low half items.
        unsigned long long before = further != 0 ? uint64_t{1} << 32 | further : 0;
        const unsigned long long own = before;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned long long other = __shfl_up_sync(all_lanes, before, step);
            if (lane >= static_cast<uint32_t>(step)) before += other;
        }
        unsigned long long first = 0;
        if (lane == 31 && before != 0) first = atomicAdd(&job.tiles->taken, before);
        first = __shfl_sync(all_lanes, first, 31) + before - own;
        if (further != 0) job.tiles->list()[first >> 32] = {first & 0xffffffffu, i};
    });
}

}  // namespace

warpseal_status count_tiles(const warpseal_scattered_batch& messages, uint64_t min_blocks,
                            DeviceTiles* tiles, const Limits& limits, cudaStream_t stream) {
    const CountJob job{messages, tiles, min_blocks,
                       tuning::counted_tiles_per_warp * limits.multiprocessors * tuning::warps};
    const unsigned blocks = blocks_for(messages.batch.message_count / 32 + 1, limits);
    const warpseal_status status = launch(count_blocks_kernel, blocks, 0, job, stream);
    return status == WARPSEAL_OK ? launch(list_long_messages_kernel, blocks, 0, job, stream)
                                 : status;
}

}  // namespace warpseal::cuda
