// Reads, seals, opens, compares and writes the segments of a window side by side.
#include "container/resume/windows.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "container/bytes.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

constexpr size_t cpu_chunks = 16, cuda_chunks = 256;
static_assert(window_chunks % cpu_chunks == 0 && window_chunks % cuda_chunks == 0);
constexpr char record_label[] = "window";

bool is_zero(const uint8_t* bytes, size_t count) {
    return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

}  // namespace

Windows::Windows(Engine& engine, const Suite& suite, const PayloadKey& payload, uint64_t text_bytes,
                 Direction direction)
    : engine_(engine), payload_(payload), text_bytes_(text_bytes) {
    cuda_ = engine.gpus_for_segments(suite.cipher, WARPSEAL_GCM, direction, text_bytes);
    segment_chunks_ = static_cast<size_t>(
        std::min<uint64_t>(cuda_ ? cuda_chunks : cpu_chunks, chunk_count_of(text_bytes)));
    segment_count_ = text_bytes / (segment_chunks_ * chunk_text_bytes) + 1;
}

warpseal_status Windows::allocate(Fault& fault) {
    const size_t count =
        static_cast<size_t>(std::min<uint64_t>(window_chunks / segment_chunks_, segment_count_));
    segments_ = std::vector<Segment>(count);
    for (Segment& segment : segments_)
        if (!segment.allocate(engine_, cuda_ ? Layout::separate : Layout::in_place,
                              segment_chunks_))
            return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for %zu segments of the file",
                             count);
    return WARPSEAL_OK;
}

// Runs work(segment, fault) for all segments of the window. Takes the failure that is first in the
// file.
template <class Work>
warpseal_status Windows::each(Work work, Fault& fault) {
    std::vector<Fault> faults(used_);
    engine_.parallel(used_, [&](size_t i) {
        try {
            work(segments_[i], faults[i]);
        } catch (const std::bad_alloc&) {
            faults[i].say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
        }
    });
    for (const Fault& one : faults) {
        if (one.status == WARPSEAL_OK) continue;
        fault = one;
        return fault.status;
    }
    return WARPSEAL_OK;
}

warpseal_status Windows::read(Segment& segment, const ChunkJob& job, Source& source,
                              Fault& fault) const {
    const uint64_t whole = segment_chunks_ * in_stride(job.direction);
    const uint64_t before = segment.number * whole;
    const uint64_t total =
        job.direction == Direction::encrypt ? text_bytes_ : sealed_bytes_of(text_bytes_);
    const size_t expected = static_cast<size_t>(std::min(whole, total - before));
    const Segment::Buffers buffers = segment.input_buffers(job.direction, expected);
    segment.first_chunk = segment.number * segment_chunks_;
    segment.last = segment.number + 1 == segment_count_;
    if (source.read(job.source_offset + before, buffers.first, buffers.count, segment.bytes_in,
                    fault) != WARPSEAL_OK)
        return fault.status;
    if (segment.bytes_in == expected) return WARPSEAL_OK;
    return fault.say(WARPSEAL_IO, "the file shrank while it was read: it now ends at byte %llu",
                     ull{job.source_offset + before + segment.bytes_in});
}

warpseal_status Windows::transform(uint64_t window, Direction direction, Source& source,
                                   uint64_t offset, Fault& fault) {
    const ChunkJob job = {engine_, payload_, direction, offset};
    const uint64_t first = window * (window_chunks / segment_chunks_);
    used_ = static_cast<size_t>(std::min<uint64_t>(segments_.size(), segment_count_ - first));
    for (size_t i = 0; i < used_; ++i) segments_[i].number = first + i;
    window_ = window;
    direction_ = direction;
    return each(
        [&](Segment& segment, Fault& here) {
            if (read(segment, job, source, here) != WARPSEAL_OK) return;
            segment.find_chunks(job);
            if (segment.fault.status == WARPSEAL_OK)
                if (const char* const target = segment.transform(job)) target_ = target;
            here = segment.fault;
        },
        fault);
}

warpseal_status Windows::seal(uint64_t window, Source& source, uint64_t offset, Fault& fault) {
    return transform(window, Direction::encrypt, source, offset, fault);
}

warpseal_status Windows::open(uint64_t window, Source& source, uint64_t offset, Fault& fault) {
    return transform(window, Direction::decrypt, source, offset, fault);
}

uint64_t Windows::text_bytes() const {
    const uint64_t whole = window_chunks * chunk_text_bytes;
    return std::min(whole, text_bytes_ - window_ * whole);
}

void Windows::record(const Secret<hmac_bytes>& key, uint8_t out[hmac_bytes]) {
    std::vector<uint8_t> tags;
    tags.reserve(used_ * segment_chunks_ * tag_bytes);
    for (size_t i = 0; i < used_; ++i)
        for (size_t k = 0; k < segments_[i].chunks; ++k) {
            const uint8_t* const tag = segments_[i].tag(direction_, k);
            tags.insert(tags.end(), tag, tag + tag_bytes);
        }
    uint8_t number[8];
    put64(number, window_);
    const Bytes parts[] = {
        container::text_bytes(record_label), {number, sizeof number}, {tags.data(), tags.size()}};
    hmac({key.data(), key.size()}, {parts, 3}, out);
}

warpseal_status Windows::write(Sink& sink, uint64_t offset, Fault& fault) {
    return each(
        [&](Segment& segment, Fault& here) {
            uint64_t text_bytes = 0, bytes = 0;
            const Segment::Buffers result = segment.output_buffers(direction_, text_bytes, bytes);
            (void)sink.write(offset + segment.first_chunk * out_stride(direction_), result.first,
                             result.count, here);
        },
        fault);
}

warpseal_status Windows::compare(Source& source, uint64_t offset, There& there, Fault& fault) {
    const size_t stride = segment_chunks_ * chunk_bytes;
    there_.resize(segments_.size() * stride);
    std::atomic<bool> same{true}, zeros{true};
    const warpseal_status status = each(
        [&](Segment& segment, Fault& here) {
            uint64_t text_bytes = 0, bytes = 0;
            const Segment::Buffers wanted = segment.output_buffers(direction_, text_bytes, bytes);
            uint8_t* const got =
                there_.data() + static_cast<size_t>(&segment - segments_.data()) * stride;
            size_t count = 0;
            if (source.read(offset + segment.first_chunk * out_stride(direction_), got,
                            static_cast<size_t>(bytes), count, here) != WARPSEAL_OK)
                return;
            if (!is_zero(got, count)) zeros = false;
            if (count != bytes || memcmp(got, wanted.first->iov_base, count) != 0) same = false;
        },
        fault);
    there = same ? There::same : zeros ? There::zeros : There::other;
    return status;
}

}  // namespace warpseal::container
