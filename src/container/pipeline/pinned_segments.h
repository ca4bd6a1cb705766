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
    // Segments that reads share: 256 MiB, as much as a host link needs.
    static constexpr size_t most_shared = (size_t{256} << 20) / (chunks * chunk_bytes);

    // Releases a segment to its owner, or frees one without an owner.
    struct Release {
        PinnedSegments* owner = nullptr;
        void operator()(Segment* segment) const noexcept {
            owner != nullptr ? owner->release(segment) : delete segment;
        }
    };
    using Lease = std::unique_ptr<Segment, Release>;

    PinnedSegments() : forks_(forks_so_far()) { idle_.reserve(most_shared); }
    ~PinnedSegments();
    PinnedSegments(const PinnedSegments&) = delete;
    PinnedSegments& operator=(const PinnedSegments&) = delete;

    // Returns null if out of memory, or if `most_shared` are in use and this one is not needed,
    // which `all_in_use` then says.
    Lease acquire(Engine& engine, bool needed, bool& all_in_use);
    // Number of segments that acquire() would give to reads that do not need them.
    size_t available();

private:
    void release(Segment* segment) noexcept;

    ForkMutex mutex_;
    const unsigned long forks_;
    size_t in_use_ = 0;
    std::vector<std::unique_ptr<Segment>> idle_;
};

}  // namespace warpseal::container
