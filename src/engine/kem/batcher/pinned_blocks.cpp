// Pinned memory comes from the GPU backend itself: the engine would return pageable memory where
// none can be pinned, which a batch has better memory for.
#include "engine/kem/batcher/pinned_blocks.h"

#include "core/secret.h"
#include "engine/engine_impl.h"

namespace warpseal {

KemPinnedBlocks::~KemPinnedBlocks() {
    const Gpu& gpu = engine_.impl().gpus[0];
    for (const Block& block : free_) {
        wipe(block.data(), block.size());
        // No call may be made on a lost GPU; the process frees the memory.
        if (gpu.is_open()) gpu.backend().host_free(gpu.device(), block.data(), block.size());
    }
}

bool KemPinnedBlocks::add(size_t bytes) {
    const Gpu& gpu = engine_.impl().gpus[0];
    {
        const std::lock_guard lock(mutex_);
        free_.reserve(pinned_ + 1);  // give_back() needs no memory
    }
    void* memory = nullptr;
    if (!gpu.is_open() || gpu.backend().host_alloc(gpu.device(), bytes, &memory) != WARPSEAL_OK)
        return false;
    const std::lock_guard lock(mutex_);
    ++pinned_;
    free_.emplace_back(static_cast<uint8_t*>(memory), bytes);
    return true;
}

KemPinnedBlocks::Block KemPinnedBlocks::lease() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    const Block block = free_.back();
    free_.pop_back();
    return block;
}

void KemPinnedBlocks::give_back(Block block) {
    if (block.empty()) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(block);
}

}  // namespace warpseal
