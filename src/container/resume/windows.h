// Windows of a payload: runs of chunks that are in memory at once, and that one record of a journal
// covers.
#pragma once

#include <atomic>
#include <vector>

#include "container/pipeline/descriptor.h"
#include "container/pipeline/segment.h"

namespace warpseal::container {

// 32 MiB: worth a sync of the disk, and bearable in memory.
inline constexpr uint64_t window_chunks = 2048;

constexpr uint64_t chunk_count_of(uint64_t text_bytes) { return text_bytes / chunk_text_bytes + 1; }
constexpr uint64_t sealed_bytes_of(uint64_t text_bytes) {
    return text_bytes + chunk_count_of(text_bytes) * tag_bytes;
}
constexpr uint64_t window_count_of(uint64_t text_bytes) {
    return (chunk_count_of(text_bytes) + window_chunks - 1) / window_chunks;
}

// Memory for one window, which all workers of the engine fill.
class Windows {
public:
    Windows(Engine& engine, const Suite& suite, const PayloadKey& payload, uint64_t text_bytes,
            Direction direction);
    warpseal_status allocate(Fault& fault);

    uint64_t count() const { return window_count_of(text_bytes_); }
    // The target that ran most recently; "" for none.
    const char* target() const { return target_; }

    // Read a window of the text, and seal it; or of the chunks, and open it. `offset` is that of
    // the text or of the chunks in the source.
    warpseal_status seal(uint64_t window, Source& source, uint64_t offset, Fault& fault);
    warpseal_status open(uint64_t window, Source& source, uint64_t offset, Fault& fault);

    // About the window that was sealed or opened last:
    uint64_t text_bytes() const;
    // Computes the keyed hash of its tags. It reveals no tag, and two windows of equal text have
    // the same.
    void record(const Secret<hmac_bytes>& key, uint8_t out[hmac_bytes]);
    // Writes its chunks if it was sealed, and its text if it was opened.
    warpseal_status write(Sink& sink, uint64_t offset, Fault& fault);
    // After seal(): compares the bytes that write() would write with those that are there.
    enum class There : uint8_t { same, zeros, other };
    warpseal_status compare(Source& source, uint64_t offset, There& there, Fault& fault);

private:
    warpseal_status transform(uint64_t window, Direction direction, Source& source, uint64_t offset,
                              Fault& fault);
    warpseal_status read(Segment& segment, const ChunkJob& job, Source& source, Fault& fault) const;
    template <class Work>
    warpseal_status each(Work work, Fault& fault);

    Engine& engine_;
    const PayloadKey& payload_;
    const uint64_t text_bytes_;
    bool cuda_ = false;
    size_t segment_chunks_;
    uint64_t segment_count_;  // of the payload
    std::vector<Segment> segments_;
    size_t used_ = 0;  // segments of the window in memory
    uint64_t window_ = 0;
    Direction direction_ = Direction::encrypt;
    std::vector<uint8_t> there_;  // for compare()
    std::atomic<const char*> target_{""};
};

}  // namespace warpseal::container
