// Tiling: how the messages of a batch are divided among warps, also if only the device knows their
// lengths.
#pragma once

#include <algorithm>

#include "backends/cipher_backend.h"
#include "backends/cuda/host/limits.h"
#include "backends/cuda/host/tuning.h"
#include "core/word.h"

namespace warpseal::cuda {

struct Tiling {
    uint64_t message_count;
    uint64_t tiles;       // items for each message; those past its end are empty
    uint64_t min_blocks;  // minimum number of blocks in a tile

    uint64_t items() const { return message_count * tiles; }
};

// Blocks [first, last) of a message, for one item.
struct Tile {
    uint64_t first, last;
    bool whole;  // it is the message's only tile
    bool empty;  // it has no blocks and is not the message's first tile
};

inline Tiling divide(const warpseal_batch& batch, uint64_t aad_bytes, uint64_t block_bytes,
                     bool own_keys, const Limits& limits) {
    const uint64_t warps = uint64_t(limits.multiprocessors) * tuning::warps;
    const uint64_t max_tiles = std::max<uint64_t>(
        tuning::tiles_per_warp * warps / std::max<uint64_t>(batch.message_count, 1), 1);
    const uint64_t large = own_keys ? tuning::tile_blocks_own_key : tuning::tile_blocks;
    const uint64_t small =
        own_keys ? tuning::tile_blocks_own_key_small_grid : tuning::tile_blocks_small_grid;
    if (batch.lengths != nullptr)
        return {batch.message_count, std::max(max_tiles, tuning::tiles_of_unknown_length), large};
    const uint64_t blocks = (aad_bytes + block_bytes - 1) / block_bytes +
                            batch.message_bytes / block_bytes +
                            (batch.message_bytes % block_bytes != 0);
    const uint64_t least =
        batch.message_count > warps * large / std::max<uint64_t>(blocks, 1) ? large : small;
    return {batch.message_count, std::clamp<uint64_t>(blocks / least, 1, max_tiles), least};
}

// Tiles are whole rows of 32 blocks, except the last one.
WARPSEAL_INLINE Tile tile_of(const Tiling& tiling, uint64_t blocks, uint64_t tile) {
    if (tiling.tiles == 1) return {0, blocks, true, false};
    const uint64_t even = (blocks / 32 / tiling.tiles + 1) * 32;
    const uint64_t length = even > tiling.min_blocks ? even : tiling.min_blocks;
    const uint64_t first = tile * length, last = first + length;
    return {first, last < blocks ? last : blocks, blocks <= length, tile > 0 && first >= blocks};
}

}  // namespace warpseal::cuda
