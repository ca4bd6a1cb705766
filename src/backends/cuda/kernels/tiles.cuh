// Tiling: how the messages of a batch are divided among warps, also if only the device knows their
// lengths.
#pragma once

#include <algorithm>

#include "backends/cuda/host/device.h"
#include "core/word.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

// Tiles that the device counted. Items [0, message_count) are the first tile of each message. The
// other tiles of long messages follow.
struct DeviceTiles {
    struct Long {
        uint64_t first;  // its second tile, counted from the first item of that kind
        uint64_t index;  // of the message
    };
    unsigned long long blocks;  // of all messages
    unsigned long long taken;   // high half: entries of the list; low half: their items
    uint64_t tile_blocks, unused;

    WARPSEAL_INLINE uint64_t entries() const { return taken >> 32; }
    WARPSEAL_INLINE uint64_t items() const { return taken & 0xffffffffu; }
    WARPSEAL_INLINE const Long* list() const { return reinterpret_cast<const Long*>(this + 1); }
    WARPSEAL_INLINE Long* list() { return reinterpret_cast<Long*>(this + 1); }
};

struct Tiling {
    uint64_t message_count;
    uint64_t tiles;       // items for each message; those past its end are empty
    uint64_t min_blocks;  // minimum number of blocks in a tile
    const DeviceTiles* counted = nullptr;  // replaces `tiles` and `min_blocks`

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

#ifdef __CUDACC__

struct Item {
    uint64_t index, tile;
};

__device__ __forceinline__ uint64_t item_count(const Tiling& tiling) {
    return tiling.counted != nullptr ? tiling.message_count + tiling.counted->items()
                                     : tiling.message_count * tiling.tiles;
}

// Finds the entry of an item in the list, in all lanes together.
__device__ __forceinline__ Item further_item(const DeviceTiles& counted, uint64_t item) {
    uint64_t low = 0, left = counted.entries();
    while (left > 1) {
        const uint64_t step = (left + 31) / 32, at = step * (threadIdx.x % 32);
        const bool before = at < left && counted.list()[low + at].first <= item;
        const uint64_t last = 31 - __clz(__ballot_sync(0xffffffffu, before));
        low += last * step;
        left = left - last * step < step ? left - last * step : step;
    }
    const DeviceTiles::Long entry = counted.list()[low];
    return {entry.index, 1 + item - entry.first};
}

// Message and tile of an item, in all lanes together.
__device__ __forceinline__ Item item_of(const Tiling& tiling, uint64_t item) {
    if (tiling.counted != nullptr && item >= tiling.message_count)
        return further_item(*tiling.counted, item - tiling.message_count);
    return {item % tiling.message_count, item / tiling.message_count};
}

// Tiles are whole rows of 32 blocks, except the last one.
__device__ __forceinline__ Tile tile_of(const Tiling& tiling, uint64_t blocks, uint64_t tile) {
    uint64_t length;
    if (tiling.counted != nullptr) {
        length = tiling.counted->tile_blocks;
    } else {
        if (tiling.tiles == 1) return {0, blocks, true, false};
        const uint64_t even = (blocks / 32 / tiling.tiles + 1) * 32;
        length = even > tiling.min_blocks ? even : tiling.min_blocks;
    }
    const uint64_t first = tile * length, last = first + length;
    return {first, last < blocks ? last : blocks, blocks <= length, tile > 0 && first >= blocks};
}

#endif

}  // namespace warpseal::cuda
