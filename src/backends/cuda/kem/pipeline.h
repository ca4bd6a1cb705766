// KEM batches: scratch memory, drawn coins, and chunks for batches that are too large for one.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

warpseal_status kem_device(int device, const CudaKem& kem, KemOperation operation,
                           const warpseal_kem_batch& batch, uint64_t in_flight,
                           const DrawnCoins* coins, void* stream);

warpseal_status kem_host(int device, const CudaKem& kem, KemOperation operation,
                         const warpseal_kem_batch& batch, uint64_t in_flight,
                         const DrawnCoins* coins, uint64_t* done, uint64_t* failed);

warpseal_status kem_prepare(int device);

}  // namespace warpseal::cuda
