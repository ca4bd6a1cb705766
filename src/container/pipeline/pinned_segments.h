// Segments of chunks in pinned memory, for reads into device memory. Kept for later reads, because
// pinning memory takes longer than a small read. They hold ciphertext alone.
#pragma once

#include <memory>
#include <vector>

#include "container/pipeline/segment.h"
#include "platform/forks.h"

namespace warpseal::container {

class PinnedSegments {
public:
    static constexpr size_t chunks = 256;  // 4 MiB each: enough to keep a GPU busy

    PinnedSegments() : forks_(forks_so_far()) { idle_.reserve(most_kept); }
    ~PinnedSegments();
    PinnedSegments(const PinnedSegments&) = delete;
    PinnedSegments& operator=(const PinnedSegments&) = delete;

    // Returns null if out of memory, or if `most_kept` are in use and it is not needed.
    std::unique_ptr<Segment> take(Engine& engine, bool needed);
    void give_back(std::unique_ptr<Segment> segment);

private:
    static constexpr size_t most_kept = 64;

    ForkMutex mutex_;
    const unsigned long forks_;
    size_t in_use_ = 0;
    std::vector<std::unique_ptr<Segment>> idle_;
};

}  // namespace warpseal::container
