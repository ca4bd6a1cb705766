// Staging buffer that holds a batch of requests contiguously while the engine runs it.
#pragma once

#include <span>

#include "engine/kem/batcher/request.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Reused for all batches; secrets are zeroized after each.
class KemStagingBuffer {
public:
    KemStagingBuffer() = default;
    KemStagingBuffer(const KemStagingBuffer&) = delete;
    KemStagingBuffer& operator=(const KemStagingBuffer&) = delete;

    // Requests [begin, end) of a chunk, which are items of the batch from `item` on.
    struct Range {
        KemChunk* chunk;
        uint32_t begin, end;
        size_t item;
    };

    // Lays out the buffer for the requests, in the pinned memory if they fit. Returns false if out
    // of memory.
    bool lay_out(const KemRequests& requests, std::span<uint8_t> pinned);
    // The same for items that belong to no requests.
    bool lay_out(KemKind kind, size_t count, std::span<uint8_t> pinned);
    // Returns the number of items that fit in that many bytes.
    static size_t capacity(KemKind kind, size_t bytes);

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
    SecretMemory secret_;
    size_t secret_bytes_ = 0;
    KemKind kind_;
    size_t item_bytes_ = 0;
    warpseal_kem_batch batch_{};
    Range* ranges_ = nullptr;
    size_t range_count_ = 0;
};

}  // namespace warpseal
