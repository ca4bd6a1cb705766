// Validates batches from callers: every count, stride and pointer is checked here, once.
#include "engine/calls/batch_check.h"

#include <algorithm>

#include "engine/refusal.h"

namespace warpseal {
namespace {

constexpr uint64_t address_limit = uint64_t{1} << 62;  // the sum of two such offsets does not wrap

bool product_fits(uint64_t a, uint64_t b) { return b == 0 || a <= address_limit / b; }

// True if a message at strides may overwrite the input of another, so that the result depends on
// the order.
// The messages have at most `longest` bytes, read in_bytes of `in` and write out_bytes of `out`.
// Order does not matter if the two ranges are disjoint, identical, or interleaved fields of records
// with one stride.
bool order_matters(const warpseal_batch& batch, uint64_t longest, uint64_t in_bytes,
                   uint64_t out_bytes) {
    const auto in = reinterpret_cast<uintptr_t>(batch.in),
               out = reinterpret_cast<uintptr_t>(batch.out);
    const bool wholly_apart = in < out ? out - in >= in_bytes : in - out >= out_bytes;
    if (batch.message_count < 2 || longest == 0 || wholly_apart) return false;
    const uint64_t stride = batch.in_stride;
    if (stride != batch.out_stride || stride == 0) return true;
    // Distance from a message's input to the next output.
    const uint64_t ahead = in < out ? (out - in) % stride : (stride - (in - out) % stride) % stride;
    return in != out && (ahead < longest || stride - ahead < longest);
}

// True if messages under one key must share an IV. In these modes that reveals the XOR of their
// texts.
bool repeats_keystream(warpseal_mode mode, Direction direction, const warpseal_batch& batch) {
    const bool keystream = mode == WARPSEAL_CTR || mode == WARPSEAL_OFB || aead(mode);
    return keystream && direction == Direction::encrypt && batch.keys == nullptr &&
           batch.message_count > 1 && batch.iv_stride < batch.iv_bytes;
}

warpseal_status refuse_order() {
    return refuse("out overlaps in of another message: give the same strides or disjoint memory");
}

bool by_strides(const warpseal_batch& batch) {
    return batch.in_offsets == nullptr && batch.out_offsets == nullptr;
}

warpseal_status check_text_pointers(warpseal_mode mode, const warpseal_batch& batch) {
    if (batch.in == nullptr) return refuse("batch.in is null");
    if (mode != WARPSEAL_CMAC && batch.out == nullptr) return refuse("batch.out is null");
    return WARPSEAL_OK;
}

// Checks the strides of tags and IVs, and the pointers of AAD, text and statuses.
warpseal_status check_pointers(warpseal_mode mode, Direction direction,
                               const warpseal_batch& batch) {
    const bool mac = mode == WARPSEAL_CMAC;
    if (tagged(mode) && direction == Direction::encrypt && batch.message_count > 1 &&
        batch.tag_stride < batch.tag_bytes)
        return refuse("batch.tag_stride is less than tag_bytes: tags would overlap");
    if (tagged(mode) && direction == Direction::decrypt && batch.statuses == nullptr)
        return refuse("batch.statuses is null: it says which messages verify");
    if (batch.aad == nullptr && batch.aad_bytes != 0) return refuse("batch.aad is null");
    if (repeats_keystream(mode, direction, batch))
        return refuse("batch.iv_stride is less than iv_bytes: give each message its own IV");
    if (batch.lengths == nullptr && batch.message_bytes != 0)
        if (const warpseal_status status = check_text_pointers(mode, batch); status != WARPSEAL_OK)
            return status;
    if (mac && batch.out != nullptr) return refuse("batch.out is not null: a MAC writes no text");
    return WARPSEAL_OK;
}

// Checks that no stride leads out of the address space or to a message before it.
warpseal_status check_strides(warpseal_mode mode, const warpseal_batch& batch) {
    const bool mac = mode == WARPSEAL_CMAC;
    const uint64_t count = batch.message_count;
    for (const uint64_t stride :
         {batch.iv_stride, batch.aad_stride, batch.tag_stride, batch.in_stride, batch.out_stride})
        if (!product_fits(count, stride))
            return refuse("batch: message_count times a stride is past the address space");
    // Messages of one length at a smaller stride would overwrite each other.
    if (!mac && batch.lengths == nullptr && batch.out_offsets == nullptr && count > 1 &&
        batch.out_stride < batch.message_bytes)
        return refuse("batch.out_stride is less than message_bytes: outputs would overlap");
    // No sum wraps: with two or more messages, message_bytes is at most out_stride.
    if (!mac && batch.lengths == nullptr && by_strides(batch)) {
        const uint64_t last = count - 1, bytes = batch.message_bytes;
        if (order_matters(batch, bytes, last * batch.in_stride + bytes,
                          last * batch.out_stride + bytes))
            return refuse_order();
    }
    return WARPSEAL_OK;
}

}  // namespace

bool lacks_text(warpseal_mode mode, const warpseal_batch& batch) {
    return batch.in == nullptr || (mode != WARPSEAL_CMAC && batch.out == nullptr);
}

warpseal_status check_batch(const Key& key, warpseal_mode mode, Direction direction,
                            const warpseal_batch& batch) {
    if (!known(mode) || mode == WARPSEAL_ECB || mode == WARPSEAL_XTS || !key.supports(mode))
        return refuse("mode is %s: batches have modes with an IV, and cmac",
                      known(mode) ? mode_name(mode) : "unknown");
    const CpuCipher& cipher = key.facts();
    if (!runs(&cipher, BackendEntry::batch, mode, direction))
        return refuse_as(WARPSEAL_UNSUPPORTED, "mode is %s: %s does not have it", mode_name(mode),
                         cipher.name);
    if (batch.reserved != 0) return refuse("batch.reserved is not 0");
    if (batch.message_count == 0) return WARPSEAL_OK;
    if (mode != WARPSEAL_CMAC && batch.ivs == nullptr) return refuse("batch.ivs is null");
    if (tagged(mode) && batch.tags == nullptr) return refuse("batch.tags is null");
    warpseal_status status = check_iv(mode, cipher, batch.iv_bytes);
    if (status == WARPSEAL_OK) status = check_tag(mode, cipher, batch.tag_bytes);
    if (status == WARPSEAL_OK) status = check_aad(mode, batch.aad_bytes);
    if (status == WARPSEAL_OK && batch.lengths == nullptr)
        status = check_text(mode, cipher, batch.iv_bytes, batch.message_bytes);
    if (status == WARPSEAL_OK) status = check_pointers(mode, direction, batch);
    return status == WARPSEAL_OK ? check_strides(mode, batch) : status;
}

warpseal_status check_host_messages(const CipherFacts& cipher, warpseal_mode mode,
                                    const warpseal_batch& batch, uint64_t& total_bytes) {
    total_bytes = 0;
    uint64_t longest = 0, in_end = 0, out_end = 0;
    for (uint64_t i = 0; i < batch.message_count; ++i) {
        const uint64_t bytes = batch.lengths != nullptr ? batch.lengths[i] : batch.message_bytes;
        const uint64_t from =
            batch.in_offsets != nullptr ? batch.in_offsets[i] : i * batch.in_stride;
        const uint64_t to =
            batch.out_offsets != nullptr ? batch.out_offsets[i] : i * batch.out_stride;
        if (const warpseal_status status = check_text(mode, cipher, batch.iv_bytes, bytes);
            status != WARPSEAL_OK)
            return status;
        if (bytes != 0)
            if (const warpseal_status status = check_text_pointers(mode, batch);
                status != WARPSEAL_OK)
                return status;
        if (bytes > address_limit || from > address_limit || to > address_limit)
            return refuse("batch: message %llu lies past the address space",
                          static_cast<unsigned long long>(i));
        if (bytes != 0 && mode != WARPSEAL_CMAC && overlap(batch.in + from, batch.out + to, bytes))
            return refuse("batch: out of message %llu overlaps its in",
                          static_cast<unsigned long long>(i));
        // Without offsets, outputs begin in the order of the messages.
        if (bytes != 0 && mode != WARPSEAL_CMAC && batch.out_offsets == nullptr && to < out_end)
            return refuse("batch.out_stride: out of message %llu overlaps that of one before it",
                          static_cast<unsigned long long>(i));
        total_bytes += bytes;
        if (total_bytes > address_limit)
            return refuse("batch: the lengths add up past the address space");
        longest = std::max(longest, bytes);
        in_end = std::max(in_end, from + bytes);
        out_end = std::max(out_end, to + bytes);
    }
    if (mode != WARPSEAL_CMAC && by_strides(batch) &&
        order_matters(batch, longest, in_end, out_end))
        return refuse_order();
    return WARPSEAL_OK;
}

warpseal_status check_device_text(warpseal_mode mode, const warpseal_batch& batch) {
    if (batch.message_count == 0) return WARPSEAL_OK;
    if (batch.lengths != nullptr) return check_text_pointers(mode, batch);
    // Strides of several messages were checked with the struct.
    if (mode != WARPSEAL_CMAC && batch.message_count == 1 && by_strides(batch) &&
        overlap(batch.in, batch.out, batch.message_bytes))
        return refuse("out overlaps in: give the same address or disjoint memory");
    return WARPSEAL_OK;
}

}  // namespace warpseal
