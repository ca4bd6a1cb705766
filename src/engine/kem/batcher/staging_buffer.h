// Staging buffer that holds a batch of requests contiguously while the engine runs it.
#pragma once

#include <span>

#include "engine/engine.h"
#include "engine/kem/batcher/request.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Reused for all batches; secrets are zeroized after each. Pinned for many items if the engine's
// GPU is open.
class KemStagingBuffer {
public:
    explicit KemStagingBuffer(Engine& engine) : engine_(engine) {}
    ~KemStagingBuffer() { reset(); }
    KemStagingBuffer(const KemStagingBuffer&) = delete;
    KemStagingBuffer& operator=(const KemStagingBuffer&) = delete;

    // Requests [begin, end) of a chunk, which are items of the batch from `item` on.
    struct Range {
        KemChunk* chunk;
        uint32_t begin, end;
        size_t item;
    };

    // Lays out the buffer for the requests; a batch has at most `most`. Returns false if out of
    // memory.
    bool lay_out(const KemRequests& requests, size_t most);

    std::span<const Range> ranges() const { return {ranges_, range_count_}; }
    int32_t& status(size_t i) { return batch_.statuses[i]; }
    warpseal_kem_batch& batch() { return batch_; }
    // Prefetch the buffers that gather() will read, or that scatter() will write, for a request.
    void prefetch_inputs(const KemRequest& request) const;
    void prefetch_outputs(const KemRequest& request) const;
    void gather(const KemRequest& request, size_t i);
    // Copies the results to the request and zeroizes the item's secrets here.
    void scatter(const KemRequest& request, size_t i);
    void wipe(size_t i);
    size_t item_bytes() const { return item_bytes_; }

private:
    size_t bytes_for(size_t count) const;
    bool pinned(size_t bytes);
    void reset();

    Engine& engine_;
    void* pinned_ = nullptr;
    SecretMemory secret_;
    size_t capacity_ = 0;
    KemKind kind_;
    size_t item_bytes_ = 0;
    warpseal_kem_batch batch_{};
    Range* ranges_ = nullptr;
    size_t range_count_ = 0;
};

}  // namespace warpseal
