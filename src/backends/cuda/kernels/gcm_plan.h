// Plans a batch in GCM: one pass or two, its tiles, and the bytes of scratch.
#pragma once

#include "backends/batch_message.h"
#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kernels/gcm_tiles.h"
#include "backends/cuda/kernels/ghash.h"
#include "backends/cuda/kernels/tiles.cuh"

namespace warpseal::cuda {

// True if two passes support this batch and are expected to be faster.
inline bool takes_two_passes(const warpseal_scattered_batch& messages, const Limits& limits) {
    const warpseal_batch& b = messages.batch;
    if (!has_ghash(limits) || b.keys != nullptr || b.lengths != nullptr || is_scattered(messages))
        return false;
    const uint64_t strides = b.message_count > 1 ? b.in_stride | b.out_stride : 0;
    return (reinterpret_cast<uintptr_t>(b.in) | reinterpret_cast<uintptr_t>(b.out) | strides) %
                   16 ==
               0 &&
           b.aad_bytes <= tuning::two_pass_aad_bytes &&
           b.message_bytes >= limits.min_bytes(tuning::two_pass_message_bytes) &&
           b.message_bytes >= limits.min_bytes(tuning::two_pass_bytes) / b.message_count;
}

// Whole ciphertext blocks of a batch whose messages have one length.
inline HashedTexts hashed_texts(const warpseal_batch& b, bool opens) {
    return {opens ? b.in : b.out, opens ? b.in_stride : b.out_stride, b.message_count,
            b.message_bytes / 16};
}

// Scratch of two passes: the count of items taken, a GHASH value and J0 for each message, and the
// scratch of GHASH.
inline size_t two_pass_scratch_bytes(const warpseal_batch& b, const Segments& segments) {
    return sizeof(Block<4>) * (1 + 2 * b.message_count) + segments.scratch_bytes();
}

inline Tiling one_pass_tiling(const warpseal_batch& b, const Limits& limits) {
    return divide(b, b.aad_bytes, 16, b.keys != nullptr, limits);
}

// Scratch of one pass: a GHASH value for each message of several tiles, and the tiles if the
// device counts them.
inline size_t one_pass_scratch_bytes(const warpseal_batch& b, const Tiling& tiling) {
    return (tiling.tiles == 1 ? 0 : sizeof(Block<4>) * tiling.message_count) +
           (b.lengths != nullptr ? device_tiles_bytes(b.message_count) : 0);
}

// Scratch of a batch in either direction.
inline size_t gcm_scratch_bytes(const warpseal_scattered_batch& messages, const Limits& limits) {
    const warpseal_batch& b = messages.batch;
    if (b.message_count == 0) return 0;
    const size_t one_pass = one_pass_scratch_bytes(b, one_pass_tiling(b, limits));
    if (!takes_two_passes(messages, limits)) return one_pass;
    // The number of segments does not depend on the direction.
    const Segments segments = split_into_segments(hashed_texts(b, false), limits);
    return std::max(one_pass, two_pass_scratch_bytes(b, segments));
}

}  // namespace warpseal::cuda
