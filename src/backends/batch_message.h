// Memory of one message of a batch in device memory, and the IVs that a GPU draws for it: the same
// code for kernels and for tests on the host.
#pragma once

#include "backends/cipher_backend.h"
#include "core/word.h"

namespace warpseal {

// Memory of one part of every message: at pointers, at offsets from a base, or at a stride.
struct BatchPart {
    const uint8_t* base;
    const uint64_t* offsets;
    uint64_t stride;
    const uint8_t* const* pointers;
    uint64_t extent;  // bytes of memory at the base; 0: unknown

    WARPSEAL_INLINE bool scattered() const { return pointers != nullptr || offsets != nullptr; }
    WARPSEAL_INLINE uint64_t offset(uint64_t i) const {
        return offsets != nullptr ? offsets[i] : i * stride;
    }
    // Null for a part that the mode does not have.
    WARPSEAL_INLINE const uint8_t* at(uint64_t i) const {
        if (pointers != nullptr) return pointers[i];
        return base == nullptr ? nullptr : base + offset(i);
    }
    // True if `bytes` bytes of message i end within the extent.
    WARPSEAL_INLINE bool holds(uint64_t i, uint64_t bytes) const {
        if (extent == 0 || bytes == 0 || pointers != nullptr) return true;
        return offset(i) <= extent && bytes <= extent - offset(i);
    }
};

WARPSEAL_INLINE BatchPart in_of(const warpseal_scattered_batch& b) {
    return {b.batch.in, b.batch.in_offsets, b.batch.in_stride, b.in_pointers, b.in_extent};
}
WARPSEAL_INLINE BatchPart out_of(const warpseal_scattered_batch& b) {
    return {b.batch.out, b.batch.out_offsets, b.batch.out_stride, b.out_pointers, b.out_extent};
}
WARPSEAL_INLINE BatchPart ivs_of(const warpseal_scattered_batch& b) {
    return {b.batch.ivs, b.iv_offsets, b.batch.iv_stride, b.iv_pointers, b.iv_extent};
}
WARPSEAL_INLINE BatchPart aad_of(const warpseal_scattered_batch& b) {
    return {b.batch.aad, b.aad_offsets, b.batch.aad_stride, b.aad_pointers, b.aad_extent};
}
WARPSEAL_INLINE BatchPart tags_of(const warpseal_scattered_batch& b) {
    return {b.batch.tags, b.tag_offsets, b.batch.tag_stride, b.tag_pointers, b.tag_extent};
}

struct BatchMessage {
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    const uint8_t* iv;
    const uint8_t* aad;
    uint64_t aad_bytes;
    uint8_t* tag;
    int32_t* status;
};

WARPSEAL_INLINE BatchMessage message_of(const warpseal_scattered_batch& b, uint64_t i) {
    return {in_of(b).at(i),
            const_cast<uint8_t*>(out_of(b).at(i)),
            b.batch.lengths != nullptr ? b.batch.lengths[i] : b.batch.message_bytes,
            ivs_of(b).at(i),
            aad_of(b).at(i),
            b.aad_lengths != nullptr ? b.aad_lengths[i] : b.batch.aad_bytes,
            const_cast<uint8_t*>(tags_of(b).at(i)),
            b.batch.statuses != nullptr ? b.batch.statuses + i : nullptr};
}

// True if every part of message i ends within its extent.
WARPSEAL_INLINE bool within_extents(const warpseal_scattered_batch& b, uint64_t i,
                                    const BatchMessage& m) {
    if ((b.in_extent | b.out_extent | b.iv_extent | b.aad_extent | b.tag_extent) == 0) return true;
    return in_of(b).holds(i, m.bytes) && out_of(b).holds(i, m.bytes) &&
           ivs_of(b).holds(i, b.batch.iv_bytes) && aad_of(b).holds(i, m.aad_bytes) &&
           tags_of(b).holds(i, b.batch.tag_bytes);
}

// Lengths of a message's text and AAD that a mode takes.
struct MessageLimits {
    uint64_t text_bytes = UINT64_MAX, aad_bytes = UINT64_MAX;
    uint32_t block_bytes = 1;  // the text has a multiple of this
};

// Returns WARPSEAL_OK if message i may be processed, or the status that it gets instead.
WARPSEAL_INLINE warpseal_status refusal_of(const warpseal_scattered_batch& b, uint64_t i,
                                           const BatchMessage& m, const MessageLimits& limits) {
    if (!within_extents(b, i, m) || m.bytes % limits.block_bytes != 0)
        return WARPSEAL_INVALID_ARGUMENT;
    return m.bytes > limits.text_bytes || m.aad_bytes > limits.aad_bytes ? WARPSEAL_LIMIT_EXCEEDED
                                                                         : WARPSEAL_OK;
}

// True if only the device knows where a part of the messages lies, or how long the AAD is.
inline bool is_scattered(const warpseal_scattered_batch& b) {
    return in_of(b).scattered() || out_of(b).scattered() || ivs_of(b).scattered() ||
           aad_of(b).scattered() || tags_of(b).scattered() || b.aad_lengths != nullptr;
}

// Returns the batch as a scattered one, of which nothing is.
inline warpseal_scattered_batch as_scattered(const warpseal_batch& batch) {
    warpseal_scattered_batch all = {};
    all.batch = batch;
    all.batch.struct_bytes = sizeof all;
    return all;
}

// Counter in device memory from which a GPU draws IVs of 96 bits: start + next, modulo 2^96.
struct IvCounter {
    static constexpr uint32_t iv_bytes = 12;
    uint8_t start[iv_bytes];
    uint8_t unused[4];
    uint64_t next;
};

// Writes IV number n: the incrementing function of SP 800-38D 8.2.2 applied n times to `start`.
WARPSEAL_INLINE void write_drawn_iv(const uint8_t* start, uint64_t n, uint8_t* iv) {
    const uint64_t low = load_be64(start + 4), sum = low + n;
    store_be32(iv, swap_bytes(load_le32(start)) + (sum < low ? 1 : 0));
    store_be64(iv + 4, sum);
}

}  // namespace warpseal
