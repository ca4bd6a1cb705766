// Coins that are drawn on the GPU: a keystream, written where kernels read it.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

// Queues the coins of items [first, first + count) of the batch, `stride` bytes each.
warpseal_status draw(const DrawnCoins& coins, uint64_t first, uint64_t count, size_t stride,
                     uint8_t* out, cudaStream_t stream);

// Those of some thousands of items of a batch, for many pieces on streams of their own: the kernels
// of AES want a multiprocessor for themselves, so they run seldom and for long. Pieces come in the
// order of their items; none reaches past a window's end.
class CoinWindow {
public:
    CoinWindow(const DrawnCoins& coins, const kem::Params& set, KemOperation operation,
               uint64_t count);
    ~CoinWindow();  // wipes it; waits
    CoinWindow(const CoinWindow&) = delete;
    CoinWindow& operator=(const CoinWindow&) = delete;

    // Takes memory, for fewer items where there is little of it.
    warpseal_status open();
    uint64_t end(uint64_t item) const {
        return item - item % items_ + items_;
    }  // of the window with that item

    // Before and after the kernels of a piece are queued on `stream`.
    warpseal_status before(uint64_t item, cudaStream_t stream, warpseal_kem_batch& chunk);
    warpseal_status after(cudaStream_t stream);

private:
    const DrawnCoins& coins_;
    const size_t stride_;
    const uint64_t count_;
    uint64_t items_;
    uint8_t* memory_ = nullptr;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t made_ = nullptr, used_ = nullptr;
};

}  // namespace warpseal::cuda
