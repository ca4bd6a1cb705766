// KEM batches in host memory. A chunk is a range of items, in a slot with the scratch of their
// kernels.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "backends/cuda/host/chunks.h"
#include "backends/cuda/host/device.h"
#include "backends/cuda/host/memory_kind.h"
#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/coins.h"
#include "backends/cuda/kem/pipeline.h"

namespace warpseal::cuda {

namespace {

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// One array of the batch. bytes is 0 if the operation does not use it. In a slot, its items are
// contiguous.
struct Array {
    uint8_t* at = nullptr;
    uint64_t stride = 0;
    size_t bytes = 0;  // size of an item
    bool written = false, shared = false;
    bool direct = false;  // copied directly, not through the slot's pinned memory

    Array() = default;
    Array(const uint8_t* begin, uint64_t stride_of_caller, size_t item_bytes, bool is_written,
          uint64_t count)
        : at(const_cast<uint8_t*>(begin)),
          stride(count > 1 ? stride_of_caller : item_bytes),
          bytes(item_bytes),
          written(is_written),
          shared(stride == 0),
          direct(stride == bytes && is_pinned(begin, count * bytes)) {}

    size_t bytes_of(uint64_t items) const { return shared ? bytes : items * bytes; }
    uint64_t device_stride() const { return shared ? 0 : bytes; }

    void gather(uint8_t* to, const Chunk& chunk) const {
        if (shared || stride == bytes) {
            memcpy(to, at + chunk.begin * stride, bytes_of(chunk.end - chunk.begin));
        } else {
            for (uint64_t i = chunk.begin; i < chunk.end; ++i)
                memcpy(to + (i - chunk.begin) * bytes, at + i * stride, bytes);
        }
    }
    void scatter(const uint8_t* from, const Chunk& chunk, bool non_temporal) const {
        if (stride == bytes) {
            copy_from_staging(at + chunk.begin * bytes, from, bytes_of(chunk.end - chunk.begin),
                              non_temporal);
        } else {
            for (uint64_t i = chunk.begin; i < chunk.end; ++i)
                memcpy(at + i * stride, from + (i - chunk.begin) * bytes, bytes);
        }
    }
};

enum Field { public_keys, secret_keys, ciphertexts, shared_secrets, given_coins, field_count };

// Offsets in a slot. Staged arrays have the same offsets in pinned memory.
struct Packing {
    std::array<size_t, field_count> arrays;
    size_t statuses, staged_end, work, end;
};

// Serializes chunks in order, including those that fail.
class Turns {
public:
    class Turn {
    public:
        Turn(Turns& turns, uint64_t sequence) : turns_(turns), sequence_(sequence) {}
        ~Turn() {
            wait();
            const std::lock_guard lock(turns_.mutex_);
            ++turns_.next_;
            turns_.changed_.notify_all();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        void wait() {
            std::unique_lock lock(turns_.mutex_);
            turns_.changed_.wait(lock, [&] { return turns_.next_ == sequence_; });
        }

    private:
        Turns& turns_;
        const uint64_t sequence_;
    };

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ = 0;
};

class Items : public Work {
public:
    // `coins` is null if the batch supplies them, or needs none.
    Items(const CudaKem& kem, KemOperation operation, const warpseal_kem_batch& batch,
          uint64_t in_flight, CoinWindow* coins)
        : kem_(kem), operation_(operation), batch_(batch), in_flight_(in_flight), coins_(coins) {
        const KemSet& set = *kem.set;
        const bool keypair = operation == KemOperation::keypair,
                   decapsulate = operation == KemOperation::decapsulate;
        const auto use = [&](Field field, const uint8_t* at, uint64_t stride, size_t bytes,
                             bool written) {
            arrays_[field] = Array(at, stride, bytes, written, batch.count);
            item_bytes_ += arrays_[field].device_stride();
            staged_bytes_ += arrays_[field].direct ? 0 : arrays_[field].bytes_of(batch.count);
        };
        if (!decapsulate)
            use(public_keys, batch.public_keys, batch.public_key_stride, set.public_key_bytes(),
                keypair);
        if (keypair || decapsulate)
            use(secret_keys, batch.secret_keys, batch.secret_key_stride, set.secret_key_bytes(),
                keypair);
        if (!keypair)
            use(ciphertexts, batch.ciphertexts, batch.ciphertext_stride, set.ciphertext_bytes(),
                !decapsulate);
        if (!keypair)
            use(shared_secrets, batch.shared_secrets, batch.shared_secret_stride,
                set.shared_secret_bytes(), true);
        if (!decapsulate && coins == nullptr)
            use(given_coins, batch.coins, batch.coins_stride, coins_bytes(set, operation), false);
        item_bytes_ += sizeof(int32_t) + (kem.work_bytes(operation, 64) + 63) / 64;
    }

    Workers workers() const {
        const bool direct = std::all_of(arrays_.begin(), arrays_.end(), [](const Array& a) {
            return a.bytes == 0 || a.shared || a.direct;
        });
        Workers workers =
            direct ? direct_workers(tuning::kem_slots) : staging_workers(staged_bytes_);
        // Do not occupy cores that other work needs, such as a server's handshakes.
        workers.polls = false;
        return workers;
    }
    uint64_t failed() const { return failed_; }

    uint64_t end() const override { return batch_.count; }
    size_t min_slot_bytes(uint64_t) const override {
        return std::max(packing(1).end, tuning::min_slot_bytes);
    }
    uint64_t chunk_end(uint64_t begin, size_t slot_bytes) override {
        const uint64_t left = batch_.count - begin;
        uint64_t items = std::max(std::min(begin, left) / 4, tuning::kem_min_items);
        items = std::min({items, left, std::max<uint64_t>(slot_bytes / item_bytes_, 1)});
        if (coins_ != nullptr) items = std::min(items, coins_->end(begin) - begin);
        while (items > 1 && packing(items).end > slot_bytes) items -= (items + 63) / 64;
        return begin + items;
    }
    warpseal_status queue(Slot& slot, const Chunk& chunk) override;
    void commit(Slot& slot, const Chunk& chunk) override;

private:
    Packing packing(uint64_t items) const;
    warpseal_kem_batch on_device(uint8_t* device, const Packing& p, const Chunk& chunk) const;
    warpseal_status copy_in(const Slot& slot, const Packing& p, const Chunk& chunk) const;
    warpseal_status compute(Slot& slot, const Packing& p, const Chunk& chunk,
                            std::optional<Turns::Turn>& turn);
    warpseal_status copy_out(const Slot& slot, const Packing& p, const Chunk& chunk) const;

    const CudaKem& kem_;
    const KemOperation operation_;
    const warpseal_kem_batch& batch_;
    const uint64_t in_flight_;
    CoinWindow* const coins_;
    std::array<Array, field_count> arrays_;
    size_t item_bytes_ = 0;  // size of an item in a slot, or slightly more
    uint64_t staged_bytes_ = 0;
    Turns turns_;
    std::atomic<uint64_t> failed_{0};
};

Packing Items::packing(uint64_t items) const {
    Packing p{};
    const auto reserve = [&](size_t bytes) {
        const size_t begin = p.end;
        p.end += round_up(bytes, 16);
        return begin;
    };
    p.statuses = reserve(sizeof(int32_t) * items);
    for (const bool direct : {false, true}) {
        for (int i = 0; i < field_count; ++i)
            if (arrays_[i].bytes != 0 && arrays_[i].direct == direct)
                p.arrays[i] = reserve(arrays_[i].bytes_of(items));
        if (!direct) p.staged_end = p.end;
    }
    p.end = round_up(p.end, 256);
    p.work = reserve(kem_.work_bytes(operation_, items));
    return p;
}

warpseal_kem_batch Items::on_device(uint8_t* device, const Packing& p, const Chunk& chunk) const {
    warpseal_kem_batch b{};
    b.struct_bytes = sizeof b;
    b.count = chunk.end - chunk.begin;
    b.public_keys = device + p.arrays[public_keys];
    b.public_key_stride = arrays_[public_keys].device_stride();
    b.secret_keys = device + p.arrays[secret_keys];
    b.secret_key_stride = arrays_[secret_keys].device_stride();
    b.ciphertexts = device + p.arrays[ciphertexts];
    b.ciphertext_stride = arrays_[ciphertexts].device_stride();
    b.shared_secrets = device + p.arrays[shared_secrets];
    b.shared_secret_stride = arrays_[shared_secrets].device_stride();
    b.coins = device + p.arrays[given_coins];
    b.coins_stride = arrays_[given_coins].device_stride();
    b.statuses = reinterpret_cast<int32_t*>(device + p.statuses);
    return b;
}

warpseal_status Items::copy_in(const Slot& slot, const Packing& p, const Chunk& chunk) const {
    warpseal_status status = WARPSEAL_OK;
    for (int i = 0; i < field_count && status == WARPSEAL_OK; ++i) {
        const Array& array = arrays_[i];
        if (array.bytes == 0 || array.written) continue;
        if (!array.direct) array.gather(slot.pinned + p.arrays[i], chunk);
        const uint8_t* from =
            array.direct ? array.at + chunk.begin * array.stride : slot.pinned + p.arrays[i];
        status = check(cudaMemcpyAsync(slot.device + p.arrays[i], from,
                                       array.bytes_of(chunk.end - chunk.begin),
                                       cudaMemcpyHostToDevice, slot.stream));
    }
    return status;
}

warpseal_status Items::compute(Slot& slot, const Packing& p, const Chunk& chunk,
                               std::optional<Turns::Turn>& turn) {
    warpseal_kem_batch batch = on_device(slot.device, p, chunk);
    const auto run = kem_.run[static_cast<int>(operation_)];
    if (!turn) return run(batch, in_flight_, slot.device + p.work, slot.stream);
    turn->wait();
    warpseal_status status = coins_->before(chunk.begin, slot.stream, batch);
    if (status == WARPSEAL_OK) status = run(batch, in_flight_, slot.device + p.work, slot.stream);
    return status == WARPSEAL_OK ? coins_->after(slot.stream) : status;
}

warpseal_status Items::copy_out(const Slot& slot, const Packing& p, const Chunk& chunk) const {
    const uint64_t items = chunk.end - chunk.begin;
    warpseal_status status =
        check(cudaMemcpyAsync(slot.pinned + p.statuses, slot.device + p.statuses,
                              sizeof(int32_t) * items, cudaMemcpyDeviceToHost, slot.stream));
    for (int i = 0; i < field_count && status == WARPSEAL_OK; ++i) {
        const Array& array = arrays_[i];
        if (!array.written) continue;
        uint8_t* to =
            array.direct ? array.at + chunk.begin * array.stride : slot.pinned + p.arrays[i];
        status = check(cudaMemcpyAsync(to, slot.device + p.arrays[i], array.bytes_of(items),
                                       cudaMemcpyDeviceToHost, slot.stream));
    }
    return status;
}

warpseal_status Items::queue(Slot& slot, const Chunk& chunk) {
    std::optional<Turns::Turn> turn;
    if (coins_ != nullptr) turn.emplace(turns_, chunk.sequence);
    warpseal_status status = slot.pin();
    if (status != WARPSEAL_OK) return status;
    const Packing p = packing(chunk.end - chunk.begin);
    slot.mark_used(p.end, p.staged_end);
    status = copy_in(slot, p, chunk);
    if (status == WARPSEAL_OK) status = compute(slot, p, chunk, turn);
    return status == WARPSEAL_OK ? copy_out(slot, p, chunk) : status;
}

void Items::commit(Slot& slot, const Chunk& chunk) {
    const uint64_t items = chunk.end - chunk.begin;
    const Packing p = packing(items);
    const auto* statuses = reinterpret_cast<const int32_t*>(slot.pinned + p.statuses);
    failed_ += static_cast<uint64_t>(std::count_if(
        statuses, statuses + items, [](int32_t status) { return status != WARPSEAL_OK; }));
    if (batch_.statuses != nullptr)
        memcpy(batch_.statuses + chunk.begin, statuses, sizeof *statuses * items);
    for (int i = 0; i < field_count; ++i)
        if (arrays_[i].written && !arrays_[i].direct)
            arrays_[i].scatter(slot.pinned + p.arrays[i], chunk,
                               staged_bytes_ >= tuning::non_temporal_bytes);
}

}  // namespace

warpseal_status kem_host(int device, const CudaKem& kem, KemOperation operation,
                         const warpseal_kem_batch& batch, uint64_t in_flight,
                         const DrawnCoins* coins, uint64_t* done, uint64_t* failed) {
    *done = *failed = 0;
    const CurrentDevice current(device);
    warpseal_status status = current.status();
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    const auto all = [&](CoinWindow* window) {
        Items work(kem, operation, batch, in_flight, window);
        const warpseal_status outcome = run(device, work, work.workers(), done);
        *failed = work.failed();
        return outcome;
    };
    if (coins == nullptr) return all(nullptr);
    // Must outlive the window, whose destructor waits.
    const RelaxedCaptureMode relaxed;
    if (relaxed.status() != WARPSEAL_OK) return relaxed.status();
    CoinWindow window(*coins, *kem.set, operation, batch.count);
    status = window.open();
    return status == WARPSEAL_OK ? all(&window) : status;
}

// Skips slots that other calls hold: those are allocated already.
warpseal_status kem_prepare(int device) {
    const CurrentDevice current(device);
    if (current.status() != WARPSEAL_OK) return current.status();
    const RelaxedCaptureMode relaxed;
    warpseal_status status = relaxed.status();
    std::array<Slot*, tuning::kem_slots> slots{};
    for (Slot*& slot : slots) {
        if (status == WARPSEAL_OK)
            status = acquire_slot(device, tuning::min_slot_bytes, false, &slot);
        if (slot == nullptr) break;
        status = slot->pin();
    }
    for (Slot* slot : slots)
        if (slot != nullptr) release_slot(slot);
    return status;
}

}  // namespace warpseal::cuda
