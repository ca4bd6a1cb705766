// A list of free pages under a lock.
#include "engine/workspace.h"

#include <algorithm>

#include "core/secret.h"

namespace warpseal {

Workspaces::Lease Workspaces::lease(size_t bytes) {
    Lease out;
    {
        const std::lock_guard lock(mutex_);
        const auto fits = std::find_if(free_.begin(), free_.end(), [&](const auto& space) { return space->bytes >= bytes; });
        if (fits != free_.end()) {
            out.space_ = std::move(*fits);
            free_.erase(fits);
        }
    }
    if (out.space_ == nullptr) {
        auto space = std::make_unique<Lease::Space>();
        if (!space->memory.allocate(bytes, SecretMemory::AfterFork::wiped)) return {};
        space->bytes = bytes;
        out.space_ = std::move(space);
    }
    out.owner_ = this;
    out.used_ = bytes;
    return out;
}

Workspaces::Lease::~Lease() {
    if (space_ == nullptr) return;
    wipe(space_->memory.data(), used_);
    const std::lock_guard lock(owner_->mutex_);
    if (owner_->free_.size() < most_kept) owner_->free_.push_back(std::move(space_));
}

}  // namespace warpseal
