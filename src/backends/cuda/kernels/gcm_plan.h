// Plans a batch in GCM: one pass or two, its tiles, and the bytes of scratch.
#pragma once

#include "backends/batch_message.h"
#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kernels/ghash.h"
#include "backends/cuda/kernels/list_tiles.h"
#include "backends/cuda/kernels/tiles.cuh"

namespace warpseal::cuda {

// Blocks of all texts of a batch whose lengths only the device knows, or 0 if the caller has not
// given their mean. Only the choice of kernels and tiles depends on it.
inline uint64_t expected_blocks(const warpseal_batch& b) {
    return b.message_bytes <= max_listed_bytes / b.message_count
               ? b.message_count * b.message_bytes / 16
               : 0;
}

// True if two passes support this batch and are expected to be faster.
inline bool takes_two_passes(const warpseal_scattered_batch& messages, const Limits& limits) {
    const warpseal_batch& b = messages.batch;
    const bool listed = b.lengths != nullptr;
    if (!has_ghash(limits) || b.keys != nullptr || messages.aad_lengths != nullptr ||
        b.aad_bytes > tuning::two_pass_aad_bytes ||
        b.message_bytes < limits.min_bytes(tuning::two_pass_message_bytes) ||
        b.message_bytes < limits.min_bytes(tuning::two_pass_bytes) / b.message_count)
        return false;
    if (listed) return expected_blocks(b) != 0 && b.message_count <= max_listed_messages;
    const uint64_t strides = b.message_count > 1 ? b.in_stride | b.out_stride : 0;
    return !is_scattered(messages) &&
           (reinterpret_cast<uintptr_t>(b.in) | reinterpret_cast<uintptr_t>(b.out) | strides) %
                   16 ==
               0;
}

// Whole ciphertext blocks of a batch whose messages have one length.
inline HashedTexts hashed_texts(const warpseal_batch& b, bool opens) {
    return {opens ? b.in : b.out, opens ? b.in_stride : b.out_stride, b.message_count,
            b.message_bytes / 16};
}

// Scratch of two passes: the count of items taken, a GHASH value and J0 for each message, and
// `rest`.
inline size_t two_pass_scratch_bytes(const warpseal_batch& b, size_t rest) {
    return sizeof(Block<4>) * (1 + 2 * b.message_count) + rest;
}

// Sizes for two passes over a batch whose lengths only the device knows: the tiles of counter mode
// and the segments of GHASH.
struct ListedSizes {
    TileSize tiles, segments;
};
inline ListedSizes listed_sizes(const warpseal_batch& b, const Limits& limits) {
    const uint64_t blocks = expected_blocks(b),
                   warps = uint64_t(limits.multiprocessors) * tuning::warps;
    return {tile_size(blocks, tuning::listed_tiles_per_warp * warps, tuning::tile_blocks_small_grid,
                      UINT64_MAX / 64 * 64),
            segment_size(b.message_count, blocks, limits)};
}

// The rest of the scratch of two passes: a list of tiles and one of segments, and that of GHASH; or
// for messages of one length, that of GHASH.
inline size_t rest_of_scratch_bytes(const warpseal_batch& b, const Limits& limits) {
    // The number of segments does not depend on the direction.
    if (b.lengths == nullptr)
        return split_into_segments(hashed_texts(b, false), limits).scratch_bytes();
    return 2 * tile_list_bytes(b.message_count) +
           listed_scratch_bytes(b.message_count, listed_sizes(b, limits).segments);
}

inline Tiling one_pass_tiling(const warpseal_batch& b, const Limits& limits) {
    return divide(b, b.aad_bytes, 16, b.keys != nullptr, limits);
}

// Scratch of one pass: a GHASH value for each message of several tiles.
inline size_t one_pass_scratch_bytes(const Tiling& tiling) {
    return tiling.tiles == 1 ? 0 : sizeof(Block<4>) * tiling.message_count;
}

// Scratch of a batch in either direction.
inline size_t gcm_scratch_bytes(const warpseal_scattered_batch& messages, const Limits& limits) {
    const warpseal_batch& b = messages.batch;
    if (b.message_count == 0) return 0;
    const size_t one_pass = one_pass_scratch_bytes(one_pass_tiling(b, limits));
    if (!takes_two_passes(messages, limits)) return one_pass;
    return std::max(one_pass, two_pass_scratch_bytes(b, rest_of_scratch_bytes(b, limits)));
}

}  // namespace warpseal::cuda
