// Batches come from outside: every count, stride and pointer is looked at once, here.
#include "engine/batch_check.h"

#include "engine/inside.h"

namespace warpseal {
namespace {

constexpr uint64_t gcm_text_limit = (uint64_t{1} << 36) - 32;  // bytes; SP 800-38D 5.2.1.1
constexpr uint64_t address_limit = uint64_t{1} << 62;          // no sum of two such offsets wraps

bool product_fits(uint64_t a, uint64_t b) { return b == 0 || a <= address_limit / b; }

}  // namespace

warpseal_status check_batch(const CpuCipher& cipher, warpseal_mode mode, Direction direction, const warpseal_batch& batch) {
    if (mode < 0 || mode >= WARPSEAL_MODE_COUNT || mode == WARPSEAL_ECB) return WARPSEAL_INVALID_ARGUMENT;
    if ((cipher.modes >> mode & 1) == 0 || cipher.batch[mode][static_cast<int>(direction)] == nullptr) return WARPSEAL_UNSUPPORTED;
    if (batch.reserved != 0) return WARPSEAL_INVALID_ARGUMENT;
    const uint64_t count = batch.message_count;
    if (count == 0) return WARPSEAL_OK;
    const bool gcm = mode == WARPSEAL_GCM;
    if (batch.ivs == nullptr || (gcm ? batch.iv_bytes == 0 : batch.iv_bytes != cipher.block_bytes)) return WARPSEAL_INVALID_ARGUMENT;
    if (gcm && (batch.tags == nullptr || batch.tag_bytes == 0 || batch.tag_bytes > 16)) return WARPSEAL_INVALID_ARGUMENT;
    if (!gcm && (batch.tag_bytes != 0 || batch.aad_bytes != 0)) return WARPSEAL_INVALID_ARGUMENT;
    if (gcm && direction == Direction::encrypt && count > 1 && batch.tag_stride < batch.tag_bytes) return WARPSEAL_INVALID_ARGUMENT;
    if (gcm && direction == Direction::decrypt && batch.statuses == nullptr) return WARPSEAL_INVALID_ARGUMENT;
    if (batch.aad == nullptr && batch.aad_bytes != 0) return WARPSEAL_INVALID_ARGUMENT;
    const bool any_text = batch.lengths != nullptr || batch.message_bytes != 0;
    if (any_text && (batch.in == nullptr || batch.out == nullptr)) return WARPSEAL_INVALID_ARGUMENT;
    for (const uint64_t stride : {batch.iv_stride, batch.aad_stride, batch.tag_stride, batch.in_stride, batch.out_stride})
        if (!product_fits(count, stride)) return WARPSEAL_INVALID_ARGUMENT;
    if (batch.lengths == nullptr && gcm && batch.message_bytes > gcm_text_limit) return WARPSEAL_LIMIT_EXCEEDED;
    // Messages of one length at strides below it would be written over each other.
    if (batch.lengths == nullptr && batch.out_offsets == nullptr && count > 1 && batch.out_stride < batch.message_bytes)
        return WARPSEAL_INVALID_ARGUMENT;
    return WARPSEAL_OK;
}

warpseal_status check_host_messages(warpseal_mode mode, const warpseal_batch& batch, uint64_t& total_bytes) {
    total_bytes = 0;
    for (uint64_t i = 0; i < batch.message_count; ++i) {
        const uint64_t bytes = batch.lengths != nullptr ? batch.lengths[i] : batch.message_bytes;
        const uint64_t from = batch.in_offsets != nullptr ? batch.in_offsets[i] : i * batch.in_stride;
        const uint64_t to = batch.out_offsets != nullptr ? batch.out_offsets[i] : i * batch.out_stride;
        if (mode == WARPSEAL_GCM && bytes > gcm_text_limit) return WARPSEAL_LIMIT_EXCEEDED;
        if (bytes > address_limit || from > address_limit || to > address_limit) return WARPSEAL_INVALID_ARGUMENT;
        if (overlap(batch.in + from, batch.out + to, bytes)) return WARPSEAL_INVALID_ARGUMENT;
        total_bytes += bytes;
        if (total_bytes > address_limit) return WARPSEAL_INVALID_ARGUMENT;
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal
