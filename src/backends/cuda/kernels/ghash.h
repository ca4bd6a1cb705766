// GHASH of long texts under one key on tensor cores, queued on a stream. Each text gives one GHASH
// value, over its whole blocks.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/device/ghash_field.cuh"
#include "backends/cuda/host/device.h"
#include "backends/cuda/kernels/list_tiles.h"

namespace warpseal::cuda {

// Texts of equal length in device memory, 16-byte aligned.
struct HashedTexts {
    const uint8_t* first;
    uint64_t stride, count, blocks;
};

// Texts split into segments. A text's last segment ends with its last whole block. The first
// segment may be shorter: it is padded with zeros at the front.
struct Segments {
    uint64_t count;
    uint32_t in_text, blocks;

    // Bytes of scratch that ghash needs; the contents may be arbitrary.
    size_t scratch_bytes() const;
};
Segments split_into_segments(const HashedTexts& texts, const Limits& limits);

// True if the compiled code supports GHASH on tensor cores on this GPU (compute capability 8.0 or
// later).
inline bool has_ghash(const Limits& limits) { return limits.architecture >= 80; }

// Sets sums[i] to the sum of C[k] H^(blocks - 1 - k) over the blocks of text i.
warpseal_status ghash(const HashKey& hash, const HashedTexts& texts, const Segments& segments,
                      void* scratch, Block<4>* sums, const Limits& limits, cudaStream_t stream);

// Texts of a batch whose lengths only the device knows, with a list of segments.
struct ListedTexts {
    warpseal_scattered_batch messages;
    bool opens;  // the ciphertexts are the inputs
    const TileList* segments;

    WARPSEAL_INLINE const uint8_t* text(const BatchMessage& m) const {
        return opens ? m.in : m.out;
    }
};

// Sizes of segments for about this number of blocks, and the bytes of scratch for them.
TileSize segment_size(uint64_t message_count, uint64_t total_blocks, const Limits& limits);
size_t listed_scratch_bytes(uint64_t message_count, const TileSize& size);

// Same for listed texts, with refused messages left out. sums: zero, one for each message.
warpseal_status ghash(const HashKey& hash, const ListedTexts& texts, void* scratch, Block<4>* sums,
                      const Limits& limits, cudaStream_t stream);

}  // namespace warpseal::cuda
