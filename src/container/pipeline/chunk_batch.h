// Chunks of one length that lie side by side in memory, as one batch of the engine.
#pragma once

#include <vector>

#include "container/payload.h"

namespace warpseal::container {

// Chunks of one batch: 64 MiB keep all cores or a GPU busy, and bound the memory for nonces.
inline constexpr size_t batch_chunks = 4096;

// Memory that batches use again.
struct ChunkScratch {
    std::vector<uint8_t> nonces;
    std::vector<int32_t> statuses;
};

// Seals or opens chunks [first, first + count) of `text_bytes` each, on all cores or GPUs. Only a
// last chunk has fewer than chunk_text_bytes; count is then 1. in, out: apart, without gaps.
warpseal_status run_chunks(Engine& engine, const PayloadKey& payload, Direction direction,
                           uint64_t first, const uint8_t* in, size_t count, size_t text_bytes,
                           uint8_t* out, ChunkScratch& scratch, Fault& fault);

}  // namespace warpseal::container
