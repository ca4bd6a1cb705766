// Messages of a batch, and the output or verification of their tags.
#pragma once

#include "backends/cipher_backend.h"
#include "core/block.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

struct Message {
    const uint8_t* iv;
    const uint8_t* in;
    uint8_t* out;
    size_t bytes;
};

WARPSEAL_INLINE Message message_of(const warpseal_batch& batch, uint64_t i) {
    return {batch.ivs + i * batch.iv_stride,
            batch.in + (batch.in_offsets ? batch.in_offsets[i] : i * batch.in_stride),
            batch.out + (batch.out_offsets ? batch.out_offsets[i] : i * batch.out_stride),
            static_cast<size_t>(batch.lengths ? batch.lengths[i] : batch.message_bytes)};
}

// Publishes the result of a tag comparison. This is the only branch on it; the result is public
// from here on. Returns the number of wrong tags, 0 or 1.
__attribute__((noinline)) uint64_t publish_result(uint32_t difference, int32_t* status,
                                                  uint8_t* out, size_t bytes) {
    const bool good = difference == 0;
    if (status) *status = good ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
    if (!good) wipe(out, bytes);
    return !good;
}

// Encryption: writes the tag of message i. Decryption: compares it, and wipes `bytes` bytes of
// `out` if it is wrong. Returns the number of wrong tags.
template <int words>
uint64_t settle_tag(Direction direction, const warpseal_batch& batch, uint64_t i,
                    const Block<words>& tag, uint8_t* out, size_t bytes) {
    uint8_t* const theirs = batch.tags + i * batch.tag_stride;
    int32_t* const status = batch.statuses ? batch.statuses + i : nullptr;
    SecretOf<uint8_t[4 * words]> ours;
    store_block(ours.value, tag);
    if (direction == Direction::encrypt) {
        if (batch.tag_bytes == sizeof ours.value)  // avoids a call of memcpy for a full tag
            store_block(theirs, tag);
        else
            memcpy(theirs, ours.value, batch.tag_bytes);
        if (status) *status = WARPSEAL_OK;
        return 0;
    }
    return publish_result(difference_of(ours.value, theirs, batch.tag_bytes), status, out, bytes);
}

}  // namespace
}  // namespace warpseal::cpu
