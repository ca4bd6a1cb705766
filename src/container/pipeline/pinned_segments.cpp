// Pinned segments: see pinned_segments.h.
#include "container/pipeline/pinned_segments.h"

#include <algorithm>
#include <new>
#include <utility>

namespace warpseal::container {

// A forked child does not have its parent's pinned memory.
PinnedSegments::~PinnedSegments() {
    if (forks_ == forks_so_far()) return;
    for (std::unique_ptr<Segment>& segment : idle_) (void)segment.release();
}

PinnedSegments::Lease PinnedSegments::acquire(Engine& engine, bool needed, bool& all_in_use) {
    all_in_use = false;
    {
        const std::lock_guard lock(mutex_);
        if (in_use_ >= most_shared && !needed) {
            all_in_use = true;
            return nullptr;
        }
        ++in_use_;
        if (!idle_.empty()) {
            Lease segment(idle_.back().release(), Release{this});
            idle_.pop_back();
            return segment;
        }
    }
    // Also counts back if an allocation throws.
    struct Count {
        PinnedSegments& owner;
        bool kept = false;
        ~Count() {
            if (kept) return;
            const std::lock_guard lock(owner.mutex_);
            --owner.in_use_;
        }
    } count{*this};
    std::unique_ptr<Segment> made(new (std::nothrow) Segment);
    if (made == nullptr || !made->allocate(engine, Layout::device, chunks)) return nullptr;
    count.kept = true;
    return Lease(made.release(), Release{this});
}

size_t PinnedSegments::available() {
    const std::lock_guard lock(mutex_);
    return most_shared - std::min(in_use_, most_shared);
}

void PinnedSegments::release(Segment* segment) noexcept {
    std::unique_ptr<Segment> released(segment);  // freed without the lock if it is not kept
    const std::lock_guard lock(mutex_);
    --in_use_;
    if (idle_.size() < most_shared) idle_.push_back(std::move(released));
}

}  // namespace warpseal::container
