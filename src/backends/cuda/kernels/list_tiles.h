// Lists the tiles of a batch in GCM on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/batch_message.h"
#include "backends/cuda/host/limits.h"
#include "backends/cuda/kernels/tile_list.h"
#include "modes/gcm.h"

namespace warpseal::cuda {

// The number of blocks of a message within these limits is less than 2^63.
WARPSEAL_INLINE MessageLimits gcm_limits() {
    return {modes::gcm_max_text_bytes, modes::gcm_max_aad_bytes};
}

// Says if a partial last block counts as a block of its text.
enum class PartialBlock { included, excluded };

// Lists the tiles of a batch in GCM, in tile_list_bytes() of scratch. A refused message has none.
warpseal_status list_tiles(const warpseal_scattered_batch& messages, PartialBlock partial,
                           const TileSize& size, TileList* list, const Limits& limits,
                           cudaStream_t stream);

}  // namespace warpseal::cuda
