// Segment of a payload: the chunks that one worker of the file pipeline processes at a time.
#pragma once

#include <sys/uio.h>

#include <array>
#include <optional>
#include <vector>

#include "container/payload.h"
#include "platform/workspace.h"

namespace warpseal::container {

// Text in the memory of a GPU: bytes [begin, begin + bytes) of the payload's text.
struct DeviceText {
    unsigned gpu;  // of the engine
    uint8_t* memory;
    uint64_t begin, bytes;

    uint8_t* at(uint64_t offset) const { return memory + (offset - begin); }
    bool holds(uint64_t offset, uint64_t count) const {
        return offset >= begin && offset + count <= begin + bytes;
    }
};

// Finds the GPU that holds `bytes` bytes of text, waits for the work on `stream` and sets the GPU
// and the bytes of `text`. name: the argument, for the fault.
warpseal_status find_device_text(Engine& engine, const void* memory, uint64_t bytes, void* stream,
                                 DeviceText& text, const char* name, Fault& fault);

// Chunks of one payload to seal or open.
struct ChunkJob {
    Engine& engine;
    const PayloadKey& payload;
    Direction direction;     // encrypt: reads text and writes chunks
    uint64_t source_offset;  // of the text or of the chunks, in the input
    // Null for text in host memory. Sealing needs all of the text, opening any range of it.
    const DeviceText* device = nullptr;
};

// Bytes from one chunk to the next, in the input and in the output.
inline constexpr size_t in_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_text_bytes : chunk_bytes;
}
inline constexpr size_t out_stride(Direction direction) {
    return direction == Direction::encrypt ? chunk_bytes : chunk_text_bytes;
}

// Memory of a worker's segment: pinned for a GPU, otherwise secret pages. Zeroized when freed.
class SegmentMemory {
public:
    SegmentMemory() = default;
    ~SegmentMemory() {
        if (pinned_ != nullptr) engine_->host_free(pinned_);
    }
    SegmentMemory(const SegmentMemory&) = delete;
    SegmentMemory& operator=(const SegmentMemory&) = delete;

    // spaces: memory to use again, for many short calls; may be null.
    bool allocate(Engine& engine, bool pinned, size_t bytes, Workspaces* spaces) {
        engine_ = &engine;
        if (pinned && engine.host_alloc(bytes, &pinned_) == WARPSEAL_OK) return true;
        if (spaces == nullptr) return pages_.allocate(bytes);
        lease_.emplace(spaces->lease(bytes));
        return static_cast<bool>(*lease_);
    }
    // Uses memory of the caller.
    void borrow(void* memory) { borrowed_ = memory; }
    uint8_t* data() {
        void* const pages = lease_ ? lease_->data() : pages_.data();
        void* const own = pinned_ != nullptr ? pinned_ : pages;
        return static_cast<uint8_t*>(borrowed_ != nullptr ? borrowed_ : own);
    }

private:
    Engine* engine_ = nullptr;
    void* borrowed_ = nullptr;
    void* pinned_ = nullptr;
    SecretMemory pages_;
    std::optional<Workspaces::Lease> lease_;
};

// Layout of chunks and text. in_place, for the CPU: text has the stride of chunks, and both stay in
// the core's cache. separate, for a GPU, which must not modify its input: text lies in separate
// memory without gaps. device: a segment has chunks alone, and the text lies in device memory.
enum class Layout : uint8_t { in_place, separate, device };
inline constexpr size_t text_stride(Layout layout) {
    return layout == Layout::in_place ? chunk_bytes : chunk_text_bytes;
}
inline constexpr size_t chunk_memory_bytes(Layout layout) {
    return layout == Layout::separate ? chunk_bytes + chunk_text_bytes : chunk_bytes;
}

// Chunks [first_chunk, first_chunk + chunks) of the payload, with the file's stride of 16400 bytes.
struct Segment {
    uint64_t number = 0;
    uint64_t first_chunk = 0;
    size_t bytes_in = 0;
    bool last = false;        // ends with the short chunk
    size_t chunks = 0;        // number of chunks to seal or open
    size_t valid_chunks = 0;  // number of chunks, from the front, that may be output
    size_t last_text = 0;     // text bytes of the short chunk
    Fault fault;              // error, if the segment is incomplete or does not verify

    bool allocate(Engine& engine, Layout layout, size_t chunk_count, Workspaces* spaces = nullptr);
    // Uses pinned memory of the caller, of transfer_bytes(chunk_count), for chunks whose text lies
    // in device memory. So the GPU may work on them while the caller's thread goes on.
    void borrow(size_t chunk_count, void* memory);
    static constexpr size_t transfer_bytes(size_t chunk_count) {
        return chunk_count * (chunk_bytes + resident_space_bytes);
    }

    // Return buffers for a Source or Sink, which modifies them. input_buffers(): space for `bytes`
    // bytes of input. output_buffers(): the output, with its number of text bytes and of bytes.
    struct Buffers {
        iovec* first;
        size_t count;
    };
    Buffers input_buffers(Direction direction, size_t bytes);
    Buffers output_buffers(Direction direction, uint64_t& text_bytes, uint64_t& bytes);

    // Call after reading bytes_in bytes. Computes the number of chunks and checks that the payload
    // ends properly.
    void find_chunks(const ChunkJob& job);
    // Seals or opens the chunks and sets `valid_chunks`. Returns the name of the target, or null
    // if there were no chunks.
    const char* transform(const ChunkJob& job);
    // The same for text in device memory, in two steps: begin() queues the work, and finish() waits
    // for its end. Between them nothing of the segment may change.
    void begin(const ChunkJob& job);
    const char* finish(const ChunkJob& job);
    // Verifies the only chunk of the segment, which is the last of the payload, without opening it.
    void verify_last(const ChunkJob& job);

    // After opening: true if chunk i of this segment verified.
    bool verified(size_t i) const {
        return status_ == WARPSEAL_OK ||
               (status_ == WARPSEAL_NOT_AUTHENTIC && statuses_[i] == WARPSEAL_OK);
    }
    // After transform(): the tag of chunk i.
    const uint8_t* tag(Direction direction, size_t i) {
        const bool moved = direction == Direction::encrypt && last && i + 1 == chunks;
        return chunk(i) + (moved ? last_text : chunk_text_bytes);
    }
    size_t text_of(size_t i) const {
        return last && i + 1 == chunks ? last_text : chunk_text_bytes;
    }
    // Returns buffers of `bytes` bytes of text, from the beginning of chunk `first`.
    Buffers text_buffers(size_t first, size_t bytes);

    uint64_t text_offset(size_t i) const { return (first_chunk + i) * chunk_text_bytes; }

private:
    uint8_t* chunk(size_t i) { return chunk_memory_.data() + i * chunk_bytes; }
    uint8_t* text(size_t i) {
        return layout_ == Layout::in_place ? chunk(i) : text_memory_.data() + i * chunk_text_bytes;
    }
    void resize_lists(size_t chunk_count);
    warpseal_batch batch(const ChunkJob& job);
    warpseal_status begin_batch(const ChunkJob& job, size_t first, size_t end, ResidentBatch& out);
    void find_failed_chunk(const ChunkJob& job, warpseal_status status);

    Layout layout_ = Layout::in_place;
    warpseal_status status_ = WARPSEAL_OK;  // of the batch
    SegmentMemory chunk_memory_, text_memory_;
    std::vector<uint8_t> nonces_;
    std::vector<uint64_t> lengths_;
    std::vector<int32_t> statuses_;
    std::vector<iovec> buffers_;
    uint8_t* space_ = nullptr;  // of borrowed memory: resident_space_bytes for each chunk
    // Chunks that begin or end past the range, before and after those that lie within it.
    std::array<ResidentBatch, 3> in_flight_;
};

}  // namespace warpseal::container
