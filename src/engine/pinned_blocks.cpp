// Pinned blocks: see pinned_blocks.h.
#include "engine/pinned_blocks.h"

#include <new>

#include "engine/engine_impl.h"

namespace warpseal {

PinnedBlocks::PinnedBlocks(Engine::Impl& impl) : impl_(impl), forks_(forks_so_far()) {
    idle_.reserve(most_shared);
}

// A forked child does not have its parent's pinned memory.
PinnedBlocks::~PinnedBlocks() {
    if (forks_ != forks_so_far()) return;
    for (uint8_t* const block : idle_) impl_.free(block, false);
}

PinnedBlocks::Lease PinnedBlocks::acquire(bool needed, bool& all_in_use) {
    {
        const std::lock_guard lock(mutex_);
        all_in_use = in_use_ >= most_shared && !needed;
        if (all_in_use) return nullptr;
        ++in_use_;
        if (!idle_.empty()) {
            Lease block(idle_.back(), Release{this, true});
            idle_.pop_back();
            return block;
        }
    }
    using Kind = Engine::Impl::Allocation::Kind;
    void* memory = nullptr;
    const auto allocate = [&](Kind kind) {
        try {
            return impl_.allocate(block_bytes, kind, &memory) == WARPSEAL_OK;
        } catch (const std::bad_alloc&) {
            return false;
        }
    };
    const bool pinned = allocate(Kind::pinned);
    if (pinned || (needed && allocate(Kind::pageable)))
        return Lease(static_cast<uint8_t*>(memory), Release{this, pinned});
    const std::lock_guard lock(mutex_);
    --in_use_;
    return nullptr;
}

size_t PinnedBlocks::in_use() {
    const std::lock_guard lock(mutex_);
    return in_use_;
}

void PinnedBlocks::release(uint8_t* block, bool pinned) noexcept {
    {
        const std::lock_guard lock(mutex_);
        --in_use_;
        if (pinned && idle_.size() < most_shared) {
            idle_.push_back(block);
            return;
        }
    }
    impl_.free(block, false);
}

}  // namespace warpseal
