// Reads of a sealed file at any offset, on all cores.
#include "container/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>

#include "container/pipeline/descriptor.h"
#include "engine/pinned_blocks.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Chunks of a segment on cores: fewer do not pay for a thread, more do not fit in a core's cache.
constexpr size_t least_cpu_chunks = 4, most_cpu_chunks = 16;
constexpr size_t cuda_chunks = 256;
constexpr size_t all_segments_bytes = size_t{32} << 20;
// Into device memory: a segment has 2 MiB, or up to a whole block where the read is so large that
// all workers have many.
constexpr size_t least_transfer_chunks = 128,
                 most_transfer_chunks = PinnedBlocks::block_bytes / Segment::transfer_bytes(1);
constexpr size_t transfers_of_worker = 2;  // one is read while the other is in flight
static_assert(Segment::transfer_bytes(most_transfer_chunks) <= PinnedBlocks::block_bytes);

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
// Into device memory, a worker reads one segment while the GPU works on another. Their blocks of
// pinned memory are shared with other reads. One block of each read is its own, so no read waits
// for another.
class Reader::Read {
public:
    // Into `out` in host memory, or into device memory.
    Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes)
        : Read(reader, offset, out, bytes, nullptr) {}
    Read(const Reader& reader, const DeviceText& device)
        : Read(reader, device.begin, nullptr, static_cast<size_t>(device.bytes), &device) {}
    warpseal_status run(const char*& target, Fault& fault);

private:
    // A segment on its way into device memory.
    struct Transfer {
        explicit Transfer(Read& read) : read(read) {}
        ~Transfer() { read.retire(*this); }
        Transfer(const Transfer&) = delete;
        Transfer& operator=(const Transfer&) = delete;

        Read& read;
        PinnedBlocks::Lease block;
        Segment segment;
        bool in_flight = false;
    };

    Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes,
         const DeviceText* device);
    Layout layout() const { return cuda_ ? Layout::separate : Layout::in_place; }
    size_t most_workers() const;
    bool is_done() const;
    bool take(uint64_t& first, size_t& count);
    void open_segments();
    void copy_text(Segment& segment);
    void transfer_segments();
    PinnedBlocks::Lease take_block(bool waits);
    void begin(Transfer& transfer, uint64_t first, size_t count);
    void retire(Transfer& transfer);
    void fail(const Segment& segment);

    const Reader& reader_;
    const ChunkJob job_;
    const uint64_t offset_;
    uint8_t* const out_;
    const size_t bytes_;
    const uint64_t first_, end_;  // chunks
    bool cuda_ = false;
    size_t least_chunks_ = 0, most_chunks_ = 0;  // of a segment, but for the last
    size_t workers_ = 1;

    std::atomic<uint64_t> next_;  // chunk
    std::atomic<uint64_t> failed_at_{UINT64_MAX};
    std::atomic<const char*> target_{""};
    std::mutex mutex_;  // fork: belongs to one call, which no child continues
    Fault fault_;
    PinnedBlocks::Lease own_;          // null while a worker uses it
    std::condition_variable changed_;  // fork: belongs to one call, like the mutex
};

Reader::Read::Read(const Reader& reader, uint64_t offset, uint8_t* out, size_t bytes,
                   const DeviceText* device)
    : reader_(reader),
      job_{reader.engine_, reader.opened_.payload, Direction::decrypt, reader.opened_.head_bytes,
           device},
      offset_(offset),
      out_(out),
      bytes_(bytes),
      first_(offset / chunk_text_bytes),
      end_((offset + bytes - 1) / chunk_text_bytes + 1),
      next_(first_) {
    const uint64_t chunks = end_ - first_, threads = reader.engine_.threads();
    if (device != nullptr) {
        least_chunks_ = least_transfer_chunks;
        most_chunks_ = most_transfer_chunks;
    } else {
        cuda_ = reader.engine_.gpus_for_segments(reader.opened_.suite->cipher, WARPSEAL_GCM,
                                                 Direction::decrypt, bytes);
        least_chunks_ =
            cuda_ ? cuda_chunks
                  : static_cast<size_t>(std::clamp<uint64_t>((chunks + threads - 1) / threads,
                                                             least_cpu_chunks, most_cpu_chunks));
        least_chunks_ = static_cast<size_t>(std::min<uint64_t>(least_chunks_, chunks));
        most_chunks_ = least_chunks_;
    }
    const size_t wanted = std::clamp<size_t>(most_workers(), 1, threads);
    workers_ = static_cast<size_t>(
        std::min<uint64_t>(wanted, (chunks + least_chunks_ - 1) / least_chunks_));
}

// Workers that there is memory for.
size_t Reader::Read::most_workers() const {
    return job_.device != nullptr
               ? PinnedBlocks::most_shared
               : all_segments_bytes / (most_chunks_ * chunk_memory_bytes(layout()));
}

warpseal_status Reader::Read::run(const char*& target, Fault& fault) {
    const auto no_memory = [&] {
        return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for a segment of the file");
    };
    bool all_in_use = false;
    if (job_.device != nullptr) {
        own_ = reader_.engine_.pinned_blocks().acquire(true, all_in_use);
        if (own_ == nullptr) return no_memory();
    }
    const auto work = [&](size_t) {
        job_.device != nullptr ? transfer_segments() : open_segments();
    };
    if (workers_ == 1)
        work(0);
    else
        reader_.engine_.parallel(workers_, work);
    if (!is_done()) return no_memory();  // no worker had any
    target = target_;
    if (failed_at_ != UINT64_MAX) fault = fault_;
    return fault.status;
}

// True if workers have taken all segments, or those before the first failure.
bool Reader::Read::is_done() const {
    const uint64_t next = next_.load();
    return next >= end_ || failed_at_.load() < next;
}

// Takes the next segment. They grow at the start of a large read, so that the GPU begins early, and
// shrink at its end, so that all workers end together. Returns false if none is left.
bool Reader::Read::take(uint64_t& first, size_t& count) {
    first = next_.load();
    do {
        if (first >= end_ || failed_at_.load() < first) return false;
        const uint64_t before = first - first_, left = end_ - first;
        const uint64_t share = std::min(before, left) / (transfers_of_worker * workers_);
        count = static_cast<size_t>(
            std::min(std::clamp<uint64_t>(share, least_chunks_, most_chunks_), left));
    } while (!next_.compare_exchange_weak(first, first + count));
    return true;
}

// A worker of a read into host memory. Without memory it leaves the work to others.
void Reader::Read::open_segments() {
    Segment segment;
    if (is_done() || !segment.allocate(reader_.engine_, layout(), most_chunks_, &reader_.spaces_))
        return;
    uint64_t first = 0;
    for (size_t count = 0; take(first, count);) {
        const char* ran = nullptr;
        if (reader_.read_chunks(job_, segment, first, count) == WARPSEAL_OK)
            ran = segment.transform(job_);
        if (segment.fault.status != WARPSEAL_OK) {
            fail(segment);
        } else {
            if (ran != nullptr) target_ = ran;
            copy_text(segment);
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

// A worker of a read into device memory. With one block of memory, it waits for the GPU before it
// reads again.
void Reader::Read::transfer_segments() {
    Transfer one(*this), other(*this);
    for (Transfer *next = &one, *before = &other;; std::swap(next, before)) {
        next->block = take_block(before->block == nullptr);
        if (next->block == nullptr && before->block != nullptr) {
            retire(*before);
            next->block = take_block(true);
        }
        uint64_t first = 0;
        size_t count = 0;
        if (next->block == nullptr || !take(first, count)) return;
        begin(*next, first, count);
        retire(*before);
    }
}

// Returns the read's own block or a shared one. If others use all of these, waits for a worker of
// this read if `waits`. Null if there is no work or no memory.
PinnedBlocks::Lease Reader::Read::take_block(bool waits) {
    std::unique_lock lock(mutex_);
    for (bool all_in_use = false; !is_done();) {
        if (own_ != nullptr) return std::move(own_);
        if (all_in_use) {
            if (!waits) break;
            changed_.wait(lock);
            all_in_use = false;
            continue;
        }
        lock.unlock();
        PinnedBlocks::Lease shared = reader_.engine_.pinned_blocks().acquire(false, all_in_use);
        lock.lock();
        if (shared != nullptr) {
            changed_.notify_all();  // other reads may have released more
            return shared;
        }
        if (!all_in_use) break;
    }
    return nullptr;
}

void Reader::Read::begin(Transfer& transfer, uint64_t first, size_t count) {
    Segment& segment = transfer.segment;
    segment.borrow(most_chunks_, transfer.block.get());
    if (reader_.read_chunks(job_, segment, first, count) != WARPSEAL_OK) return fail(segment);
    transfer.in_flight = true;
    segment.begin(job_);
}

// Waits for the GPU, and returns the block: to the read, or to all if the read has one.
void Reader::Read::retire(Transfer& transfer) {
    if (transfer.in_flight) {
        transfer.in_flight = false;
        if (const char* ran = transfer.segment.finish(job_)) target_ = ran;
        if (transfer.segment.fault.status != WARPSEAL_OK) fail(transfer.segment);
    }
    if (transfer.block == nullptr) return;
    {
        const std::lock_guard lock(mutex_);
        if (own_ == nullptr) own_ = std::move(transfer.block);
    }
    transfer.block.reset();
    changed_.notify_all();
}

void Reader::Read::fail(const Segment& segment) {
    const std::lock_guard lock(mutex_);
    if (segment.first_chunk >= failed_at_) return;
    failed_at_ = segment.first_chunk;
    fault_ = segment.fault;
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
