// Tiles of a batch in GCM whose lengths only the device knows. The device counts them before the
// work, so that all tiles but the last of each message have one length.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/batch_message.h"
#include "backends/cuda/kernels/tiles.cuh"
#include "modes/gcm.h"

namespace warpseal::cuda {

// The number of blocks of a message within these limits is less than 2^63.
WARPSEAL_INLINE MessageLimits gcm_limits() {
    return {modes::gcm_max_text_bytes, modes::gcm_max_aad_bytes};
}

inline size_t device_tiles_bytes(uint64_t message_count) {
    return sizeof(DeviceTiles) + sizeof(DeviceTiles::Long) * message_count;
}

// Counts the tiles of a batch into `tiles`, device_tiles_bytes() of scratch.
// min_blocks: of a tile.
warpseal_status count_tiles(const warpseal_scattered_batch& messages, uint64_t min_blocks,
                            DeviceTiles* tiles, const Limits& limits, cudaStream_t stream);

}  // namespace warpseal::cuda
