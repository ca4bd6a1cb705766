// KEM batches: scratch memory, drawn coins, and chunks for batches that are too large for one.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

namespace tuning {

// Scratch memory of a call on device memory. It holds the coins of some 120,000 items, or coins and
// bands of 50,000 key pairs. These are 25 and more for each warp of an H200, so that the partial
// wave at the end of a chunk matters little.
inline constexpr size_t kem_work_bytes = size_t{512} << 20;
// Limits of calls on host memory: bytes of coins drawn at a time, slots of the single feeder
// thread, and minimum items in a chunk. The coins suffice for some 17,000 items.
// The minimum gives two items to each warp of an H200. Key pairs have fewer, as their bands fill a
// slot; one chunk does not fill the GPU, but all slots do. On an H200, 3 to 12 slots, 64 and 256
// MiB of coins and 2048 to 8448 items were tried. No other choice was faster by more than the
// variation between runs.
inline constexpr size_t kem_coins_bytes = size_t{64} << 20;
inline constexpr int kem_slots = 8;
inline constexpr uint64_t kem_least_items = 4224;

}  // namespace tuning

warpseal_status kem_device(int device, const CudaKem& kem, KemOperation operation,
                           const warpseal_kem_batch& batch, uint64_t in_flight,
                           const DrawnCoins* coins, void* stream);

warpseal_status kem_host(int device, const CudaKem& kem, KemOperation operation,
                         const warpseal_kem_batch& batch, uint64_t in_flight,
                         const DrawnCoins* coins, uint64_t* done, uint64_t* failed);

}  // namespace warpseal::cuda
