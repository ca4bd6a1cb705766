// Workers of the file pipeline. Each has memory for one segment: it reads a segment, seals or opens
// its chunks, and writes the result.
// So data stays in the core's cache between the copies in and out of the kernel. Segments of a
// stream are read, or written, in order.
// Memory use depends on the number of workers, not on the length of the file.
#include "container/pipeline/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <new>

#include "container/rescue.h"

namespace warpseal::container {
namespace {

constexpr size_t cpu_chunks = 16;  // 256 KiB: fits in a core's L2 cache
// 1024 chunks, 16 MiB, keep a GPU and its bus busy. 256 suffice for each of many workers.
constexpr size_t most_cuda_chunks = 1024, least_cuda_chunks = 256;
constexpr size_t all_segments_bytes = size_t{160} << 20;
// Assumed length of a stream when its target is selected.
constexpr uint64_t assumed_stream_bytes = uint64_t{1} << 30;
constexpr uint64_t none = UINT64_MAX;

using ull = unsigned long long;

class Pipeline {
public:
    explicit Pipeline(const PipelineJob& job);
    warpseal_status run(PipelineResult& result, Fault& fault);

private:
    bool sealing() const { return job_.direction == Direction::encrypt; }
    size_t segment_bytes_in() const { return chunks_ * in_stride(job_.direction); }
    Layout layout() const {
        return job_.device != nullptr ? Layout::device
               : cuda_                ? Layout::separate
                                      : Layout::in_place;
    }
    // The input has a known length and is read at any offset, on any thread.
    bool positional() const { return job_.device != nullptr || job_.source.positional(); }
    size_t workers() const;
    uint64_t first_chunk() const { return job_.range == nullptr ? 0 : job_.range->first_chunk; }
    // False for a shard that other shards follow: all of its chunks are whole.
    bool ends() const { return job_.range == nullptr || job_.range->ends; }

    void work(Segment& segment);
    void transfer(Segment& segment);
    bool read_next(Segment& segment);
    warpseal_status read(Segment& segment, Fault& fault);
    void write_result(Segment& segment);
    bool wait_for_turn(const Segment& segment);
    void end_turn();
    warpseal_status write_text(Segment& segment, Fault& fault);
    void count(const char* target, const Segment& segment);
    const char* main_target() const;
    void fail(uint64_t number, const Fault& fault);
    bool stopped_before(uint64_t number) const { return failed_at_.load() < number; }

    const PipelineJob& job_;
    bool cuda_ = false;
    size_t chunks_ = cpu_chunks;  // chunks of a full segment
    uint64_t total_in_ = none;
    uint64_t segment_count_ = none;

    std::atomic<uint64_t> next_{0};  // next segment to read
    // Held while a stream is read. fork: belongs to one call, which no child continues
    std::mutex read_mutex_;
    bool ended_ = false;                    // a stream's input has ended
    std::mutex mutex_;                      // fork: belongs to one call
    std::condition_variable turn_changed_;  // fork: belongs to one call
    uint64_t turn_ = 0;                     // next segment of an ordered sink
    std::atomic<uint64_t> failed_at_{none};
    Fault fault_;

    std::atomic<uint64_t> text_bytes_{0}, read_bytes_{0}, written_bytes_{0};
    std::mutex count_mutex_;                     // fork: belongs to one call
    std::map<const char*, uint64_t> chunks_on_;  // by target name, which is a unique pointer
};

Pipeline::Pipeline(const PipelineJob& job) : job_(job) {
    if (job.device != nullptr)
        total_in_ = job.device->bytes;
    else if (job.range != nullptr)
        total_in_ = job.range->text_bytes;
    else if (job.source.positional())
        total_in_ = job.source.bytes() - job.source_offset;
    const uint64_t bytes = total_in_ == none ? assumed_stream_bytes : total_in_;
    cuda_ = job.device != nullptr ||
            job.engine.gpus_for_segments(job.suite.cipher, WARPSEAL_GCM, job.direction, bytes);
    if (cuda_)
        chunks_ =
            std::clamp(all_segments_bytes / (job.engine.threads() * chunk_memory_bytes(layout())),
                       least_cuda_chunks, most_cuda_chunks);
    if (total_in_ == none) return;
    chunks_ =
        static_cast<size_t>(std::min<uint64_t>(chunks_, total_in_ / in_stride(job.direction) + 1));
    // The last segment holds the short chunk, so it is never full. The number of segments is
    // therefore rounded down, plus one.
    segment_count_ = ends() ? total_in_ / segment_bytes_in() + 1
                            : (total_in_ + segment_bytes_in() - 1) / segment_bytes_in();
}

size_t Pipeline::workers() const {
    const size_t fit = all_segments_bytes / (chunks_ * chunk_memory_bytes(layout()));
    const size_t wanted = std::min<size_t>(job_.engine.threads(), fit);
    return std::max<size_t>(1, static_cast<size_t>(std::min<uint64_t>(wanted, segment_count_)));
}

warpseal_status Pipeline::run(PipelineResult& result, Fault& fault) {
    if (sealing() && total_in_ != none && total_in_ > max_text_bytes) {
        return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                         "the input has %llu bytes; a payload holds at most %llu", ull{total_in_},
                         ull{max_text_bytes});
    }
    std::vector<Segment> segments(workers());
    for (Segment& segment : segments) {
        if (!segment.allocate(job_.engine, layout(), chunks_))
            return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for %zu segments of the file",
                             segments.size());
    }
    if (segments.size() == 1) {
        work(segments[0]);
    } else {
        job_.engine.parallel(segments.size(), [&](size_t i) { work(segments[i]); });
    }
    result = {text_bytes_, read_bytes_, written_bytes_, main_target()};
    if (failed_at_ != none) {
        fault = fault_;
        return fault.status;
    }
    return job_.source.finish(fault);
}

// An exception must fail the segment, because other workers may wait for its turn.
void Pipeline::work(Segment& segment) {
    Fault fault;
    try {
        while (read_next(segment)) transfer(segment);
    } catch (const std::bad_alloc&) {
        fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for chunk %llu and those after it",
                  ull{first_chunk() + segment.number * chunks_});
        fail(segment.number, fault);
    } catch (...) {
        fault.say(WARPSEAL_INVALID_ARGUMENT, "chunk %llu and those after it ended in an exception",
                  ull{first_chunk() + segment.number * chunks_});
        fail(segment.number, fault);
        throw;
    }
}

void Pipeline::transfer(Segment& segment) {
    segment.first_chunk = first_chunk() + segment.number * chunks_;
    segment.find_chunks(job_);
    if (const char* target = segment.transform(job_)) count(target, segment);
    write_result(segment);
}

// Reads the next segment of the input. Returns false if there is none or the pipeline has failed.
bool Pipeline::read_next(Segment& segment) {
    Fault fault;
    warpseal_status status;
    if (positional()) {
        segment.number = next_.fetch_add(1);
        if (segment.number >= segment_count_ || stopped_before(segment.number)) return false;
        status = read(segment, fault);
    } else {
        const std::lock_guard<std::mutex> lock(read_mutex_);
        segment.number = next_;
        if (ended_ || stopped_before(segment.number)) return false;
        ++next_;
        status = read(segment, fault);
        ended_ = segment.last || status != WARPSEAL_OK;
    }
    if (status != WARPSEAL_OK) fail(segment.number, fault);
    return status == WARPSEAL_OK;
}

warpseal_status Pipeline::read(Segment& segment, Fault& fault) {
    const size_t whole = segment_bytes_in();
    const uint64_t before = segment.number * whole;
    if (job_.device != nullptr) {  // the GPU reads the text where it lies
        segment.bytes_in = static_cast<size_t>(std::min<uint64_t>(whole, total_in_ - before));
        segment.last = segment.number + 1 == segment_count_;
        return WARPSEAL_OK;
    }
    const bool positional = job_.source.positional();
    const size_t expected =
        positional ? static_cast<size_t>(std::min<uint64_t>(whole, total_in_ - before)) : whole;
    const Segment::Buffers buffers = segment.input_buffers(job_.direction, expected);
    const uint64_t offset = job_.source_offset + before;
    const warpseal_status status =
        job_.source.read(offset, buffers.first, buffers.count, segment.bytes_in, fault);
    if (status != WARPSEAL_OK) return status;
    read_bytes_ += segment.bytes_in;
    segment.last =
        positional ? ends() && segment.number + 1 == segment_count_ : segment.bytes_in < whole;
    if (!positional) return WARPSEAL_OK;

    if (segment.bytes_in < expected) {
        return fault.say(
            WARPSEAL_IO,
            "the input shrank while it was read: it had %llu bytes and now ends at byte %llu",
            ull{job_.source.bytes()}, ull{offset + segment.bytes_in});
    }
    if (!segment.last) return WARPSEAL_OK;
    uint8_t beyond = 0;
    size_t more = 0;
    const warpseal_status end = job_.source.read(job_.source.bytes(), &beyond, 1, more, fault);
    if (end != WARPSEAL_OK) return end;
    if (more != 0)
        return fault.say(WARPSEAL_IO, "the input grew beyond its %llu bytes while it was read",
                         ull{job_.source.bytes()});
    return WARPSEAL_OK;
}

void Pipeline::count(const char* target, const Segment& segment) {
    const std::lock_guard<std::mutex> lock(count_mutex_);
    chunks_on_[target] += segment.chunks;
}

// Returns the name of the target that processed most chunks.
const char* Pipeline::main_target() const {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto most = std::max_element(chunks_on_.begin(), chunks_on_.end(), fewer);
    return most == chunks_on_.end() ? "" : most->first;
}

// Returns false if an earlier segment failed.
bool Pipeline::wait_for_turn(const Segment& segment) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_changed_.wait(lock,
                       [&] { return turn_ == segment.number || stopped_before(segment.number); });
    return !stopped_before(segment.number);
}

void Pipeline::end_turn() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++turn_;
    turn_changed_.notify_all();
}

void Pipeline::write_result(Segment& segment) {
    const bool ordered = job_.rescue != nullptr || job_.sink.ordered();
    if (ordered && !wait_for_turn(segment)) return;
    Fault fault;
    const warpseal_status status =
        job_.rescue != nullptr ? job_.rescue->add(segment, fault) : write_text(segment, fault);
    if (status != WARPSEAL_OK) return fail(segment.number, fault);
    if (ordered) end_turn();
}

warpseal_status Pipeline::write_text(Segment& segment, Fault& fault) {
    uint64_t text_bytes = 0, bytes = 0;
    const Segment::Buffers result = segment.output_buffers(job_.direction, text_bytes, bytes);
    const uint64_t offset =
        job_.sink_offset + (segment.first_chunk - first_chunk()) * out_stride(job_.direction);
    if (job_.sink.write(offset, result.first, result.count, fault) != WARPSEAL_OK)
        return fault.status;
    text_bytes_ += text_bytes;
    written_bytes_ += bytes;
    if (segment.fault.status != WARPSEAL_OK) {
        fault = segment.fault;
        return fault.status;
    }
    return job_.progress.add(text_bytes) ? fault.say(WARPSEAL_CANCELLED, "cancelled") : WARPSEAL_OK;
}

// Reports the failure that is first in the file. Segments before it are still finished, those after
// it are not.
void Pipeline::fail(uint64_t number, const Fault& fault) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number < failed_at_) {
        failed_at_ = number;
        fault_ = fault;
    }
    turn_changed_.notify_all();
}

}  // namespace

warpseal_status run_pipeline(const PipelineJob& job, PipelineResult& result, Fault& fault) {
    Pipeline pipeline(job);
    return pipeline.run(result, fault);
}

}  // namespace warpseal::container
