// Writes FLOE.
#include <cstring>

#include "cli/foreign/floe_segments.h"

namespace warpseal::cli {
namespace {

constexpr uint32_t default_segment_bytes = uint32_t{1} << 20;

class FloeSealing {
public:
    FloeSealing(ForeignJob& job, const FloeKeys& keys, uint32_t segment_bytes)
        : job_(job),
          segments_(job, keys, segment_bytes),
          segment_bytes_(segment_bytes),
          most_(floe_batch_segments(segment_bytes)),
          sealed_(job.engine(), most_ * segment_bytes),
          nonces_(most_ * FloeHeader::nonce_bytes) {}

    void run() {
        const size_t step = most_ * segments_.text_bytes();
        FloeBuffer first(job_.engine(), step), second(job_.engine(), step);
        FloeBuffer *now = &first, *ahead = &second;
        now->fill(job_, step);
        // The next text is read ahead, because the last segment must be known as such.
        for (bool last = false; !last; std::swap(now, ahead)) {
            ahead->size = 0;
            if (now->size == step) ahead->fill(job_, step);
            last = ahead->size == 0;
            seal(now->data(), now->size, last);
        }
    }
    uint64_t text_bytes() const { return done_; }

private:
    // Seals text of whole segments, but for the last.
    void seal(const uint8_t* text, size_t bytes, bool last) {
        const uint64_t each = segments_.text_bytes();
        // The last segment is full where the text ends with it, and empty only if the text is.
        const uint64_t internal = last && bytes != 0 ? (bytes - 1) / each : bytes / each;
        const uint64_t count = internal + (last ? 1 : 0);
        FloeSegments::require_within_limit(job_, position_, count);
        job_.require(warpseal_random(nonces_.data(), count * FloeHeader::nonce_bytes));
        for (uint64_t i = 0; i < count; ++i) begin_segment(i, FloeHeader::inner_length);
        if (internal != 0) {
            warpseal_batch batch = segments_.batch(position_, internal, sealed_.data());
            batch.in = text;
            batch.in_stride = each;
            batch.out = sealed_.data() + FloeHeader::length_bytes + FloeHeader::nonce_bytes;
            batch.out_stride = segment_bytes_;
            job_.require(
                warpseal_seal_batch_unsafe_iv(segments_.key(position_), WARPSEAL_GCM, &batch));
        }
        size_t sealed_bytes = internal * segment_bytes_;
        if (last)
            sealed_bytes += seal_last(internal, text + internal * each, bytes - internal * each);
        job_.write(sealed_.data(), sealed_bytes);
        position_ += count;
        done_ += bytes;
    }

    void begin_segment(uint64_t index, uint32_t length) {
        uint8_t* const segment = sealed_.data() + index * segment_bytes_;
        store_big_endian(segment, length, FloeHeader::length_bytes);
        std::memcpy(segment + FloeHeader::length_bytes,
                    nonces_.data() + index * FloeHeader::nonce_bytes, FloeHeader::nonce_bytes);
    }

    // Returns the length of the segment.
    size_t seal_last(uint64_t index, const uint8_t* text, size_t bytes) {
        const size_t length = bytes + FloeHeader::segment_overhead;
        begin_segment(index, static_cast<uint32_t>(length));
        uint8_t* const nonce = sealed_.data() + index * segment_bytes_ + FloeHeader::length_bytes;
        uint8_t* const out = nonce + FloeHeader::nonce_bytes;
        uint8_t aad[FloeSegments::aad_bytes];
        FloeSegments::store_aad(aad, position_ + index, true);
        job_.require(warpseal_seal_unsafe_iv(segments_.key(position_ + index), WARPSEAL_GCM, nonce,
                                             FloeHeader::nonce_bytes, aad, sizeof aad, text, out,
                                             bytes, out + bytes, FloeHeader::segment_tag_bytes));
        return length;
    }

    ForeignJob& job_;
    FloeSegments segments_;
    const uint32_t segment_bytes_;
    const size_t most_;
    FloeBuffer sealed_;
    std::vector<uint8_t> nonces_;
    uint64_t position_ = 0, done_ = 0;
};

}  // namespace

void seal_floe(ForeignJob& job, Secrets& secrets) {
    const ForeignChoice& options = job.options();
    const std::vector<uint8_t> aad = read_aad(job);
    FloeHeader header;
    header.set_parameters(options.segment_bytes ? static_cast<uint32_t>(options.segment_bytes)
                                                : default_segment_bytes);
    job.require(warpseal_random(header.bytes + FloeHeader::parameter_bytes, FloeHeader::iv_bytes));
    const FloeKeys keys(static_cast<const uint8_t*>(secrets.list().front().bytes), header, aad);
    std::memcpy(header.bytes + FloeHeader::bound_bytes, keys.header_tag(), FloeHeader::tag_bytes);
    secrets.wipe();
    job.write(header.bytes, sizeof header.bytes);
    FloeSealing sealing(job, keys, header.segment_bytes());
    sealing.run();
    job.done(warpseal_engine_pick(job.engine(), "aes-256", WARPSEAL_GCM, sealing.text_bytes()),
             sealing.text_bytes());
}

}  // namespace warpseal::cli
