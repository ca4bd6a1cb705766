// Blocks of pinned memory, equally large, each for one batch on a GPU at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace warpseal {

// Thread-safe. The blocks hold secrets; who leases one zeroizes them before giving it back.
class KemPinnedBlocks {
public:
    using Block = std::span<uint8_t>;

    explicit KemPinnedBlocks(Engine& engine) : engine_(engine) {}
    ~KemPinnedBlocks();  // zeroizes and frees; every block must have been given back
    KemPinnedBlocks(const KemPinnedBlocks&) = delete;
    KemPinnedBlocks& operator=(const KemPinnedBlocks&) = delete;

    // Pins one more block in memory of the engine's first GPU, which takes milliseconds. Returns
    // false if there is no memory for it.
    bool add(size_t bytes);
    // Returns a free block, or an empty one if there is none.
    Block lease();
    void give_back(Block block);  // does nothing for an empty one

private:
    Engine& engine_;
    std::mutex mutex_;   // fork: a child has its own scheduler and blocks
    size_t pinned_ = 0;  // all blocks, free or leased
    std::vector<Block> free_;
};

}  // namespace warpseal
