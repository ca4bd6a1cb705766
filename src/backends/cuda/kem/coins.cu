// Coins drawn on the GPU: see coins.h.
#include "backends/cuda/kem/coins.h"

#include <algorithm>

#include "backends/cuda/host/device.h"
#include "backends/cuda/host/scratch.h"
#include "backends/cuda/host/tuning.h"

namespace warpseal::cuda {

warpseal_status draw(const DrawnCoins& coins, uint64_t first, uint64_t count, size_t stride,
                     uint8_t* out, cudaStream_t stream) {
    const uint64_t block = (coins.first_item + first) * (stride / 16);
    const warpseal_status status = check(cudaMemsetAsync(out, 0, count * stride, stream));
    if (status != WARPSEAL_OK) return status;
    return coins.aes->sweep[WARPSEAL_CTR][static_cast<int>(Direction::encrypt)](
        coins.state, coins.counter, block, out, out, count * stride, stream);
}

CoinWindow::CoinWindow(const DrawnCoins& coins, const KemSet& set, KemOperation operation,
                       uint64_t count)
    : coins_(coins),
      stride_(drawn_coins_stride(set, operation)),
      count_(count),
      items_(std::min<uint64_t>(count, tuning::kem_coins_bytes / stride_)) {}

CoinWindow::~CoinWindow() {
    if (memory_ != nullptr) (void)release_scratch(memory_, items_ * stride_, stream_);
    if (!lost() && stream_ != nullptr) check(cudaStreamSynchronize(stream_));
    for (const cudaEvent_t event : {made_, used_})
        if (!lost() && event != nullptr) check(cudaEventDestroy(event));
    if (!lost() && stream_ != nullptr) check(cudaStreamDestroy(stream_));
}

warpseal_status CoinWindow::open() {
    warpseal_status status = check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&made_, &used_})
        if (status == WARPSEAL_OK)
            status = check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    while (status == WARPSEAL_OK && memory_ == nullptr) {
        status = acquire_scratch(items_ * stride_, stream_, &memory_);
        if (status != WARPSEAL_OUT_OF_MEMORY || items_ == 1) break;
        items_ = (items_ + 1) / 2;
        status = WARPSEAL_OK;
    }
    return status;
}

warpseal_status CoinWindow::before(uint64_t item, cudaStream_t stream, warpseal_kem_batch& chunk) {
    warpseal_status status = WARPSEAL_OK;
    // The kernels that read the previous coins are already queued, and stream_ waits for them.
    if (item % items_ == 0) {
        status = draw(coins_, item, std::min(items_, count_ - item), stride_, memory_, stream_);
        if (status == WARPSEAL_OK) status = check(cudaEventRecord(made_, stream_));
    }
    chunk.coins = memory_ + item % items_ * stride_;
    chunk.coins_stride = stride_;
    return status == WARPSEAL_OK ? check(cudaStreamWaitEvent(stream, made_)) : status;
}

warpseal_status CoinWindow::after(cudaStream_t stream) {
    const warpseal_status status = check(cudaEventRecord(used_, stream));
    return status == WARPSEAL_OK ? check(cudaStreamWaitEvent(stream_, used_)) : status;
}

}  // namespace warpseal::cuda
