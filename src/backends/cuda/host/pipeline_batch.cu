// Pipeline for batches. A chunk is a range of messages, packed in a slot with their IVs, keys, AAD
// and tags.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "backends/batch_message.h"
#include "backends/cuda/host/chunks.h"
#include "backends/cuda/host/device.h"
#include "backends/cuda/host/memory_kind.h"
#include "backends/cuda/host/pipeline.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

namespace {

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Copies `count` items of `bytes` bytes each, with a stride on either side.
void copy_items(uint8_t* to, size_t to_stride, const uint8_t* from, size_t from_stride,
                size_t bytes, uint64_t count) {
    if (to_stride == bytes && from_stride == bytes) {
        memcpy(to, from, bytes * count);
    } else {
        for (uint64_t i = 0; i < count; ++i)
            memcpy(to + i * to_stride, from + i * from_stride, bytes);
    }
}

// Offsets in a slot, the same in device memory and in pinned memory.
struct Packing {
    size_t lengths, offsets, ivs, keys, aad, tags, statuses, text, end;
};

// The side of the text that lies in the memory of the device, if one does.
enum class Resident : uint8_t { none, in, out };

class Messages : public Work {
public:
    // window: what of a single message's text the resident side receives; null: all of it.
    Messages(const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction,
             const warpseal_batch& batch, Resident resident = Resident::none,
             const TextWindow* window = nullptr)
        : batch_(batch),
          run_(cipher.batch[mode][static_cast<int>(direction)]),
          state_(state),
          key_bytes_(cipher.key_bytes),
          tagged_(mode == WARPSEAL_GCM || mode == WARPSEAL_CCM || mode == WARPSEAL_CMAC),
          verifies_(tagged_ && direction == Direction::decrypt),
          no_output_(mode == WARPSEAL_CMAC),
          serial_(
              no_output_ || mode == WARPSEAL_CCM || mode == WARPSEAL_OFB ||
              (direction == Direction::encrypt && (mode == WARPSEAL_CBC || mode == WARPSEAL_CFB))),
          resident_(resident),
          window_(window),
          direct_in_(resident == Resident::in),
          direct_out_(no_output_ || resident == Resident::out) {
        for (uint64_t i = 0; batch.lengths != nullptr && i < batch.message_count; ++i)
            text_bytes_ += batch.lengths[i];
        if (batch.lengths == nullptr) text_bytes_ = batch.message_count * batch.message_bytes;
        const size_t n = batch.message_bytes, count = batch.message_count;
        if (count == 0 || batch.lengths != nullptr || batch.in_offsets != nullptr ||
            batch.out_offsets != nullptr)
            return;
        if (n < tuning::min_direct_row_bytes || (count > 1 && batch.in_stride < n)) return;
        const size_t in_extent = (count - 1) * batch.in_stride + n;
        if (!direct_in_) {
            direct_in_ = is_pinned(batch.in, in_extent);
            tags_in_text_ =
                direct_in_ && verifies_ && resident == Resident::out && window == nullptr &&
                batch.tags == batch.in + n && n % 16 == 0 && batch.tag_bytes % 16 == 0 &&
                (count == 1 ||
                 (batch.in_stride == n + batch.tag_bytes && batch.tag_stride == batch.in_stride)) &&
                is_pinned(batch.tags, (count - 1) * batch.tag_stride + batch.tag_bytes);
        }
        if (direct_out_ || (count > 1 && batch.out_stride < n)) return;
        const size_t out_extent = (count - 1) * batch.out_stride + n;
        direct_out_ = (batch.in + in_extent <= batch.out || batch.out + out_extent <= batch.in) &&
                      is_pinned(batch.out, out_extent);
    }

    Workers workers() const {
        if (!direct_in_ || !direct_out_) return staging_workers(text_bytes_);
        return direct_workers(serial_ ? tuning::serial_slots_in_flight : tuning::slots_in_flight);
    }
    uint64_t not_authentic() const { return not_authentic_; }

    uint64_t end() const override { return batch_.message_count; }
    size_t min_slot_bytes(uint64_t begin) const override {
        return std::max(packing(1, row_bytes(begin)).end, tuning::min_slot_bytes);
    }
    uint64_t chunk_end(uint64_t begin, size_t slot_bytes) override {
        // Assumes messages of equal length.
        const uint64_t before = text_bytes_ / batch_.message_count * begin;
        // A caller that opens pinned text has cut it into calls, and overlaps these.
        if (!serial_ && !(resident_ == Resident::out && direct_in_))
            slot_bytes = std::min(
                slot_bytes, chunk_bytes(before, text_bytes_ - before, !direct_in_ || !direct_out_));
        size_t text = 0;
        uint64_t end = begin;
        for (; end < batch_.message_count; ++end) {
            text += row_bytes(end);
            if (end > begin && packing(end + 1 - begin, text).end > slot_bytes) break;
        }
        return end;
    }
    warpseal_status queue(Slot& slot, const Chunk& chunk) override;
    void commit(Slot& slot, const Chunk& chunk) override { commit(slot.pinned, chunk); }

    // Queues all messages at once and returns; `host`, of resident_space_bytes for each, takes the
    // place of pinned memory of a slot. *done is complete when commit_all() may be called. It stays
    // null if the messages do not fit in a slot, need staging, or find no slot free.
    warpseal_status queue_all(int device, uint8_t* host, cudaEvent_t* done);
    void commit_all(const uint8_t* host) { commit(host, all()); }

private:
    Chunk all() const { return {0, 0, batch_.message_count}; }
    size_t length(uint64_t i) const {
        return batch_.lengths != nullptr ? batch_.lengths[i] : batch_.message_bytes;
    }
    // Bytes of message i in a slot.
    size_t row_bytes(uint64_t i) const {
        return tags_in_text_ ? batch_.message_bytes + batch_.tag_bytes : round_up(length(i), 16);
    }
    const uint8_t* input(uint64_t i) const {
        return batch_.in +
               (batch_.in_offsets != nullptr ? batch_.in_offsets[i] : i * batch_.in_stride);
    }
    uint8_t* output(uint64_t i) const {
        return batch_.out +
               (batch_.out_offsets != nullptr ? batch_.out_offsets[i] : i * batch_.out_stride);
    }
    Packing packing(uint64_t count, size_t text_bytes) const;
    size_t text_bytes(const Chunk& chunk) const;
    void pack(uint8_t* pinned, const Packing& p, const Chunk& chunk) const;
    warpseal_batch on_device(uint8_t* device, const Packing& p, const Chunk& chunk) const;
    // `host`: pinned memory that has the slot's layout.
    warpseal_status queue(Slot& slot, uint8_t* host, const Packing& p, const Chunk& chunk) const;
    warpseal_status copy_in(Slot& slot, const uint8_t* host, const Packing& p,
                            const Chunk& chunk) const;
    warpseal_status copy_out(Slot& slot, uint8_t* host, const Packing& p, const Chunk& chunk) const;
    void commit(const uint8_t* host, const Chunk& chunk);

    const warpseal_batch& batch_;
    const CudaCipher::Batch run_;
    const void* state_;
    const uint32_t key_bytes_;
    const bool tagged_, verifies_, no_output_;
    const bool serial_;  // serial within a message: needs many messages at once
    const Resident resident_;
    const TextWindow* const window_;
    // Not staged: copied between the caller's pinned memory and the slot, or resident.
    bool direct_in_, direct_out_;
    // Each message has its tag after it, as in a sealed file, and its output is not in the slot:
    // one copy brings text and tags.
    bool tags_in_text_ = false;
    uint64_t text_bytes_ = 0;
    std::atomic<uint64_t> not_authentic_{0};
};

Packing Messages::packing(uint64_t count, size_t text_bytes) const {
    Packing p{};
    size_t at = 0;
    const auto reserve = [&](size_t bytes) {
        const size_t begin = at;
        at += round_up(bytes, 16);
        return begin;
    };
    p.lengths = reserve(batch_.lengths != nullptr ? 8 * count : 0);
    p.offsets = reserve(batch_.lengths != nullptr ? 8 * count : 0);
    p.ivs = reserve(batch_.iv_bytes * (batch_.iv_stride != 0 ? count : 1));
    p.keys = reserve(batch_.keys != nullptr ? key_bytes_ * count : 0);
    p.aad = reserve(batch_.aad_bytes * (batch_.aad_stride != 0 ? count : 1));
    p.tags = reserve(tagged_ && !tags_in_text_ ? batch_.tag_bytes * count : 0);
    p.statuses = reserve(sizeof(int32_t) * count);
    at = round_up(at, 256);
    p.text = reserve(text_bytes);
    p.end = at;
    return p;
}

size_t Messages::text_bytes(const Chunk& chunk) const {
    if (tags_in_text_) return (chunk.end - chunk.begin) * (batch_.message_bytes + batch_.tag_bytes);
    if (batch_.lengths == nullptr)
        return (chunk.end - chunk.begin) * round_up(batch_.message_bytes, 16);
    size_t bytes = 0;
    for (uint64_t i = chunk.begin; i < chunk.end; ++i) bytes += round_up(length(i), 16);
    return bytes;
}

void Messages::pack(uint8_t* pinned, const Packing& p, const Chunk& chunk) const {
    const uint64_t first = chunk.begin, count = chunk.end - chunk.begin;
    const uint64_t ivs = batch_.iv_stride != 0 ? count : 1,
                   aads = batch_.aad_stride != 0 ? count : 1;
    if (batch_.iv_bytes != 0)
        copy_items(pinned + p.ivs, batch_.iv_bytes, batch_.ivs + first * batch_.iv_stride,
                   batch_.iv_stride, batch_.iv_bytes, ivs);
    if (batch_.aad_bytes != 0)
        copy_items(pinned + p.aad, batch_.aad_bytes, batch_.aad + first * batch_.aad_stride,
                   batch_.aad_stride, batch_.aad_bytes, aads);
    if (batch_.keys != nullptr)
        memcpy(pinned + p.keys, batch_.keys + first * key_bytes_, count * key_bytes_);
    if (verifies_ && !tags_in_text_)
        copy_items(pinned + p.tags, batch_.tag_bytes, batch_.tags + first * batch_.tag_stride,
                   batch_.tag_stride, batch_.tag_bytes, count);
    if (direct_in_) return;
    size_t text = 0;
    for (uint64_t i = first; i < chunk.end; ++i) {
        const uint64_t k = i - first, n = length(i);
        if (batch_.lengths != nullptr) {
            memcpy(pinned + p.lengths + 8 * k, &n, 8);
            memcpy(pinned + p.offsets + 8 * k, &text, 8);
        }
        if (n != 0) memcpy(pinned + p.text + text, input(i), n);
        text += round_up(n, 16);
    }
}

warpseal_batch Messages::on_device(uint8_t* device, const Packing& p, const Chunk& chunk) const {
    warpseal_batch b{};
    b.struct_bytes = sizeof b;
    b.iv_bytes = batch_.iv_bytes;
    b.tag_bytes = batch_.tag_bytes;
    b.message_count = chunk.end - chunk.begin;
    b.message_bytes = batch_.message_bytes;
    if (batch_.lengths != nullptr) {
        b.lengths = reinterpret_cast<const uint64_t*>(device + p.lengths);
        b.in_offsets = b.out_offsets = reinterpret_cast<const uint64_t*>(device + p.offsets);
    }
    b.keys = batch_.keys != nullptr ? device + p.keys : nullptr;
    b.ivs = device + p.ivs;
    b.iv_stride = batch_.iv_stride != 0 ? batch_.iv_bytes : 0;
    b.aad = device + p.aad;
    b.aad_bytes = batch_.aad_bytes;
    b.aad_stride = batch_.aad_stride != 0 ? batch_.aad_bytes : 0;
    b.in = b.out = device + p.text;
    b.in_stride = b.out_stride = round_up(batch_.message_bytes, 16);
    if (resident_ == Resident::in) b.in = input(chunk.begin), b.in_stride = batch_.in_stride;
    if (resident_ == Resident::out && window_ == nullptr)
        b.out = output(chunk.begin), b.out_stride = batch_.out_stride;
    b.tags = device + p.tags;
    b.tag_stride = batch_.tag_bytes;
    if (tags_in_text_) {
        b.tags = device + p.text + batch_.message_bytes;
        b.in_stride = b.tag_stride = batch_.message_bytes + batch_.tag_bytes;
    }
    b.statuses = reinterpret_cast<int32_t*>(device + p.statuses);
    return b;
}

warpseal_status Messages::copy_in(Slot& slot, const uint8_t* host, const Packing& p,
                                  const Chunk& chunk) const {
    const size_t staged = direct_in_ ? p.statuses : p.end, row = round_up(batch_.message_bytes, 16),
                 rows = chunk.end - chunk.begin;
    warpseal_status status = direct_in_ && staged <= tuning::kernel_copy_bytes
                                 ? slot.copy_by_kernel(slot.device, host, staged)
                                 : check(cudaMemcpyAsync(slot.device, host, staged,
                                                         cudaMemcpyHostToDevice, slot.stream));
    if (status == WARPSEAL_OK && tags_in_text_)
        return check(cudaMemcpyAsync(slot.device + p.text, input(chunk.begin), text_bytes(chunk),
                                     cudaMemcpyHostToDevice, slot.stream));
    if (status == WARPSEAL_OK && direct_in_ && resident_ != Resident::in)
        status = check(cudaMemcpy2DAsync(slot.device + p.text, row, input(chunk.begin),
                                         rows > 1 ? batch_.in_stride : row, batch_.message_bytes,
                                         rows, cudaMemcpyHostToDevice, slot.stream));
    return status;
}

warpseal_status Messages::copy_out(Slot& slot, uint8_t* host, const Packing& p,
                                   const Chunk& chunk) const {
    const size_t row = round_up(batch_.message_bytes, 16), rows = chunk.end - chunk.begin;
    warpseal_status status =
        direct_out_ ? slot.copy_by_kernel(host + p.tags, slot.device + p.tags,
                                          p.statuses + sizeof(int32_t) * rows - p.tags)
                    : check(cudaMemcpyAsync(host + p.tags, slot.device + p.tags, p.end - p.tags,
                                            cudaMemcpyDeviceToHost, slot.stream));
    if (status != WARPSEAL_OK || !direct_out_ || no_output_) return status;
    if (resident_ == Resident::out)
        return window_ == nullptr
                   ? WARPSEAL_OK
                   : check(cudaMemcpyAsync(batch_.out, slot.device + p.text + window_->begin,
                                           window_->bytes, cudaMemcpyDeviceToDevice, slot.stream));
    return check(cudaMemcpy2DAsync(output(chunk.begin), rows > 1 ? batch_.out_stride : row,
                                   slot.device + p.text, row, batch_.message_bytes, rows,
                                   cudaMemcpyDeviceToHost, slot.stream));
}

warpseal_status Messages::queue(Slot& slot, const Chunk& chunk) {
    warpseal_status status = slot.pin();
    if (status != WARPSEAL_OK) return status;
    const Packing p = packing(chunk.end - chunk.begin, text_bytes(chunk));
    slot.mark_used(p.end, direct_in_ && direct_out_ ? p.text : p.end);
    return queue(slot, slot.pinned, p, chunk);
}

warpseal_status Messages::queue(Slot& slot, uint8_t* host, const Packing& p,
                                const Chunk& chunk) const {
    pack(host, p, chunk);
    warpseal_status status = copy_in(slot, host, p, chunk);
    if (status == WARPSEAL_OK)
        status = run_(state_, as_scattered(on_device(slot.device, p, chunk)), slot.stream);
    return status == WARPSEAL_OK ? copy_out(slot, host, p, chunk) : status;
}

warpseal_status Messages::queue_all(int device, uint8_t* host, cudaEvent_t* done) {
    const uint64_t count = batch_.message_count;
    const Packing p = packing(count, text_bytes(all()));
    const size_t space = resident_space_bytes * count;
    if (!direct_in_ || !direct_out_ || p.statuses + sizeof(int32_t) * count > space ||
        p.end > tuning::slot_bytes || !is_pinned(host, space))
        return WARPSEAL_OK;
    const CurrentDevice current(device);
    const RelaxedCaptureMode relaxed;
    Slot* slot = nullptr;
    warpseal_status status = current.status() != WARPSEAL_OK ? current.status() : relaxed.status();
    if (status == WARPSEAL_OK)
        status =
            caught([&] { return acquire_slot(device, p.end, false, &slot, tuning::queued_slots); });
    // Smaller slots may do.
    if (slot == nullptr) return status == WARPSEAL_OUT_OF_MEMORY ? WARPSEAL_OK : status;
    slot->mark_used(p.end, 0);
    cudaEvent_t event = nullptr;
    status =
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
    if (status == WARPSEAL_OK) status = caught([&] { return queue(*slot, host, p, all()); });
    if (status == WARPSEAL_OK) status = check(cudaEventRecord(event, slot->stream));
    // Wait for what was queued before the failure.
    if (status != WARPSEAL_OK && !lost()) check(cudaStreamSynchronize(slot->stream));
    release_slot(slot);
    if (status == WARPSEAL_OK)
        *done = event;
    else if (event != nullptr && !lost())
        check(cudaEventDestroy(event));
    return status;
}

void Messages::commit(const uint8_t* host, const Chunk& chunk) {
    const uint64_t first = chunk.begin, count = chunk.end - chunk.begin;
    const Packing p = packing(count, text_bytes(chunk));
    const auto* const statuses = reinterpret_cast<const int32_t*>(host + p.statuses);
    not_authentic_ +=
        static_cast<uint64_t>(std::count(statuses, statuses + count, WARPSEAL_NOT_AUTHENTIC));
    if (batch_.statuses != nullptr)
        memcpy(batch_.statuses + first, statuses, count * sizeof *statuses);
    if (tagged_ && !verifies_)
        copy_items(batch_.tags + first * batch_.tag_stride, batch_.tag_stride, host + p.tags,
                   batch_.tag_bytes, batch_.tag_bytes, count);
    if (direct_out_) return;
    size_t text = 0;
    for (uint64_t i = first; i < chunk.end; ++i) {
        const size_t n = length(i);
        if (n != 0)
            copy_from_staging(output(i), host + p.text + text, n,
                              text_bytes_ >= tuning::non_temporal_bytes);
        text += round_up(n, 16);
    }
}

warpseal_status run_messages(int device, Messages& work, uint64_t* done_messages,
                             uint64_t* not_authentic) {
    *done_messages = *not_authentic = 0;
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    const warpseal_status status = run(device, work, work.workers(), done_messages);
    *not_authentic = work.not_authentic();
    return status;
}

// A batch between begin_resident and finish_resident.
struct ResidentMessages {
    ResidentMessages(int device, const CudaCipher& cipher, const void* state, warpseal_mode mode,
                     Direction direction, const warpseal_batch& given, const TextWindow* part,
                     uint8_t* space)
        : device(device),
          batch(given),
          window(part != nullptr ? *part : TextWindow{}),
          space(space),
          work(cipher, state, mode, direction, batch,
               direction == Direction::encrypt ? Resident::in : Resident::out,
               part != nullptr ? &window : nullptr) {}

    const int device;
    const warpseal_batch batch;
    const TextWindow window;
    uint8_t* const space;
    Messages work;
    cudaEvent_t done = nullptr;  // null: the work has ended
};

}  // namespace

warpseal_status batch_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                           uint64_t* done_messages, uint64_t* not_authentic) {
    Messages work(cipher, state, mode, direction, batch);
    return run_messages(device, work, done_messages, not_authentic);
}

warpseal_status begin_resident(int device, const CudaCipher& cipher, const void* state,
                               warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                               const TextWindow* window, uint8_t* space, void** begun) {
    *begun = nullptr;
    std::unique_ptr<ResidentMessages> made(new (std::nothrow) ResidentMessages(
        device, cipher, state, mode, direction, batch, window, space));
    if (made == nullptr) return WARPSEAL_OUT_OF_MEMORY;
    warpseal_status status = WARPSEAL_OK;
    if (space != nullptr) status = made->work.queue_all(device, space, &made->done);
    if (status == WARPSEAL_OK && made->done == nullptr) {
        uint64_t done = 0, not_authentic = 0;
        status = run_messages(device, made->work, &done, &not_authentic);
    }
    if (status == WARPSEAL_OK) *begun = made.release();
    return status;
}

warpseal_status finish_resident(void* begun, uint64_t* not_authentic) {
    const std::unique_ptr<ResidentMessages> made(static_cast<ResidentMessages*>(begun));
    warpseal_status status = WARPSEAL_OK;
    if (made->done != nullptr) {
        const CurrentDevice current(made->device);
        const RelaxedCaptureMode relaxed;
        status = wait_for(made->done, made->device, true);
        if (status == WARPSEAL_OK) made->work.commit_all(made->space);
        // The caller then reuses its memory: nothing may still be in flight.
        if (status != WARPSEAL_OK && !lost()) check(cudaDeviceSynchronize());
        if (!lost()) check(cudaEventDestroy(made->done));
    }
    *not_authentic = made->work.not_authentic();
    return status;
}

}  // namespace warpseal::cuda
