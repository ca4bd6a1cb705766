// Reads FLOE. Only segments whose tags verified are written, in order.
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "cli/files/range.h"
#include "cli/foreign/floe_segments.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

class FloeOpening {
public:
    FloeOpening(ForeignJob& job, const FloeKeys& keys, uint32_t segment_bytes)
        : job_(job),
          segments_(job, keys, segment_bytes),
          segment_bytes_(segment_bytes),
          most_(floe_batch_segments(segment_bytes)),
          sealed_(job.engine(), most_ * segment_bytes),
          text_(job.engine(), most_ * segments_.text_bytes() + 1),
          statuses_(most_) {}

    void run() {
        for (bool last = false; !last; last = open_some()) {
        }
    }
    // Opens the last segment, then those of the range. Without the last one, a cut file would look
    // like a shorter one.
    void run(const Range& range) {
        const off_t begin = lseek(job_.input(), 0, SEEK_CUR);
        struct stat about;
        if (begin < 0 || fstat(job_.input(), &about) != 0)
            job_.fail(WARPSEAL_IO, "its position is not known");
        const auto sealed = static_cast<uint64_t>(std::max<off_t>(about.st_size - begin, 0));
        const uint64_t last = (std::max<uint64_t>(sealed, 1) - 1) / segment_bytes_;
        left_ = 0;
        go_to(begin, last);
        if (!open_some()) fail_without_last();
        const uint64_t each = segments_.text_bytes();
        const uint64_t text =
            last * each + sealed - last * segment_bytes_ - FloeHeader::segment_overhead;
        left_ = bytes_within(range, text, job_.choice());
        go_to(begin, range.offset / each);
        skipped_ = range.offset % each;
        for (bool ended = false; left_ > 0; ended = open_some()) {
            if (ended) job_.fail(WARPSEAL_IO, "it changed while it was read");
            wanted_ = (skipped_ + left_ + each - 1) / each;
        }
        say_if_shortened(range, done_, job_.session());
    }
    uint64_t text_bytes() const { return done_; }

private:
    // Segments that the buffer holds, as their length fields describe them.
    struct Found {
        uint64_t internal = 0;
        std::optional<size_t> last_bytes;  // of the whole segment
        warpseal_status status = WARPSEAL_OK;
        const char* why = "";
    };

    Found find() const {
        Found found;
        for (size_t at = 0; at < sealed_.size; at += segment_bytes_, ++found.internal) {
            const size_t left = sealed_.size - at;
            const uint64_t field = left < FloeHeader::length_bytes
                                       ? FloeHeader::inner_length
                                       : load_big_endian(sealed_.data() + at, 4);
            const uint64_t length = field == FloeHeader::inner_length ? segment_bytes_ : field;
            if (length < FloeHeader::segment_overhead || length > segment_bytes_) {
                found.status = WARPSEAL_NOT_AUTHENTIC;
                found.why = "has an impossible length";
            } else if (left < length) {
                found.status = WARPSEAL_TRUNCATED;
                found.why = "is cut off";
            } else if (field != FloeHeader::inner_length) {
                found.last_bytes = length;
            } else {
                continue;
            }
            return found;
        }
        return found;
    }

    void go_to(off_t begin, uint64_t position) {
        position_ = position;
        if (lseek(job_.input(), begin + static_cast<off_t>(position * segment_bytes_), SEEK_SET) <
            0)
            job_.fail(WARPSEAL_IO, "it cannot be read");
    }

    [[noreturn]] void fail_without_last() {
        job_.fail(WARPSEAL_TRUNCATED, cli::format("segment {}, and maybe others, is missing: "
                                                  "the file ends before a last segment",
                                                  position_));
    }

    // Returns true after the last segment.
    bool open_some() {
        // A batch has one key.
        const uint64_t of_key =
            FloeHeader::segments_per_key - position_ % FloeHeader::segments_per_key;
        sealed_.fill(job_, std::min({uint64_t{most_}, of_key, wanted_}) * segment_bytes_);
        if (sealed_.size == 0) fail_without_last();
        const Found found = find();
        open_internal(found.internal);
        if (found.status != WARPSEAL_OK) fail(found.status, found.why);
        if (!found.last_bytes) return false;
        const size_t end = found.internal * segment_bytes_ + *found.last_bytes;
        uint8_t more = 0;
        const bool follows = end < sealed_.size || job_.read(&more, 1) != 0;
        open_last(sealed_.data() + found.internal * segment_bytes_, *found.last_bytes);
        if (follows)
            job_.fail(WARPSEAL_NOT_AUTHENTIC, "bytes follow its last segment, which has verified");
        return true;
    }

    void open_internal(uint64_t count) {
        if (count == 0) return;
        const uint64_t each = segments_.text_bytes();
        warpseal_batch batch = segments_.batch(position_, count, sealed_.data());
        batch.in = sealed_.data() + FloeHeader::length_bytes + FloeHeader::nonce_bytes;
        batch.in_stride = segment_bytes_;
        batch.out = text_.data();
        batch.out_stride = each;
        batch.statuses = statuses_.data();
        const warpseal_status status =
            warpseal_open_batch(segments_.key(position_), WARPSEAL_GCM, &batch);
        if (status != WARPSEAL_NOT_AUTHENTIC) job_.require(status);
        const auto bad =
            std::find_if(statuses_.begin(), statuses_.begin() + static_cast<ptrdiff_t>(count),
                         [](int32_t one) { return one != WARPSEAL_OK; });
        write(static_cast<uint64_t>(bad - statuses_.begin()), each);
        if (status != WARPSEAL_OK) fail(status, "does not verify");
    }

    void open_last(uint8_t* segment, size_t bytes) {
        const size_t text_bytes = bytes - FloeHeader::segment_overhead;
        uint8_t* const nonce = segment + FloeHeader::length_bytes;
        uint8_t* const sealed = nonce + FloeHeader::nonce_bytes;
        uint8_t aad[FloeSegments::aad_bytes];
        FloeSegments::require_within_limit(job_, position_, 1);
        FloeSegments::store_aad(aad, position_, true);
        const warpseal_status status = warpseal_open(
            segments_.key(position_), WARPSEAL_GCM, nonce, FloeHeader::nonce_bytes, aad, sizeof aad,
            sealed, text_.data(), text_bytes, sealed + text_bytes, FloeHeader::segment_tag_bytes);
        if (status == WARPSEAL_NOT_AUTHENTIC) fail(status, "does not verify");
        job_.require(status);
        write(1, text_bytes);
    }

    // Writes the texts of `count` segments, whose tags verified, or their part of the range.
    void write(uint64_t count, uint64_t each) {
        const uint64_t before = std::min(skipped_, count * each);
        const uint64_t bytes = std::min(left_, count * each - before);
        job_.write(text_.data() + before, bytes);
        position_ += count;
        done_ += bytes;
        skipped_ -= before;
        left_ -= bytes;
    }

    [[noreturn]] void fail(warpseal_status status, const char* why) {
        job_.fail(status, cli::format("segment {} {}", position_, why));
    }

    ForeignJob& job_;
    FloeSegments segments_;
    const uint32_t segment_bytes_;
    const size_t most_;
    FloeBuffer sealed_, text_;
    std::vector<int32_t> statuses_;
    uint64_t position_ = 0, done_ = 0;
    uint64_t wanted_ = UINT64_MAX;              // segments, at most, of the next batch
    uint64_t skipped_ = 0, left_ = UINT64_MAX;  // bytes before the range, and of it
};

}  // namespace

void open_floe(ForeignJob& job, Secrets& secrets, const Range* range) {
    const FloeStart start(job, secrets);
    FloeOpening opening(job, start.keys(), start.header.segment_bytes());
    range ? opening.run(*range) : opening.run();
    job.done(warpseal_engine_pick(job.engine(), "aes-256", WARPSEAL_GCM, opening.text_bytes()),
             opening.text_bytes());
}

}  // namespace warpseal::cli
