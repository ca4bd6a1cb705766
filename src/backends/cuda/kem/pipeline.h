// Key encapsulation of whole batches: work space, coins that are drawn, and pieces where a batch is
// too large for one.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

namespace tuning {

// Work space of a call on device memory: coins of some 120,000 items, or coins and bands of 50,000
// pairs of keys, which is 25 and more for each warp of an H200, so that what is left over at a
// piece's end is little of it.
inline constexpr size_t kem_work_bytes = size_t{512} << 20;
// Through host memory: coins at a time, of some 17,000 items; slots that the one thread keeps busy;
// and items of the first pieces and the last, two for each warp of an H200 (of key pairs, whose
// bands fill a slot, fewer: those of one piece do not fill it, those of all slots do). Of 3 to 12
// slots, 64 and 256 MiB of coins and 2048 to 8448 items no other choice was faster there beyond
// what runs differ by.
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
