// Batches of FLOE segments: one message of AES-256-GCM for each segment.
#include "cli/foreign/floe_segments.h"

namespace warpseal::cli {

void FloeSegments::require_within_limit(ForeignJob& job, uint64_t position, uint64_t count) {
    if (position + count > FloeHeader::most_segments)
        job.fail(WARPSEAL_LIMIT_EXCEEDED, "a FLOE file has at most 2^40 segments");
}

warpseal_batch FloeSegments::batch(uint64_t position, uint64_t count, uint8_t* sealed) {
    require_within_limit(job_, position, count);
    aad_.resize(count * aad_bytes);
    for (uint64_t i = 0; i < count; ++i) store_aad(&aad_[i * aad_bytes], position + i, false);
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = FloeHeader::nonce_bytes;
    batch.tag_bytes = FloeHeader::segment_tag_bytes;
    batch.message_count = count;
    batch.message_bytes = text_bytes();
    batch.ivs = sealed + FloeHeader::length_bytes;
    batch.iv_stride = batch.tag_stride = segment_bytes_;
    batch.aad = aad_.data();
    batch.aad_bytes = batch.aad_stride = aad_bytes;
    batch.tags = sealed + segment_bytes_ - FloeHeader::segment_tag_bytes;
    return batch;
}

const warpseal_key* FloeSegments::key(uint64_t position) {
    const uint64_t number = position / FloeHeader::segments_per_key;
    if (key_ && number == key_number_) return key_.get();
    const SecretBytes bytes = keys_.segment_key(position);
    warpseal_key* made = nullptr;
    job_.require(warpseal_key_create(job_.engine(), "aes-256", bytes.data(), bytes.size, &made));
    key_.reset(made);
    key_number_ = number;
    return made;
}

}  // namespace warpseal::cli
