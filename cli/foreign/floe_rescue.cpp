// Rescues the segments of a damaged FLOE file that verify.
#include <algorithm>
#include <utility>

#include "cli/files/rescued_text.h"
#include "cli/foreign/floe_segments.h"

namespace warpseal::cli {
namespace {

class FloeRescue {
public:
    FloeRescue(ForeignJob& job, const FloeKeys& keys, uint32_t segment_bytes, RescuedText& to)
        : job_(job),
          segments_(job, keys, segment_bytes),
          segment_bytes_(segment_bytes),
          to_(to),
          now_(job.engine(), segment_bytes),
          next_(job.engine(), segment_bytes),
          first_of_hole_(job.engine(), segment_bytes),
          text_(job.engine(), segments_.text_bytes() + 1) {}

    void run() {
        read(now_);
        while (now_.size > 0) {
            read(next_);
            if (take()) return;
            now_.swap(next_);
            ++position_;
        }
        find_end();
    }
    bool end_found() const { return end_found_; }
    uint64_t bytes_after_end() const { return bytes_after_end_; }

private:
    static constexpr uint32_t overhead = FloeHeader::segment_overhead;

    void read(FloeBuffer& piece) {
        piece.fill(job_, segment_bytes_);
        sealed_bytes_ += piece.size;
    }
    // The length field is not used: what verifies is authentic at its position.
    bool open(const FloeBuffer& piece, uint64_t position, size_t bytes, bool final) {
        const size_t text_bytes = bytes - overhead;
        const uint8_t* const nonce = piece.data() + FloeHeader::length_bytes;
        const uint8_t* const sealed = nonce + FloeHeader::nonce_bytes;
        uint8_t aad[FloeSegments::aad_bytes];
        FloeSegments::require_within_limit(job_, position, 1);
        FloeSegments::store_aad(aad, position, final);
        const warpseal_status status = warpseal_open(
            segments_.key(position), WARPSEAL_GCM, nonce, FloeHeader::nonce_bytes, aad, sizeof aad,
            sealed, text_.data(), text_bytes, sealed + text_bytes, FloeHeader::segment_tag_bytes);
        if (status != WARPSEAL_NOT_AUTHENTIC) job_.require(status);
        return status == WARPSEAL_OK;
    }
    // Returns true if it is the last segment.
    bool take() {
        const bool whole = now_.size == segment_bytes_;
        const bool verified = whole && open(now_, position_, now_.size, false);
        end_found_ = !verified && now_.size >= overhead && open(now_, position_, now_.size, true);
        if (verified || end_found_) {
            to_.text(text_.data(), now_.size - overhead);
            has_hole_ = false;
        } else {
            add_hole(whole);
        }
        if (end_found_) {
            const uint64_t end = position_ * segment_bytes_ + now_.size;
            while (next_.size > 0) read(next_);
            bytes_after_end_ = sealed_bytes_ - end;
        }
        return end_found_;
    }
    void add_hole(bool whole) {
        if (!has_hole_) {
            has_hole_ = true;
            hole_position_ = position_;
            std::copy_n(now_.data(), now_.size, first_of_hole_.data());
            first_of_hole_.size = now_.size;
        }
        to_.hole(std::max<size_t>(now_.size, overhead) - overhead,
                 whole ? WARPSEAL_HOLE_NOT_AUTHENTIC : WARPSEAL_HOLE_CUT_OR_CHANGED);
    }
    // Bytes that follow the last segment hide it. Its length field tells where it ends.
    void find_end() {
        if (!has_hole_ || first_of_hole_.size < overhead) return;
        const uint64_t bytes = load_big_endian(first_of_hole_.data(), FloeHeader::length_bytes);
        if (bytes < overhead || bytes >= first_of_hole_.size ||
            !open(first_of_hole_, hole_position_, bytes, true))
            return;
        to_.drop_hole();
        to_.text(text_.data(), bytes - overhead);
        end_found_ = true;
        bytes_after_end_ = sealed_bytes_ - (hole_position_ * segment_bytes_ + bytes);
    }

    ForeignJob& job_;
    FloeSegments segments_;
    const uint32_t segment_bytes_;
    RescuedText& to_;
    FloeBuffer now_, next_, first_of_hole_, text_;
    uint64_t position_ = 0, hole_position_ = 0, sealed_bytes_ = 0, bytes_after_end_ = 0;
    bool has_hole_ = false, end_found_ = false;
};

}  // namespace

warpseal_status rescue_floe(ForeignJob& job, Secrets& secrets, Output& output,
                            warpseal_rescue& report, warpseal_file_result& result) {
    const FloeStart start(job, secrets);
    RescuedText text(output, report);
    FloeRescue rescue(job, start.keys(), start.header.segment_bytes(), text);
    rescue.run();
    const warpseal_status status =
        text.finish(rescue.end_found(), rescue.bytes_after_end(), result);
    result.target =
        warpseal_engine_pick(job.engine(), "aes-256", WARPSEAL_GCM, result.plaintext_bytes);
    return status;
}

}  // namespace warpseal::cli
