// Free list of workspaces under a lock.
#include "platform/workspace.h"

#include <new>

#include "core/secret.h"

namespace warpseal {

Workspaces::Space* Workspaces::reuse(size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Space** at = &free_; *at != nullptr; at = &(*at)->next) {
        Space* const space = *at;
        if (space->bytes < bytes) continue;
        *at = space->next;
        --kept_;
        return space;
    }
    return nullptr;
}

Workspaces::Lease Workspaces::lease(size_t bytes) {
    Lease out;
    out.space_.reset(reuse(bytes));
    if (out.space_ == nullptr) {
        std::unique_ptr<Space> space(new (std::nothrow) Space);
        if (!space || !space->memory.allocate(bytes, SecretMemory::AfterFork::wiped)) return {};
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
    if (owner_->kept_ == most_kept) return;
    space_->next = owner_->free_;
    owner_->free_ = space_.release();
    ++owner_->kept_;
}

Workspaces::~Workspaces() {
    while (free_ != nullptr) {
        const std::unique_ptr<Space> space(free_);
        free_ = space->next;
    }
}

}  // namespace warpseal
