// Pipeline for one message in host memory: copy in, run and copy out, overlapped. The caller's
// pinned memory is copied from and to directly. Other memory goes through the slots' pinned staging
// buffers, as does output that would overwrite input before its chunk is committed.
#include "backends/cuda/host/pipeline.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "backends/cuda/host/chunks.h"
#include "backends/cuda/host/device.h"
#include "backends/cuda/host/memory_kind.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

namespace {

bool overlap(const uint8_t* a, const uint8_t* b, size_t bytes) {
    return a < b + bytes && b < a + bytes;
}

// Processes bytes [0, bytes) of one message. Each slot starts with `header_bytes` for the derived
// class.
class TextWork : public Work {
public:
    TextWork(const uint8_t* in, uint8_t* out, size_t bytes, size_t header_bytes)
        : in_(in),
          out_(out),
          bytes_(bytes),
          header_(header_bytes),
          direct_in_(is_pinned(in, bytes)),
          direct_out_(!overlap(in, out, bytes) && is_pinned(out, bytes)) {}

    uint64_t end() const override { return bytes_; }
    size_t min_slot_bytes(uint64_t) const override { return tuning::min_slot_bytes; }
    uint64_t chunk_end(uint64_t begin, size_t slot_bytes) override {
        return std::min<uint64_t>(
            bytes_, begin + std::min(slot_bytes - header_, usual_chunk(begin)) / 16 * 16);
    }
    Workers workers() const {
        return direct_in_ && direct_out_ ? direct_workers(tuning::slots_in_flight)
                                         : staging_workers(bytes_);
    }

    warpseal_status queue(Slot& slot, const Chunk& chunk) override {
        const size_t n = chunk.end - chunk.begin;
        const size_t staged = direct_in_ && direct_out_ ? header_ : header_ + n;
        warpseal_status status = staged != 0 ? slot.pin() : WARPSEAL_OK;
        if (status != WARPSEAL_OK) return status;
        slot.mark_used(header_ + n, staged);
        if (!direct_in_) memcpy(slot.pinned + header_, in_ + chunk.begin, n);
        const uint8_t* from = direct_in_ ? in_ + chunk.begin : slot.pinned + header_;
        uint8_t* to = direct_out_ ? out_ + chunk.begin : slot.pinned + header_;
        status = check(
            cudaMemcpyAsync(slot.device + header_, from, n, cudaMemcpyHostToDevice, slot.stream));
        if (status == WARPSEAL_OK) status = compute(slot, slot.device + header_, chunk.begin, n);
        if (status == WARPSEAL_OK)
            status = check(
                cudaMemcpyAsync(to, slot.device + header_, n, cudaMemcpyDeviceToHost, slot.stream));
        return status;
    }

    void commit(Slot& slot, const Chunk& chunk) override {
        if (!direct_out_)
            copy_from_staging(out_ + chunk.begin, slot.pinned + header_, chunk.end - chunk.begin,
                              bytes_ >= tuning::non_temporal_bytes);
    }

protected:
    size_t usual_chunk(uint64_t begin) const {
        return chunk_bytes(begin, bytes_ - begin, !direct_in_ || !direct_out_);
    }
    // Queues the kernels for a chunk that lies in device memory.
    virtual warpseal_status compute(Slot& slot, uint8_t* data, uint64_t begin, size_t bytes) = 0;

    const uint8_t* const in_;
    uint8_t* const out_;
    const size_t bytes_;

private:
    const size_t header_;
    const bool direct_in_, direct_out_;
};

class SweepText : public TextWork {
public:
    SweepText(const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction,
              const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
              size_t bytes)
        : TextWork(in, out, bytes, 0),
          sweep_(cipher.sweep[mode][static_cast<int>(direction)]),
          state_(state),
          block_(cipher.block_bytes),
          chained_(mode == WARPSEAL_CBC || mode == WARPSEAL_CFB),
          iv_(iv),
          first_block_(first_block) {
        if (!chained_) return;
        // Reserve all entries now: feeder threads must not run out of memory.
        saved_.reserve(bytes / tuning::min_slot_bytes + 2);
        save_block(0, iv);
    }

    // Saves the chunk's last block: in place, it is overwritten before the next chunk needs it.
    uint64_t chunk_end(uint64_t begin, size_t slot_bytes) override {
        const uint64_t end = TextWork::chunk_end(begin, slot_bytes);
        if (chained_ && end - begin >= block_) {
            const std::lock_guard lock(mutex_);
            save_block(end, in_ + end - block_);
        }
        return end;
    }

    // Copies the ciphertext block before the chunk at `begin`, also if no chunk starts there yet.
    void previous_block(uint64_t begin, uint8_t* out) const {
        const std::lock_guard lock(mutex_);
        const auto found =
            std::lower_bound(saved_.begin(), saved_.end(), begin,
                             [](const Boundary& b, uint64_t offset) { return b.offset < offset; });
        if (found != saved_.end() && found->offset == begin) memcpy(out, found->block, block_);
    }

protected:
    warpseal_status compute(Slot& slot, uint8_t* data, uint64_t begin, size_t bytes) override {
        if (!chained_)
            return sweep_(state_, iv_, first_block_ + begin / block_, data, data, bytes,
                          slot.stream);
        uint8_t previous[16] = {};
        previous_block(begin, previous);
        return sweep_(state_, previous, 0, data, data, bytes, slot.stream);
    }

private:
    struct Boundary {
        uint64_t offset;
        uint8_t block[16];  // ciphertext block before the offset
    };
    void save_block(uint64_t offset, const uint8_t* block) {
        saved_.push_back({offset, {}});
        memcpy(saved_.back().block, block, block_);
    }

    const CudaCipher::Sweep sweep_;
    const void* state_;
    const uint32_t block_;
    const bool chained_;
    const uint8_t* iv_;
    const uint64_t first_block_;
    mutable std::mutex mutex_;
    std::vector<Boundary> saved_;  // in the order of their offsets
};

// Chunks are whole data units.
class XtsText : public TextWork {
public:
    XtsText(CudaCipher::Xts xts, const void* state, const void* tweak_state, const XtsUnits& units,
            const uint8_t* in, uint8_t* out, size_t bytes)
        : TextWork(in, out, bytes, 0),
          xts_(xts),
          state_(state),
          tweak_state_(tweak_state),
          units_(units) {}

    size_t min_slot_bytes(uint64_t begin) const override {
        return std::max<size_t>(TextWork::min_slot_bytes(begin),
                                std::min<uint64_t>(units_.unit_bytes, bytes_));
    }
    uint64_t chunk_end(uint64_t begin, size_t slot_bytes) override {
        const uint64_t units =
            std::max<uint64_t>(std::min(slot_bytes, usual_chunk(begin)) / units_.unit_bytes, 1);
        return std::min<uint64_t>(bytes_, begin + units * units_.unit_bytes);
    }

protected:
    warpseal_status compute(Slot& slot, uint8_t* data, uint64_t begin, size_t bytes) override {
        XtsUnits units = units_;
        uint64_t sum = begin / units.unit_bytes;
        for (uint8_t& digit : units.first) {
            sum += digit;
            digit = static_cast<uint8_t>(sum);
            sum >>= 8;
        }
        return xts_(state_, tweak_state_, units, data, data, bytes, slot.stream);
    }

private:
    const CudaCipher::Xts xts_;
    const void *state_, *tweak_state_;
    const XtsUnits units_;
};

// The GHASH value of each chunk lies before it in the slot and is copied back with it.
class GcmText : public TextWork {
    static constexpr size_t header_bytes = 256;

public:
    GcmText(const CudaCipher& cipher, const void* state, Direction direction, const GcmState& run,
            uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes)
        : TextWork(in, out, bytes, header_bytes),
          cipher_(cipher),
          state_(state),
          segment_(cipher.gcm_segment[static_cast<int>(direction)]),
          first_block_(first_block),
          sums_(bytes / (tuning::min_slot_bytes - header_bytes) + 2) {
        memcpy(counter0_, run.counter0, 16);
    }

    void commit(Slot& slot, const Chunk& chunk) override {
        TextWork::commit(slot, chunk);
        Sum& sum = sums_[chunk.sequence];
        memcpy(sum.bytes, slot.pinned, 16);
        sum.blocks = (chunk.end - chunk.begin + 15) / 16;
        sum.committed = true;
    }

    // Combines the GHASH values of the committed chunks into `run`, in order.
    void combine(GcmState& run) const {
        for (size_t i = 0; i < sums_.size() && sums_[i].committed; ++i)
            cipher_.gcm_combine(state_, run.sum, sums_[i].bytes, sums_[i].blocks);
    }

protected:
    warpseal_status compute(Slot& slot, uint8_t* data, uint64_t begin, size_t bytes) override {
        warpseal_status status = check(cudaMemsetAsync(slot.device, 0, 16, slot.stream));
        if (status == WARPSEAL_OK)
            status = segment_(state_, counter0_, first_block_ + begin / 16, data, data, bytes,
                              slot.device, slot.stream);
        return status == WARPSEAL_OK ? slot.copy_by_kernel(slot.pinned, slot.device, 16) : status;
    }

private:
    struct Sum {
        uint8_t bytes[16];
        uint64_t blocks;
        bool committed = false;
    };
    const CudaCipher& cipher_;
    const void* state_;
    const CudaCipher::GcmSegment segment_;
    uint8_t counter0_[16];
    const uint64_t first_block_;
    std::vector<Sum> sums_;
};

}  // namespace

warpseal_status sweep_host(int device, const CudaCipher& cipher, const void* state,
                           warpseal_mode mode, Direction direction, const uint8_t* iv,
                           uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                           size_t* done_bytes, uint8_t* previous) {
    *done_bytes = 0;
    const bool wanted = previous != nullptr && (mode == WARPSEAL_CBC || mode == WARPSEAL_CFB);
    if (wanted) memcpy(previous, iv, cipher.block_bytes);
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    SweepText work(cipher, state, mode, direction, iv, first_block, in, out, bytes);
    const warpseal_status status = run(device, work, work.workers(), done_bytes);
    if (wanted) work.previous_block(*done_bytes, previous);
    return status;
}

warpseal_status xts_host(int device, const CudaCipher& cipher, const void* state,
                         const void* tweak_state, Direction direction, const XtsUnits& units,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    *done_bytes = 0;
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    XtsText work(cipher.xts[static_cast<int>(direction)], state, tweak_state, units, in, out,
                 bytes);
    return run(device, work, work.workers(), done_bytes);
}

warpseal_status gcm_host(int device, const CudaCipher& cipher, const void* state,
                         Direction direction, GcmState* gcm, uint64_t first_block,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    *done_bytes = 0;
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    GcmText work(cipher, state, direction, *gcm, first_block, in, out, bytes);
    const warpseal_status status = run(device, work, work.workers(), done_bytes);
    work.combine(*gcm);
    return status;
}

// Copies `bytes` in each direction, in copies of a slot's size. Each direction reuses the device
// memory of one slot.
warpseal_status copy_both_ways(int device, const void* in, void* out, size_t bytes) {
    const CurrentDevice current(device);
    // A refused wait would leave copies into `out` in flight.
    const RelaxedCaptureMode relaxed;
    Slot *upload = nullptr, *download = nullptr;
    warpseal_status status = current.status() != WARPSEAL_OK ? current.status() : relaxed.status();
    if (status == WARPSEAL_OK) status = acquire_slot(device, tuning::slot_bytes, true, &upload);
    // Do not wait: a thread must hold no slot while it waits for one.
    if (status == WARPSEAL_OK) status = acquire_slot(device, tuning::slot_bytes, false, &download);
    if (status == WARPSEAL_OK && download == nullptr) status = WARPSEAL_OUT_OF_MEMORY;
    for (size_t at = 0; status == WARPSEAL_OK && at < bytes; at += tuning::slot_bytes) {
        const size_t n = std::min(bytes - at, tuning::slot_bytes);
        status = check(cudaMemcpyAsync(upload->device, static_cast<const uint8_t*>(in) + at, n,
                                       cudaMemcpyHostToDevice, upload->stream));
        if (status == WARPSEAL_OK)
            status = check(cudaMemcpyAsync(static_cast<uint8_t*>(out) + at, download->device, n,
                                           cudaMemcpyDeviceToHost, download->stream));
    }
    for (Slot* slot : {upload, download}) {
        if (slot == nullptr) continue;
        slot->mark_used(slot->bytes, 0);
        const warpseal_status waited =
            lost() ? WARPSEAL_NO_DEVICE : check(cudaStreamSynchronize(slot->stream));
        if (status == WARPSEAL_OK) status = waited;
        release_slot(slot);
    }
    return status;
}

}  // namespace warpseal::cuda
