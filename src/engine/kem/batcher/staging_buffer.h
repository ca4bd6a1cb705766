// Where a batch of requests lies side by side while the engine works on it, as its owners' memory
// is anywhere.
#pragma once

#include <span>

#include "engine/engine.h"
#include "engine/kem/batcher/request.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Kept from batch to batch; what is secret in it is wiped after each. Pinned for many items where
// the engine's GPU is open.
class KemStagingBuffer {
public:
    explicit KemStagingBuffer(Engine& engine) : engine_(engine) {}
    ~KemStagingBuffer() { reset(); }
    KemStagingBuffer(const KemStagingBuffer&) = delete;
    KemStagingBuffer& operator=(const KemStagingBuffer&) = delete;

    // Requests of a chunk, which are items of the batch from `item` on.
    struct Range {
        KemChunk* chunk;
        uint32_t begin, end;
        size_t item;
    };

    // For these, of batches of `most` at most; false: out of memory.
    bool lay(const KemRequests& requests, size_t most);

    std::span<const Range> ranges() const { return {ranges_, range_count_}; }
    int32_t& status(size_t i) { return batch_.statuses[i]; }
    warpseal_kem_batch& batch() { return batch_; }
    // Into this core's caches what one that comes soon will gather, or what its results will
    // overwrite: it lies in other cores', or in none.
    void fetch_read(const KemRequest& request) const;
    void fetch_written(const KemRequest& request) const;
    void gather(const KemRequest& request, size_t i);
    // Its results to where they belong; and nothing secret of it stays here.
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
