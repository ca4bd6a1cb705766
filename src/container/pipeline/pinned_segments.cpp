// Pinned segments: see pinned_segments.h.
#include "container/pipeline/pinned_segments.h"

#include <new>
#include <utility>

namespace warpseal::container {

// A forked child does not have its parent's pinned memory.
PinnedSegments::~PinnedSegments() {
    if (forks_ == forks_so_far()) return;
    for (std::unique_ptr<Segment>& segment : idle_) (void)segment.release();
}

std::unique_ptr<Segment> PinnedSegments::take(Engine& engine, bool needed) {
    {
        const std::lock_guard lock(mutex_);
        if (in_use_ >= most_kept && !needed) return nullptr;
        ++in_use_;
        if (!idle_.empty()) {
            std::unique_ptr<Segment> segment = std::move(idle_.back());
            idle_.pop_back();
            return segment;
        }
    }
    std::unique_ptr<Segment> made(new (std::nothrow) Segment);
    if (made != nullptr && made->allocate(engine, Layout::device, chunks)) return made;
    const std::lock_guard lock(mutex_);
    --in_use_;
    return nullptr;
}

void PinnedSegments::give_back(std::unique_ptr<Segment> segment) {
    const std::lock_guard lock(mutex_);
    --in_use_;
    if (idle_.size() < most_kept) idle_.push_back(std::move(segment));
}

}  // namespace warpseal::container
