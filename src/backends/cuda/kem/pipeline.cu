// KEM batches in device memory.
#include "backends/cuda/kem/pipeline.h"

#include <algorithm>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/scratch.h"
#include "backends/cuda/host/tuning.h"
#include "backends/cuda/kem/coins.h"

namespace warpseal::cuda {

namespace {

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A batch in device memory, processed in chunks that share scratch memory.
struct DeviceCall {
    const CudaKem& kem;
    const KemOperation operation;
    const warpseal_kem_batch& batch;
    const uint64_t in_flight;
    const DrawnCoins* coins;
    cudaStream_t stream;

    size_t stride() const { return coins == nullptr ? 0 : drawn_coins_stride(*kem.set, operation); }
    size_t own_bytes(uint64_t items) const {
        return round_up(kem.work_bytes(operation, items), 256);
    }
    size_t work_bytes(uint64_t items) const { return own_bytes(items) + items * stride(); }

    warpseal_status chunk(uint64_t first, uint64_t items, uint8_t* work, uint8_t* drawn) const {
        warpseal_kem_batch batch_slice = sub_batch(batch, first, items);
        if (coins != nullptr) {
            const warpseal_status status = draw(*coins, first, items, stride(), drawn, stream);
            if (status != WARPSEAL_OK) return status;
            batch_slice.coins = drawn;
            batch_slice.coins_stride = stride();
        }
        return kem.run[static_cast<int>(operation)](batch_slice, in_flight, work, stream);
    }
    // Runs the batch in chunks of `items` items.
    warpseal_status run(uint64_t items) const {
        uint8_t* work = nullptr;
        warpseal_status status = acquire_scratch(work_bytes(items), stream, &work);
        for (uint64_t first = 0; first < batch.count && status == WARPSEAL_OK; first += items)
            status =
                chunk(first, std::min(items, batch.count - first), work, work + own_bytes(items));
        const warpseal_status released =
            work == nullptr ? WARPSEAL_OK : release_scratch(work, work_bytes(items), stream);
        return status != WARPSEAL_OK ? status : released;
    }
};

}  // namespace

warpseal_status kem_device(int device, const CudaKem& kem, KemOperation operation,
                           const warpseal_kem_batch& batch, uint64_t in_flight,
                           const DrawnCoins* coins, void* stream_of_caller) {
    const CurrentDevice current(device);
    const auto stream = static_cast<cudaStream_t>(stream_of_caller);
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK && coins != nullptr) status = not_captured(stream);
    if (status != WARPSEAL_OK || batch.count == 0) return status;
    const DeviceCall call{kem, operation, batch, in_flight, coins, stream};
    const uint64_t most = tuning::kem_work_bytes / (call.work_bytes(4) / 4),
                   chunks = (batch.count - 1) / most + 1;
    for (uint64_t items = (batch.count - 1) / chunks + 1;;) {
        status = call.run(items);
        if (status != WARPSEAL_OUT_OF_MEMORY || items == 1) return status;
        // Chunks that are already queued are processed again, with the same result.
        items = (items + 1) / 2;
    }
}

}  // namespace warpseal::cuda
