// Coins drawn on the GPU: a keystream, written to device memory.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"

namespace warpseal::cuda {

// Queues the coins of items [first, first + count) of the batch, `stride` bytes each.
warpseal_status draw(const DrawnCoins& coins, uint64_t first, uint64_t count, size_t stride,
                     uint8_t* out, cudaStream_t stream);

// Coins of some thousands of items of a batch, for many chunks on their own streams. The AES
// kernels occupy whole multiprocessors, so they should run rarely and on much data. Chunks must
// come in the order of their items; none may cross a window's end.
class CoinWindow {
public:
    CoinWindow(const DrawnCoins& coins, const KemSet& set, KemOperation operation, uint64_t count);
    ~CoinWindow();  // Zeroizes the coins, and waits for the stream.
    CoinWindow(const CoinWindow&) = delete;
    CoinWindow& operator=(const CoinWindow&) = delete;

    // Allocates memory; for fewer items if there is not enough.
    warpseal_status open();
    // Returns the end of the window that contains `item`.
    uint64_t end(uint64_t item) const { return item - item % items_ + items_; }

    // Called before and after the kernels of a chunk are queued on `stream`.
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
