// Order of a rescue's output: text, holes, and the search for the end of the payload.
#include "container/rescue.h"

#include <algorithm>

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Opens the chunk under its number at each length that is followed by further of the `bytes` bytes.
// Without any, it was opened before. `found` is true if one verifies; `text` then holds text_bytes
// bytes. They are fewer than those of a full chunk, as in the last chunk of every payload.
warpseal_status open_at_any_length(const PipelineJob& job, uint64_t number, uint8_t* sealed,
                                   size_t bytes, uint8_t* text, uint64_t& text_bytes, bool& found) {
    uint8_t nonce[nonce_bytes];
    chunk_nonce(job.payload, number, nonce);
    int32_t result = WARPSEAL_NOT_AUTHENTIC;
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = 1;
    batch.ivs = nonce;
    batch.in = sealed;
    batch.out = text;
    batch.statuses = &result;
    for (text_bytes = 0; text_bytes < bytes - tag_bytes; ++text_bytes) {
        batch.message_bytes = batch.in_stride = batch.out_stride = text_bytes;
        batch.tags = sealed + text_bytes;
        const warpseal_status status =
            job.engine.batch(*job.payload.key, WARPSEAL_GCM, Direction::decrypt, batch,
                             Engine::Threads::caller, nullptr);
        found = status == WARPSEAL_OK;
        if (found) return WARPSEAL_OK;
        if (status != WARPSEAL_NOT_AUTHENTIC) return status;
        if (job.progress.add(0)) return WARPSEAL_CANCELLED;
    }
    return WARPSEAL_OK;
}

}  // namespace

warpseal_status Rescue::add(Segment& segment, Fault& fault) {
    const warpseal_status status = segment.fault.status;
    if (status != WARPSEAL_OK && status != WARPSEAL_NOT_AUTHENTIC && status != WARPSEAL_TRUNCATED) {
        fault = segment.fault;
        return status;
    }
    uint64_t text_bytes = 0;
    for (size_t i = 0; i < segment.chunks;) {
        size_t end = i + 1;
        while (end < segment.chunks && segment.verified(end) == segment.verified(i)) ++end;
        const bool with_short_chunk = segment.last && end == segment.chunks;
        if (segment.verified(i)) {
            if (write_chunks(segment, i, end - i, fault) != WARPSEAL_OK) return fault.status;
            report_.end_found = with_short_chunk ? 1 : 0;
        } else {
            hole_has_short_chunk_ = with_short_chunk;
            short_chunk_bytes_ = segment.last_text;
            hole_chunks_ += end - i - (with_short_chunk ? 1 : 0);
        }
        i = end;
    }
    for (size_t i = 0; i < segment.chunks; ++i) text_bytes += segment.text_of(i);
    chunks_ += segment.chunks;
    return progress_.add(text_bytes) ? fault.say(WARPSEAL_CANCELLED, "cancelled") : WARPSEAL_OK;
}

warpseal_status Rescue::write_chunks(Segment& segment, size_t first, size_t count, Fault& fault) {
    if (write_hole(fault) != WARPSEAL_OK) return fault.status;
    const size_t bytes = (count - 1) * chunk_text_bytes + segment.text_of(first + count - 1);
    const Segment::Buffers text = segment.text_buffers(first, bytes);
    verified_chunks_ += count;
    return write_authentic(text.first, text.count, bytes, fault);
}

warpseal_status Rescue::write_authentic(iovec* buffers, size_t count, uint64_t bytes,
                                        Fault& fault) {
    if (sink_.write(written_bytes_, buffers, count, fault) != WARPSEAL_OK) return fault.status;
    authentic_bytes_ += bytes;
    written_bytes_ += bytes;
    return WARPSEAL_OK;
}

warpseal_status Rescue::write_hole(Fault& fault) {
    const uint64_t whole = hole_chunks_ * chunk_text_bytes;
    const uint64_t rest = hole_has_short_chunk_ ? short_chunk_bytes_ : 0;
    hole_chunks_ = 0;
    hole_has_short_chunk_ = false;
    if (write_zeros(whole, WARPSEAL_HOLE_NOT_AUTHENTIC, fault) != WARPSEAL_OK) return fault.status;
    return write_zeros(rest, WARPSEAL_HOLE_CUT_OR_CHANGED, fault);
}

warpseal_status Rescue::write_zeros(uint64_t bytes, warpseal_hole_reason reason, Fault& fault) {
    if (bytes == 0) return WARPSEAL_OK;
    static constexpr uint8_t zeros[chunk_text_bytes] = {};
    const warpseal_file_hole hole = {written_bytes_, bytes, reason};
    ++report_.hole_count;
    report_.hole_bytes += bytes;
    if (report_.hole != nullptr && report_.hole(report_.hole_user, &hole) != 0)
        return fault.say(WARPSEAL_CANCELLED, "cancelled");
    for (const uint64_t end = written_bytes_ + bytes; written_bytes_ < end;) {
        const size_t now =
            static_cast<size_t>(std::min<uint64_t>(sizeof zeros, end - written_bytes_));
        if (sink_.write(written_bytes_, zeros, now, fault) != WARPSEAL_OK) return fault.status;
        written_bytes_ += now;
        if (progress_.add(0)) return fault.say(WARPSEAL_CANCELLED, "cancelled");
    }
    return WARPSEAL_OK;
}

// Bytes after the end hide the last chunk, because it was opened with some of them. If the chunks
// before it verify, it is the first one of the last hole. Only that one is tried: each chunk costs
// up to 16384 openings.
warpseal_status Rescue::find_end(const PipelineJob& job, Fault& fault) {
    const uint64_t number = chunks_ - hole_chunks_ - (hole_has_short_chunk_ ? 1 : 0);
    const uint64_t at = job.source_offset + number * chunk_bytes;
    std::vector<uint8_t> sealed(chunk_bytes);
    SecretMemory text;
    if (!text.allocate(chunk_text_bytes))
        return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for the last chunk");
    size_t have = 0;
    if (job.source.read(at, sealed.data(), sealed.size(), have, fault) != WARPSEAL_OK)
        return fault.status;
    if (have < tag_bytes)
        return fault.say(WARPSEAL_IO, "the input shrank while it was read: it ends at byte %llu",
                         ull{at + have});
    uint64_t text_bytes = 0;
    bool found = false;
    const warpseal_status status = open_at_any_length(
        job, number, sealed.data(), have, static_cast<uint8_t*>(text.data()), text_bytes, found);
    if (status == WARPSEAL_CANCELLED) return fault.say(status, "cancelled");
    if (status != WARPSEAL_OK)
        return fault.say(status, "the engine could not open chunk %llu", ull{number});
    if (!found) return WARPSEAL_OK;
    hole_chunks_ = 0;
    hole_has_short_chunk_ = false;
    ++verified_chunks_;
    report_.end_found = 1;
    report_.bytes_after_end = job.source.bytes() - (at + text_bytes + tag_bytes);
    iovec buffer = {text.data(), static_cast<size_t>(text_bytes)};
    return write_authentic(&buffer, 1, text_bytes, fault);
}

warpseal_status Rescue::finish(const PipelineJob& job, Fault& fault) {
    const bool hole = hole_chunks_ != 0 || hole_has_short_chunk_;
    if (hole && find_end(job, fault) != WARPSEAL_OK) return fault.status;
    if (verified_chunks_ != 0 && write_hole(fault) != WARPSEAL_OK) return fault.status;
    finished_ = verified_chunks_ != 0;
    if (report_.hole_count == 0 && report_.end_found != 0) return WARPSEAL_OK;
    return say_missing(job, fault);
}

warpseal_status Rescue::say_missing(const PipelineJob& job, Fault& fault) const {
    if (chunks_ == 0)
        return fault.say(WARPSEAL_TRUNCATED,
                         "the file ends at byte %llu, within its first chunk: nothing can be "
                         "rescued",
                         ull{job.source.bytes()});
    if (verified_chunks_ == 0)
        return fault.say(WARPSEAL_NOT_AUTHENTIC,
                         "none of its %llu chunks verifies: nothing can be rescued", ull{chunks_});
    if (report_.hole_count == 0)
        return fault.say(WARPSEAL_TRUNCATED, "the end of the file is missing");
    return fault.say(WARPSEAL_NOT_AUTHENTIC,
                     "%llu of %llu bytes could not be rescued, in %llu hole%s%s",
                     ull{report_.hole_bytes}, ull{written_bytes_}, ull{report_.hole_count},
                     report_.hole_count == 1 ? "" : "s",
                     report_.end_found != 0 ? "" : ", and the end of the file is missing");
}

}  // namespace warpseal::container
