// Tiles of a batch whose lengths only the device knows, listed by the device before the work. All
// tiles have one length, except one of each message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/word.h"

namespace warpseal::cuda {

// Chosen by the host. A tile has `blocks` blocks, a multiple of 64. It has more if the entries
// would have more than `max_tiles` tiles beside one for each message.
struct TileSize {
    uint64_t blocks, max_tiles;
};

// Returns the size of tiles for a batch with about this number of blocks.
inline TileSize tile_size(uint64_t total_blocks, uint64_t wanted, uint64_t min_blocks,
                          uint64_t max_blocks) {
    const uint64_t even = (total_blocks / wanted + 63) / 64 * 64;
    const uint64_t blocks = std::clamp(even, min_blocks, max_blocks);
    return {blocks, total_blocks / blocks + 1};
}

// Returns the blocks of a tile once the batch's own number of blocks is known.
WARPSEAL_INLINE uint64_t tile_blocks_for(const TileSize& size, unsigned long long batch_blocks) {
    const uint64_t even = (batch_blocks / size.max_tiles + 64) / 64 * 64;
    return even > size.blocks ? even : size.blocks;
}

// In scratch. Items [0, message_count) are the messages of one tile or none. The tiles of the other
// messages follow, in the order of their entries.
struct TileList {
    struct Entry {
        uint64_t first;  // its first tile, counted from the first one of all entries
        uint64_t index;  // of the message
    };
    unsigned long long blocks;    // of all messages
    unsigned long long reserved;  // high half: entries; low half: their tiles
    uint64_t tile_blocks, message_count;

    WARPSEAL_INLINE uint64_t entry_count() const { return reserved >> 32; }
    WARPSEAL_INLINE uint64_t tile_count() const { return reserved & 0xffffffffu; }
    WARPSEAL_INLINE uint64_t item_count() const { return message_count + tile_count(); }
    // Items before this one are empty.
    WARPSEAL_INLINE uint64_t first_item() const {
        return entry_count() == message_count ? message_count : 0;
    }
    WARPSEAL_INLINE const Entry* entries() const {
        return reinterpret_cast<const Entry*>(this + 1);
    }
    WARPSEAL_INLINE Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
    // Tiles of a message of this many blocks; 0 or 1 for one without an entry.
    WARPSEAL_INLINE uint64_t tiles_of(uint64_t message_blocks) const {
        return message_blocks / tile_blocks + (message_blocks % tile_blocks != 0);
    }
    // Number of the entry that holds a tile of the entries.
    WARPSEAL_INLINE uint64_t entry_of(uint64_t tile) const {
        uint64_t low = 0, end = entry_count();
        while (end - low > 1) {
            const uint64_t middle = low + (end - low) / 2;
            if (entries()[middle].first <= tile)
                low = middle;
            else
                end = middle;
        }
        return low;
    }
};

// A tile of a list: number `tile` of message `index`.
struct ListedTile {
    uint64_t index, tile;
    bool listed;  // the message has an entry
};

WARPSEAL_INLINE ListedTile listed_tile(const TileList& list, uint64_t item) {
    if (item < list.message_count) return {item, 0, false};
    const uint64_t number = item - list.message_count;
    const TileList::Entry entry = list.entries()[list.entry_of(number)];
    return {entry.index, number - entry.first, true};
}

// Most messages of a batch with a list, and most bytes that are expected of it. So the number of
// items stays below 2^32.
inline constexpr uint64_t max_listed_messages = uint64_t{1} << 30,
                          max_listed_bytes = uint64_t{1} << 38;

inline size_t tile_list_bytes(uint64_t message_count) {
    return sizeof(TileList) + sizeof(TileList::Entry) * message_count;
}
// Most tiles of the entries of a list.
inline uint64_t max_listed_tiles(uint64_t message_count, const TileSize& size) {
    return message_count + size.max_tiles;
}

}  // namespace warpseal::cuda
