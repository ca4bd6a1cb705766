// Blocks of pinned memory for ciphertext on its way to a GPU. The engine keeps them, because
// pinning a block takes longer than a small read.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.h"
#include "platform/forks.h"

namespace warpseal {

// Thread-safe. Blocks are not zeroized between uses: they hold no plaintext and no keys.
class PinnedBlocks {
public:
    // Smaller blocks need more launches, and larger ones leave a core's cache: docs/design/gpu.md.
    static constexpr size_t block_bytes = size_t{4} << 20;
    // Blocks that the users of the engine share: 256 MiB, two for each of 32 workers.
    static constexpr size_t most_shared = (size_t{256} << 20) / block_bytes;

    struct Release {
        PinnedBlocks* owner = nullptr;
        bool pinned = false;
        void operator()(uint8_t* block) const noexcept { owner->release(block, pinned); }
    };
    using Lease = std::unique_ptr<uint8_t, Release>;

    explicit PinnedBlocks(Engine::Impl& impl);
    ~PinnedBlocks();  // every lease must have ended, but those of a forked child's parent
    PinnedBlocks(const PinnedBlocks&) = delete;
    PinnedBlocks& operator=(const PinnedBlocks&) = delete;

    // Returns null if out of memory, or if `most_shared` are in use and this one is not needed,
    // which `all_in_use` then says. A needed block is pageable if no memory can be pinned.
    Lease acquire(bool needed, bool& all_in_use);
    size_t in_use();

private:
    void release(uint8_t* block, bool pinned) noexcept;

    Engine::Impl& impl_;
    const unsigned long forks_;  // number of forks before construction
    ForkMutex mutex_;
    size_t in_use_ = 0;
    std::vector<uint8_t*> idle_;
};

}  // namespace warpseal
