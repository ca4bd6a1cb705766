// Reads of a sealed file at any offset, on all cores.
#include "container/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "container/pipeline/descriptor.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Chunks of a segment on cores: fewer do not pay for a thread, more do not fit in a core's cache.
constexpr size_t least_cpu_chunks = 4, most_cpu_chunks = 16;
constexpr size_t cuda_chunks = 256;
constexpr size_t all_segments_bytes = size_t{32} << 20;
// Into device memory: as many readers as a host link needs.
constexpr size_t device_segments_bytes = size_t{256} << 20;
// Half of these wait for the GPU while the others read.
constexpr size_t device_readers_per_thread = 2;

// A descriptor's source with a progress that nobody receives.
struct DescriptorInput {
    explicit DescriptorInput(int descriptor) : source(descriptor, silent, Access::random) {}
    Progress silent{nullptr, nullptr};
    Source source;
};

}  // namespace

warpseal_status input_of_descriptor(int descriptor, ReaderInput& out, Fault& fault) {
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return fault.say_system(errno, "asking for the input's type failed");
    if (S_ISDIR(about.st_mode)) return fault.say_system(EISDIR, "reading the input failed");
    const auto input = std::make_shared<DescriptorInput>(descriptor);
    if (!input->source.regular())
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the input is a pipe or a device, which cannot be read at an offset: save "
                         "it to a file first, or decrypt it from its start");
    out.bytes = input->source.positional() ? input->source.bytes() : 0;
    out.read = [input](uint64_t offset, void* to, size_t bytes, size_t& got, Fault& failure) {
        return input->source.read(offset, to, bytes, got, failure);
    };
    return WARPSEAL_OK;
}

ReaderInput input_of_callback(ReadCallback callback, void* user, uint64_t file_bytes) {
    const auto read = [=](uint64_t offset, void* to, size_t bytes, size_t& got, Fault& fault) {
        got = 0;
        if (offset >= file_bytes) return WARPSEAL_OK;
        bytes = static_cast<size_t>(std::min<uint64_t>(bytes, file_bytes - offset));
        while (got < bytes) {
            const size_t wanted = bytes - got;
            const int64_t moved =
                callback(user, offset + got, static_cast<uint8_t*>(to) + got, wanted);
            if (moved == 0) break;
            if (moved < 0)
                return fault.say_system(moved < -4095 ? EIO : static_cast<int>(-moved),
                                        "the read callback failed at byte %llu", ull{offset + got});
            if (static_cast<uint64_t>(moved) > wanted)
                return fault.say(WARPSEAL_IO,
                                 "the read callback returned %llu bytes at byte %llu, where %zu "
                                 "were asked for",
                                 static_cast<ull>(moved), ull{offset + got}, wanted);
            got += static_cast<size_t>(moved);
        }
        return WARPSEAL_OK;
    };
    return {read, file_bytes};
}

warpseal_status Reader::open(Engine& engine, ReaderInput input,
                             const warpseal_file_options& options, std::unique_ptr<Reader>& out,
                             Fault& fault, SlotKeys* keys) {
    if (check_options(options, SecretUse::open, fault) != WARPSEAL_OK) return fault.status;
    std::unique_ptr<Reader> made(new Reader(engine, std::move(input)));
    if (open_head(engine, options, made->input_.read, made->opened_, fault, keys) != WARPSEAL_OK)
        return fault.status;
    if (options.secrets_used != nullptr) options.secrets_used(options.secrets_user);
    if (made->verify_end(fault) != WARPSEAL_OK) return fault.status;
    out = std::move(made);
    return WARPSEAL_OK;
}

warpseal_status Reader::verify_end(Fault& fault) {
    const uint64_t bytes = input_.bytes - std::min(input_.bytes, opened_.head_bytes);
    const uint64_t rest = bytes % chunk_bytes, last = bytes / chunk_bytes;
    if (rest < tag_bytes)
        return fault.say(WARPSEAL_TRUNCATED,
                         "the file ends early, at byte %llu: %llu bytes of chunk %llu are there, "
                         "and the last chunk has at least %zu",
                         ull{input_.bytes}, ull{rest}, ull{last}, tag_bytes);
    if (last >= max_chunks)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "more than %llu chunks", ull{max_chunks});
    text_bytes_ = text_bytes_of(bytes);
    Segment segment;
    if (!segment.allocate(engine_, Layout::in_place, 1))
        return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for the last chunk");
    const ChunkJob job = {engine_, opened_.payload, Direction::decrypt, opened_.head_bytes};
    if (read_chunks(job, segment, last, 1) == WARPSEAL_OK) segment.verify_last(job);
    if (segment.fault.status != WARPSEAL_OK) fault = segment.fault;
    return fault.status;
}

warpseal_status Reader::open_chunks(Segment& segment, uint64_t first, size_t count,
                                    const DeviceText* device, const char*& target) const {
    const ChunkJob job = {engine_, opened_.payload, Direction::decrypt, opened_.head_bytes, device};
    if (read_chunks(job, segment, first, count) != WARPSEAL_OK) return segment.fault.status;
    if (const char* ran = segment.transform(job)) target = ran;
    return segment.fault.status;
}

warpseal_status Reader::read_chunks(const ChunkJob& job, Segment& segment, uint64_t first,
                                    size_t count) const {
    const uint64_t at = opened_.head_bytes + first * chunk_bytes;
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(count * chunk_bytes, input_.bytes - at));
    segment.fault = Fault{};
    segment.first_chunk = first;
    segment.last = first + count == chunk_count();
    const Segment::Buffers buffers = segment.input_buffers(Direction::decrypt, wanted);
    if (input_.read(at, buffers.first->iov_base, wanted, segment.bytes_in, segment.fault) !=
        WARPSEAL_OK)
        return segment.fault.status;
    if (segment.bytes_in < wanted)
        return segment.fault.say(WARPSEAL_IO,
                                 "the file ends at byte %llu; it had %llu bytes when it was opened",
                                 ull{at + segment.bytes_in}, ull{input_.bytes});
    segment.find_chunks(job);
    return segment.fault.status;
}

// One read: its workers take segments in order, and the first failure in the file is reported.
class Reader::Read {
public:
    // Into `out` in host memory, or into device memory.
    Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes)
        : Read(reader, offset, out, bytes, nullptr) {}
    Read(const Reader& reader, const DeviceText& device)
        : Read(reader, device.begin, nullptr, static_cast<size_t>(device.bytes), &device) {}
    warpseal_status run(const char*& target, Fault& fault);

private:
    Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes,
         const DeviceText* device);
    Layout layout() const {
        return device_ != nullptr ? Layout::device : cuda_ ? Layout::separate : Layout::in_place;
    }
    struct Segments;
    size_t workers() const;
    std::unique_ptr<Segment> new_segment(bool needed) const;
    void work(Segment& segment);
    void copy_text(Segment& segment);
    void fail(uint64_t number, const Fault& fault);

    const Reader& reader_;
    const uint64_t offset_;
    uint8_t* const out_;
    const size_t bytes_;
    const uint64_t first_, end_;  // chunks
    const DeviceText* const device_;
    bool cuda_ = false;
    size_t step_ = least_cpu_chunks;  // chunks of a full segment
    uint64_t segment_count_ = 0;

    std::atomic<uint64_t> next_{0};
    std::atomic<uint64_t> failed_at_{UINT64_MAX};
    std::atomic<const char*> target_{""};
    std::mutex mutex_;  // fork: belongs to one call, which no child continues
    Fault fault_;
};

Reader::Read::Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes,
                   const DeviceText* device)
    : reader_(reader),
      offset_(offset),
      out_(out),
      bytes_(bytes),
      first_(offset / chunk_text_bytes),
      end_((offset + bytes - 1) / chunk_text_bytes + 1),
      device_(device) {
    cuda_ = device == nullptr &&
            reader.engine_.gpus_for_segments(reader.opened_.suite->cipher, WARPSEAL_GCM,
                                             Direction::decrypt, bytes);
    const uint64_t chunks = end_ - first_, threads = reader.engine_.threads();
    step_ = device != nullptr ? PinnedSegments::chunks
            : cuda_           ? cuda_chunks
                    : static_cast<size_t>(std::clamp<uint64_t>((chunks + threads - 1) / threads,
                                                               least_cpu_chunks, most_cpu_chunks));
    step_ = static_cast<size_t>(std::min<uint64_t>(step_, chunks));
    segment_count_ = (chunks + step_ - 1) / step_;
}

size_t Reader::Read::workers() const {
    const size_t fit = device_ != nullptr
                           ? device_segments_bytes / (PinnedSegments::chunks * chunk_bytes)
                           : all_segments_bytes / (step_ * chunk_memory_bytes(layout()));
    const size_t threads = reader_.engine_.threads();
    const size_t wanted = std::clamp<size_t>(
        fit, 1, device_ != nullptr ? device_readers_per_thread * threads : threads);
    return static_cast<size_t>(std::min<uint64_t>(wanted, segment_count_));
}

// Segments of one read into device memory, which other reads get afterwards.
struct Reader::Read::Segments {
    Read& read;
    std::vector<std::unique_ptr<Segment>> all;
    ~Segments() {
        if (read.device_ == nullptr) return;
        for (std::unique_ptr<Segment>& segment : all)
            if (segment != nullptr) read.reader_.pinned_.give_back(std::move(segment));
    }
};

warpseal_status Reader::Read::run(const char*& target, Fault& fault) {
    Segments owner{*this, std::vector<std::unique_ptr<Segment>>(workers())};
    std::vector<std::unique_ptr<Segment>>& segments = owner.all;
    for (size_t i = 0; i < segments.size(); ++i) {
        segments[i] = new_segment(i == 0);
        if (segments[i] != nullptr) continue;
        if (device_ == nullptr || i == 0)
            return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for %zu segments of the file",
                             segments.size());
        segments.resize(i);  // other reads have the rest
    }
    if (segments.size() == 1) {
        work(*segments[0]);
    } else if (device_ != nullptr) {
        std::vector<std::jthread> threads;
        threads.reserve(segments.size());
        try {
            for (size_t i = 1; i < segments.size(); ++i)
                threads.emplace_back([this, &segment = *segments[i]] { work(segment); });
        } catch (const std::system_error&) {
            // Continues with the threads that started.
        }
        work(*segments[0]);
    } else {
        reader_.engine_.parallel(segments.size(), [&](size_t i) { work(*segments[i]); });
    }
    target = target_;
    if (failed_at_ != UINT64_MAX) fault = fault_;
    return fault.status;
}

std::unique_ptr<Segment> Reader::Read::new_segment(bool needed) const {
    if (device_ != nullptr) return reader_.pinned_.take(reader_.engine_, needed);
    auto made = std::make_unique<Segment>();
    return made->allocate(reader_.engine_, layout(), step_, &reader_.spaces_) ? std::move(made)
                                                                              : nullptr;
}

void Reader::Read::work(Segment& segment) {
    for (;;) {
        const uint64_t number = next_.fetch_add(1);
        if (number >= segment_count_ || failed_at_.load() < number) return;
        const uint64_t first = first_ + number * step_;
        const size_t count = static_cast<size_t>(std::min<uint64_t>(step_, end_ - first));
        const char* target = nullptr;
        if (reader_.open_chunks(segment, first, count, device_, target) != WARPSEAL_OK) {
            fail(number, segment.fault);
        } else {
            if (target != nullptr) target_ = target;
            if (device_ == nullptr) copy_text(segment);
        }
    }
}

// Copies the bytes of the read that lie in the segment.
void Reader::Read::copy_text(Segment& segment) {
    for (size_t i = 0; i < segment.chunks; ++i) {
        const uint64_t at = (segment.first_chunk + i) * chunk_text_bytes;
        const uint64_t begin = std::max(at, offset_),
                       end = std::min(at + segment.text_of(i), offset_ + bytes_);
        if (begin >= end) continue;
        const Segment::Buffers text = segment.text_buffers(i, segment.text_of(i));
        memcpy(out_ + (begin - offset_),
               static_cast<const uint8_t*>(text.first->iov_base) + (begin - at),
               static_cast<size_t>(end - begin));
    }
}

void Reader::Read::fail(uint64_t number, const Fault& fault) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number >= failed_at_) return;
    failed_at_ = number;
    fault_ = fault;
}

template <class Run, class WipeOutput>
warpseal_status Reader::read(uint64_t offset, size_t bytes, size_t& got, const char*& target,
                             Fault& fault, const Run& run, const WipeOutput& wipe_output) const {
    got = 0;
    target = "";
    if (offset >= text_bytes_ || bytes == 0) return WARPSEAL_OK;
    bytes = static_cast<size_t>(std::min<uint64_t>(bytes, text_bytes_ - offset));
    try {
        if (run(bytes) == WARPSEAL_OK) {
            got = bytes;
            return WARPSEAL_OK;
        }
    } catch (const std::bad_alloc&) {
        fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
    } catch (...) {
        wipe_output(bytes);
        throw;
    }
    wipe_output(bytes);
    return fault.status;
}

warpseal_status Reader::read_at(uint64_t offset, uint8_t* out, size_t bytes, size_t& got,
                                const char*& target, Fault& fault) const {
    return read(
        offset, bytes, got, target, fault,
        [&](size_t some) { return Read(*this, offset, out, some).run(target, fault); },
        [&](size_t some) { wipe(out, some); });
}

warpseal_status Reader::read_at_device(uint64_t offset, uint8_t* out, size_t bytes, void* stream,
                                       size_t& got, const char*& target, Fault& fault) const {
    DeviceText text = {0, out, offset, 0};
    const auto run = [&](size_t some) {
        if (find_device_text(engine_, out, some, stream, text, "out", fault) != WARPSEAL_OK)
            return fault.status;
        return Read(*this, text).run(target, fault);
    };
    return read(offset, bytes, got, target, fault, run,
                [&](size_t) { engine_.wipe_resident(text.gpu, out, text.bytes); });
}

}  // namespace warpseal::container
