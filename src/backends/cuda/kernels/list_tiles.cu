// Lists the tiles of a batch in GCM on the device: one kernel counts blocks, one makes the list.
#include "backends/cuda/kernels/list_tiles.h"

#include "backends/cuda/host/launch.cuh"

namespace warpseal::cuda {
namespace {

struct ListJob {
    warpseal_scattered_batch messages;
    TileList* list;
    PartialBlock partial;
    TileSize size;
};

constexpr uint32_t all_lanes = 0xffffffffu;

// Blocks of message i that are divided; 0 if it is refused or there is none.
__device__ uint64_t blocks_of(const ListJob& job, uint64_t i) {
    if (i >= job.messages.batch.message_count) return 0;
    const BatchMessage m = message_of(job.messages, i);
    if (refusal_of(job.messages, i, m, gcm_limits()) != WARPSEAL_OK) return 0;
    return m.bytes / 16 + (job.partial == PartialBlock::included && m.bytes % 16 != 0);
}

// Calls visit(i) with a message for each lane, in all lanes of a warp together.
template <class Visit>
__device__ void each_row(uint64_t message_count, const Visit& visit) {
    for (uint64_t row = 32 * first_item(); row < message_count; row += 32 * item_step())
        visit(row + threadIdx.x % 32);
}

__global__ void __launch_bounds__(tuning::threads)
    count_blocks_kernel(const __grid_constant__ ListJob job) {
    each_row(job.messages.batch.message_count, [&](uint64_t i) {
        unsigned long long blocks = blocks_of(job, i);
        for (int step = 16; step > 0; step /= 2)
            blocks += __shfl_down_sync(all_lanes, blocks, step);
        if (threadIdx.x % 32 == 0) atomicAdd(&job.list->blocks, blocks);
    });
}

// Appends the messages of several tiles to the list. One addition reserves entries and tiles, so
// that the tiles of later entries are higher.
__global__ void __launch_bounds__(tuning::threads)
    list_long_messages_kernel(const __grid_constant__ ListJob job) {
    const uint64_t message_count = job.messages.batch.message_count;
    if (message_count == 0) return;
    TileList& list = *job.list;
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t length = tile_blocks_for(job.size, list.blocks);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        list.tile_blocks = length;
        list.message_count = message_count;
    }
    each_row(message_count, [&](uint64_t i) {
        const uint64_t blocks = blocks_of(job, i);
        const uint64_t tiles = blocks > length ? (blocks + length - 1) / length : 0;
        unsigned long long sum = tiles != 0 ? uint64_t{1} << 32 | tiles : 0;
        const unsigned long long own = sum;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned long long other = __shfl_up_sync(all_lanes, sum, step);
            if (lane >= static_cast<uint32_t>(step)) sum += other;
        }
        unsigned long long before = 0;
        if (lane == 31 && sum != 0) before = atomicAdd(&list.reserved, sum);
        before = __shfl_sync(all_lanes, before, 31) + sum - own;
        if (tiles != 0) list.entries()[before >> 32] = {before & 0xffffffffu, i};
    });
}

}  // namespace

warpseal_status list_tiles(const warpseal_scattered_batch& messages, PartialBlock partial,
                           const TileSize& size, TileList* list, const Limits& limits,
                           cudaStream_t stream) {
    const ListJob job{messages, list, partial, size};
    const unsigned blocks = blocks_for(messages.batch.message_count / 32 + 1, limits);
    warpseal_status status = check(cudaMemsetAsync(list, 0, sizeof *list, stream));
    if (status == WARPSEAL_OK) status = launch(count_blocks_kernel, blocks, 0, job, stream);
    return status == WARPSEAL_OK ? launch(list_long_messages_kernel, blocks, 0, job, stream)
                                 : status;
}

}  // namespace warpseal::cuda
