// GHASH of long texts under one key on tensor cores: each text's sum over its whole blocks, queued
// on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/device/ghash_field.cuh"
#include "backends/cuda/host/device.h"

namespace warpseal::cuda {

// Texts of one length, 16-byte aligned, in device memory.
struct HashedTexts {
    const uint8_t* first;
    uint64_t stride, count, blocks;
};

// How they are cut. A text's last segment ends where its whole blocks do; what its first lacks
// counts as zeros in front of it.
struct Segments {
    uint64_t count;
    uint32_t in_text, blocks;

    // What ghash wants of scratch; it may hold anything.
    size_t scratch_bytes() const;
};
Segments cut(const HashedTexts& texts, const Limits& limits);

// Whether this GPU, and what was compiled for it, has what it takes.
inline bool has_ghash(const Limits& limits) { return limits.architecture >= 80; }

// sums[i] becomes the sum over text i of C[k] H^(blocks - 1 - k).
warpseal_status ghash(const HashKey& hash, const HashedTexts& texts, const Segments& segments,
                      void* scratch, Block<4>* sums, const Limits& limits, cudaStream_t stream);

}  // namespace warpseal::cuda
