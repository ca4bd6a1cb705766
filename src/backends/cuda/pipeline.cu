// The pipeline: copy in, run, copy out, overlapped. Pinned memory of the caller is copied from and to directly; other memory, and output
// that would overwrite input before its piece is safe, goes through the slots' own pinned memory.
#include "backends/cuda/pipeline.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device.h"
#include "backends/cuda/pieces.h"
#include "backends/cuda/tuning.h"

namespace warpseal::cuda {

namespace {

bool overlap(const uint8_t* a, const uint8_t* b, size_t bytes) { return a < b + bytes && b < a + bytes; }

// Bytes [0, bytes) of one message, in slots that begin with `header_bytes` of the derived class.
class Text : public Work {
public:
    Text(const uint8_t* in, uint8_t* out, size_t bytes, size_t header_bytes)
        : in_(in),
          out_(out),
          bytes_(bytes),
          header_(header_bytes),
          direct_in_(is_pinned(in, bytes)),
          direct_out_(!overlap(in, out, bytes) && is_pinned(out, bytes)) {}

    uint64_t end() const override { return bytes_; }
    size_t least_bytes(uint64_t) const override { return tuning::smallest_slot_bytes; }
    uint64_t cut(uint64_t begin, size_t slot_bytes) const override {
        return std::min<uint64_t>(bytes_, begin + (slot_bytes - header_) / 16 * 16);
    }
    Crew crew() const { return direct_in_ && direct_out_ ? direct_crew(tuning::slots_in_flight) : staging_crew(bytes_); }

    warpseal_status queue(Slot& slot, const Piece& piece) override {
        const size_t n = piece.end - piece.begin;
        const size_t staged = direct_in_ && direct_out_ ? header_ : header_ + n;
        warpseal_status status = staged != 0 ? slot.pin() : WARPSEAL_OK;
        if (status != WARPSEAL_OK) return status;
        slot.uses(header_ + n, staged);
        if (!direct_in_) memcpy(slot.pinned + header_, in_ + piece.begin, n);
        const uint8_t* from = direct_in_ ? in_ + piece.begin : slot.pinned + header_;
        uint8_t* to = direct_out_ ? out_ + piece.begin : slot.pinned + header_;
        status = check(cudaMemcpyAsync(slot.device + header_, from, n, cudaMemcpyHostToDevice, slot.stream));
        if (status == WARPSEAL_OK) status = compute(slot, slot.device + header_, piece.begin / 16, n);
        if (status == WARPSEAL_OK) status = check(cudaMemcpyAsync(to, slot.device + header_, n, cudaMemcpyDeviceToHost, slot.stream));
        return status;
    }

    void keep(Slot& slot, const Piece& piece) override {
        if (!direct_out_) memcpy(out_ + piece.begin, slot.pinned + header_, piece.end - piece.begin);
    }

protected:
    // Queues the kernels for a piece that lies in device memory.
    virtual warpseal_status compute(Slot& slot, uint8_t* data, uint64_t first_block, size_t bytes) = 0;

private:
    const uint8_t* in_;
    uint8_t* out_;
    const size_t bytes_, header_;
    const bool direct_in_, direct_out_;
};

class SweepText : public Text {
public:
    SweepText(CudaCipher::Sweep sweep, const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out,
              size_t bytes)
        : Text(in, out, bytes, 0), sweep_(sweep), state_(state), iv_(iv), first_block_(first_block) {}

protected:
    warpseal_status compute(Slot& slot, uint8_t* data, uint64_t first_block, size_t bytes) override {
        return sweep_(state_, iv_, first_block_ + first_block, data, data, bytes, slot.stream);
    }

private:
    const CudaCipher::Sweep sweep_;
    const void* state_;
    const uint8_t* iv_;
    const uint64_t first_block_;
};

// A piece's own sum stands before it in the slot, and comes back with it.
class GcmText : public Text {
    static constexpr size_t header_bytes = 256;

public:
    GcmText(const CudaCipher& cipher, const void* state, Direction direction, const GcmRun& run, uint64_t first_block, const uint8_t* in,
            uint8_t* out, size_t bytes)
        : Text(in, out, bytes, header_bytes),
          cipher_(cipher),
          state_(state),
          piece_(cipher.gcm_piece[static_cast<int>(direction)]),
          first_block_(first_block),
          sums_(bytes / (tuning::smallest_slot_bytes - header_bytes) + 2) {
        memcpy(counter0_, run.counter0, 16);
    }

    void keep(Slot& slot, const Piece& piece) override {
        Text::keep(slot, piece);
        Sum& sum = sums_[piece.sequence];
        memcpy(sum.bytes, slot.pinned, 16);
        sum.blocks = (piece.end - piece.begin + 15) / 16;
        sum.kept = true;
    }

    // The kept pieces' sums, in order.
    void combine(GcmRun& run) const {
        for (size_t i = 0; i < sums_.size() && sums_[i].kept; ++i) cipher_.gcm_combine(state_, run.sum, sums_[i].bytes, sums_[i].blocks);
    }

protected:
    warpseal_status compute(Slot& slot, uint8_t* data, uint64_t first_block, size_t bytes) override {
        warpseal_status status = check(cudaMemsetAsync(slot.device, 0, 16, slot.stream));
        if (status == WARPSEAL_OK)
            status = piece_(state_, counter0_, first_block_ + first_block, data, data, bytes, slot.device, slot.stream);
        if (status == WARPSEAL_OK) status = check(cudaMemcpyAsync(slot.pinned, slot.device, 16, cudaMemcpyDeviceToHost, slot.stream));
        return status;
    }

private:
    struct Sum {
        uint8_t bytes[16];
        uint64_t blocks;
        bool kept = false;
    };
    const CudaCipher& cipher_;
    const void* state_;
    const CudaCipher::GcmPiece piece_;
    uint8_t counter0_[16];
    const uint64_t first_block_;
    std::vector<Sum> sums_;
};

}  // namespace

warpseal_status sweep_host(int device, const CudaCipher& cipher, const void* state, warpseal_mode mode, Direction direction,
                           const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    *done_bytes = 0;
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    SweepText work(cipher.sweep[mode][static_cast<int>(direction)], state, iv, first_block, in, out, bytes);
    return run(device, work, work.crew(), done_bytes);
}

warpseal_status gcm_host(int device, const CudaCipher& cipher, const void* state, Direction direction, GcmRun* gcm, uint64_t first_block,
                         const uint8_t* in, uint8_t* out, size_t bytes, size_t* done_bytes) {
    *done_bytes = 0;
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    GcmText work(cipher, state, direction, *gcm, first_block, in, out, bytes);
    const warpseal_status status = run(device, work, work.crew(), done_bytes);
    work.combine(*gcm);
    return status;
}

}  // namespace warpseal::cuda
