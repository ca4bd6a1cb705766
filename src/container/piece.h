// What one worker of the file pipeline holds: a run of chunks, their text, and what is known of
// them.
#pragma once

#include <sys/uio.h>

#include <vector>

#include "container/pipeline.h"
#include "platform/secret_memory.h"

namespace warpseal::container {

// The memory of one worker's piece: pinned for a GPU, else secret pages of ours. Wiped when it
// goes.
class SegmentMemory {
public:
    SegmentMemory() = default;
    ~SegmentMemory() {
        if (pinned_ != nullptr) engine_->host_free(pinned_);
    }
    SegmentMemory(const SegmentMemory&) = delete;
    SegmentMemory& operator=(const SegmentMemory&) = delete;

    bool allocate(Engine& engine, bool pinned, size_t bytes) {
        engine_ = &engine;
        return (pinned && engine.host_alloc(bytes, &pinned_) == WARPSEAL_OK) ||
               pages_.allocate(bytes);
    }
    uint8_t* data() { return static_cast<uint8_t*>(pinned_ != nullptr ? pinned_ : pages_.data()); }

private:
    Engine* engine_ = nullptr;
    void* pinned_ = nullptr;
    SecretMemory pages_;
};

// How chunks and their text lie in a piece's memory. A core works in place, where its caches hold
// both: text has the chunks' stride. A GPU copies from one place to another, and must leave its
// input as it was: text lies by itself, without gaps.
enum class Layout : uint8_t { in_place, apart };
inline constexpr size_t text_stride(Layout layout) {
    return layout == Layout::in_place ? chunk_bytes : chunk_text_bytes;
}
inline constexpr size_t chunk_memory_bytes(Layout layout) {
    return layout == Layout::in_place ? chunk_bytes : chunk_bytes + chunk_text_bytes;
}

// Chunks [first_chunk, first_chunk + chunks) of the payload, laid out in memory as in the file:
// 16400 bytes from one to the next.
struct Segment {
    uint64_t number = 0;
    uint64_t first_chunk = 0;
    size_t bytes_in = 0;
    bool last = false;     // ends with the short chunk
    size_t chunks = 0;     // to seal or open
    size_t good = 0;       // of them, from the front, that the sink may have
    size_t last_text = 0;  // length of the short chunk's text
    Fault fault;           // why it is not whole

    bool allocate(Engine& engine, Layout layout, size_t chunk_count);

    // As descriptions for a Source or a Sink, which uses them up: room for so many bytes of input;
    // what the sink may have, of how much text.
    struct Buffers {
        iovec* first;
        size_t count;
    };
    Buffers capacity(Direction direction, size_t bytes);
    Buffers result(Direction direction, uint64_t& text_bytes, uint64_t& bytes);

    // After bytes_in were read to the room: how many chunks there are, and whether they end as a
    // payload must.
    void find_chunks(const PipelineJob& job);
    // Seals or opens them; sets what is good. Null if nothing ran, else the name of what did.
    const char* transform(const PipelineJob& job);

private:
    uint8_t* chunk(size_t i) { return chunk_memory_.data() + i * chunk_bytes; }
    uint8_t* text(size_t i) {
        return layout_ == Layout::in_place ? chunk(i) : text_memory_.data() + i * chunk_text_bytes;
    }
    size_t text_of(size_t i) const {
        return last && i + 1 == chunks ? last_text : chunk_text_bytes;
    }
    Buffers text_buffers(size_t bytes);
    warpseal_batch batch(const PipelineJob& job);
    void find_failed_chunk(const PipelineJob& job, warpseal_status status);

    Layout layout_ = Layout::in_place;
    SegmentMemory chunk_memory_, text_memory_;
    std::vector<uint8_t> nonces_;
    std::vector<uint64_t> lengths_;
    std::vector<int32_t> statuses_;
    std::vector<iovec> buffers_;
};

}  // namespace warpseal::container
