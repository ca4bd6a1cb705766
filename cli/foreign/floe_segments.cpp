// Batches of FLOE segments: one message of AES-256-GCM for each segment.
#include "cli/foreign/floe_segments.h"

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

FloeHeader read_header(ForeignJob& job) {
    FloeHeader header;
    size_t held = 0;
    while (held < sizeof header.bytes) {
        const size_t got = job.read(header.bytes + held, sizeof header.bytes - held);
        if (got == 0) break;
        held += got;
    }
    const std::string refused =
        held < FloeHeader::parameter_bytes ? "" : header.refused_parameters();
    if (!refused.empty())
        job.fail(WARPSEAL_UNSUPPORTED, "not a FLOE file that can be read: " + refused);
    if (held < sizeof header.bytes)
        job.fail(WARPSEAL_TRUNCATED, cli::format("it has {} bytes, and the header of FLOE has {}",
                                                 held, sizeof header.bytes));
    return header;
}

}  // namespace

FloeStart::FloeStart(ForeignJob& job, Secrets& secrets)
    : aad_(read_aad(job)), header(read_header(job)) {
    for (const warpseal_secret& secret : secrets.list()) {
        keys_.emplace(static_cast<const uint8_t*>(secret.bytes), header, aad_);
        if (keys_->opens_header()) break;
        keys_.reset();
    }
    if (!keys_)
        job.fail(WARPSEAL_WRONG_KEY, "wrong key file or wrong AAD, or the header was changed");
    secrets.wipe();
}

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
