// Segments of a payload: memory layout, sealing and opening, and the number of chunks that may be
// output.
#include "container/pipeline/segment.h"

#include <algorithm>
#include <cstring>

namespace warpseal::container {
namespace {

using ull = unsigned long long;

bool sealing(const ChunkJob& job) { return job.direction == Direction::encrypt; }

}  // namespace

warpseal_status find_device_text(Engine& engine, const void* memory, uint64_t bytes, void* stream,
                                 DeviceText& text, const char* name, Fault& fault) {
    unsigned gpu = 0;
    const warpseal_status status = engine.resident_gpu(memory, bytes, stream, gpu);
    switch (status) {
        case WARPSEAL_OK: break;
        case WARPSEAL_INVALID_ARGUMENT:
            return fault.say(status, "%s is not in the memory of one GPU of the engine", name);
        case WARPSEAL_NO_DEVICE:
            return fault.say(status,
                             "the engine has no GPU that works: create it with the device "
                             "\"cuda\", or give host memory");
        default: return fault.say(status, "%s", warpseal_status_text(status));
    }
    text.gpu = gpu;
    text.bytes = bytes;
    return WARPSEAL_OK;
}

bool Segment::allocate(Engine& engine, Layout layout, size_t chunk_count, Workspaces* spaces) {
    layout_ = layout;
    resize_lists(chunk_count);
    const bool separate = layout == Layout::separate, pinned = layout != Layout::in_place;
    return chunk_memory_.allocate(engine, pinned, chunk_count * chunk_bytes, spaces) &&
           (!separate ||
            text_memory_.allocate(engine, pinned, chunk_count * chunk_text_bytes, spaces));
}

void Segment::borrow(size_t chunk_count, void* memory) {
    layout_ = Layout::device;
    resize_lists(chunk_count);
    chunk_memory_.borrow(memory);
    space_ = chunk(chunk_count);
}

void Segment::resize_lists(size_t chunk_count) {
    nonces_.resize(chunk_count * nonce_bytes);
    lengths_.resize(chunk_count);
    statuses_.resize(chunk_count);
    buffers_.resize(chunk_count);
}

Segment::Buffers Segment::text_buffers(size_t first, size_t bytes) {
    const size_t step = layout_ == Layout::in_place ? chunk_text_bytes : std::max(bytes, size_t{1});
    size_t count = 0;
    for (size_t at = 0; at < bytes; at += step, ++count)
        buffers_[count] = {text(first + count), std::min(step, bytes - at)};
    return {buffers_.data(), count};
}

Segment::Buffers Segment::input_buffers(Direction direction, size_t bytes) {
    if (direction == Direction::encrypt)
        return text_buffers(0, bytes);  // in place: leaves room for the tags between chunks
    buffers_[0] = {chunk(0), bytes};
    return {buffers_.data(), 1};
}

Segment::Buffers Segment::output_buffers(Direction direction, uint64_t& text_bytes,
                                         uint64_t& bytes) {
    text_bytes = valid_chunks == 0
                     ? 0
                     : (valid_chunks - 1) * uint64_t{chunk_text_bytes} + text_of(valid_chunks - 1);
    bytes = text_bytes;
    if (direction == Direction::decrypt) return text_buffers(0, static_cast<size_t>(text_bytes));
    bytes += valid_chunks * tag_bytes;
    buffers_[0] = {chunk(0), static_cast<size_t>(bytes)};
    return {buffers_.data(), 1};
}

void Segment::find_chunks(const ChunkJob& job) {
    const size_t whole = bytes_in / in_stride(job.direction);
    const size_t rest = bytes_in % in_stride(job.direction);
    fault = Fault{};
    chunks = whole;
    last_text = 0;
    if (last && sealing(job)) {
        ++chunks;
        last_text = rest;
    } else if (last && rest >= tag_bytes) {
        ++chunks;
        last_text = rest - tag_bytes;
    } else if (last) {
        const uint64_t next = first_chunk + whole;
        last = false;
        fault.say(WARPSEAL_TRUNCATED,
                  "the file ends early, at byte %llu: %zu bytes of chunk %llu are there, and the "
                  "last chunk has at least %zu",
                  ull{job.source_offset + next * chunk_bytes + rest}, rest, ull{next}, tag_bytes);
    }
    valid_chunks = chunks;
    if (first_chunk + chunks <= max_chunks) return;
    chunks = valid_chunks = 0;
    fault.say(WARPSEAL_LIMIT_EXCEEDED, "more than %llu chunks", ull{max_chunks});
}

warpseal_batch Segment::batch(const ChunkJob& job) {
    for (size_t i = 0; i < chunks; ++i) {
        chunk_nonce(job.payload, first_chunk + i, nonces_.data() + i * nonce_bytes);
        lengths_[i] = text_of(i);
    }
    // A chunk counts as verified only if the engine says so.
    std::fill(statuses_.begin(), statuses_.end(), int32_t{WARPSEAL_NOT_AUTHENTIC});
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = chunks;
    batch.message_bytes = chunk_text_bytes;
    batch.lengths = last ? lengths_.data() : nullptr;
    batch.ivs = nonces_.data();
    batch.iv_stride = nonce_bytes;
    batch.in = sealing(job) ? text(0) : chunk(0);
    batch.out = sealing(job) ? chunk(0) : text(0);
    batch.in_stride = sealing(job) ? text_stride(layout_) : chunk_bytes;
    batch.out_stride = sealing(job) ? chunk_bytes : text_stride(layout_);
    batch.tags = chunk(0) + chunk_text_bytes;
    batch.tag_stride = chunk_bytes;
    batch.statuses = statuses_.data();
    return batch;
}

const char* Segment::transform(const ChunkJob& job) {
    if (chunks == 0) return nullptr;
    if (job.device != nullptr) {
        begin(job);
        return finish(job);
    }
    // The tags of a batch have a fixed stride, so the short chunk's tag moves to the offset where a
    // full chunk has it.
    uint8_t* const short_chunk = last ? chunk(chunks - 1) : nullptr;
    if (short_chunk != nullptr && !sealing(job))
        memmove(short_chunk + chunk_text_bytes, short_chunk + last_text, tag_bytes);
    const char* target = nullptr;
    status_ = job.engine.batch(*job.payload.key, WARPSEAL_GCM, job.direction, batch(job),
                               Engine::Threads::caller, &target);
    if (status_ != WARPSEAL_OK)
        find_failed_chunk(job, status_);
    else if (short_chunk != nullptr && sealing(job))
        memmove(short_chunk + last_text, short_chunk + chunk_text_bytes, tag_bytes);
    return target;
}

void Segment::verify_last(const ChunkJob& job) {
    if (chunks == 0) return;
    uint8_t nonce[nonce_bytes];
    chunk_nonce(job.payload, first_chunk, nonce);
    status_ = job.engine.verify_gcm(*job.payload.key, {nonce, nonce_bytes}, {chunk(0), last_text},
                                    chunk(0) + last_text, tag_bytes);
    if (status_ != WARPSEAL_OK) find_failed_chunk(job, status_);
}

// Begins to seal or open chunks [first, end), which have one length. Device memory holds all of
// their text, or a part of the text of a single one.
warpseal_status Segment::begin_batch(const ChunkJob& job, size_t first, size_t end,
                                     ResidentBatch& out) {
    const DeviceText& device = *job.device;
    const uint64_t offset = text_offset(first);
    const size_t bytes = text_of(first);
    const bool whole = device.holds(offset, bytes);
    const uint64_t begin = std::max(offset, device.begin),
                   until = std::min(offset + bytes, device.begin + device.bytes);
    const TextWindow window = {begin - offset, until - begin};
    // An empty message has no memory of its own.
    uint8_t* const text = bytes == 0 ? chunk(first) : device.at(begin);
    uint8_t* const space = space_ == nullptr ? nullptr : space_ + first * resident_space_bytes;
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = end - first;
    batch.message_bytes = bytes;
    batch.ivs = nonces_.data() + first * nonce_bytes;
    batch.iv_stride = nonce_bytes;
    batch.in = sealing(job) ? text : chunk(first);
    batch.out = sealing(job) ? chunk(first) : text;
    batch.in_stride = in_stride(job.direction);
    batch.out_stride = out_stride(job.direction);
    batch.tags = chunk(first) + bytes;
    batch.tag_stride = chunk_bytes;
    batch.statuses = statuses_.data() + first;
    return job.engine.begin_resident(device.gpu, *job.payload.key, WARPSEAL_GCM, job.direction,
                                     batch, whole ? nullptr : &window, space, out);
}

void Segment::begin(const ChunkJob& job) {
    for (size_t i = 0; i < chunks; ++i)
        chunk_nonce(job.payload, first_chunk + i, nonces_.data() + i * nonce_bytes);
    std::fill(statuses_.begin(), statuses_.end(), int32_t{WARPSEAL_NOT_AUTHENTIC});
    const auto uniform = [&](size_t i) {
        return text_of(i) == chunk_text_bytes && job.device->holds(text_offset(i), text_of(i));
    };
    status_ = WARPSEAL_OK;
    size_t batches = 0;
    for (size_t i = 0; i < chunks && status_ == WARPSEAL_OK;) {
        size_t end = i + 1;
        while (uniform(i) && end < chunks && uniform(end)) ++end;
        status_ = begin_batch(job, i, end, in_flight_[batches++]);
        i = end;
    }
}

const char* Segment::finish(const ChunkJob& job) {
    if (chunks == 0) return nullptr;
    for (ResidentBatch& batch : in_flight_) {
        const warpseal_status status = batch.finish();
        // A failure of the GPU counts more than a chunk that is not authentic.
        if (status != WARPSEAL_OK && (status_ == WARPSEAL_OK || status_ == WARPSEAL_NOT_AUTHENTIC))
            status_ = status;
    }
    if (status_ != WARPSEAL_OK) find_failed_chunk(job, status_);
    return "cuda";
}

void Segment::find_failed_chunk(const ChunkJob& job, warpseal_status status) {
    valid_chunks = 0;
    if (status != WARPSEAL_NOT_AUTHENTIC) {
        fault.say(status, "the engine could not %s chunk %llu and those after it",
                  sealing(job) ? "seal" : "open", ull{first_chunk});
        return;
    }
    while (valid_chunks + 1 < chunks && statuses_[valid_chunks] == WARPSEAL_OK) ++valid_chunks;
    const uint64_t number_in_file = first_chunk + valid_chunks;
    const bool is_last = last && valid_chunks + 1 == chunks;
    fault.say(WARPSEAL_NOT_AUTHENTIC, "chunk %llu, at byte %llu, does not verify: it was changed%s",
              ull{number_in_file}, ull{job.source_offset + number_in_file * chunk_bytes},
              is_last ? ", or the file was cut or lengthened within it" : ", moved or damaged");
}

}  // namespace warpseal::container
