// One ML-KEM parameter set on a GPU.
#pragma once

#include "backends/cuda/kem/launch.cuh"
#include "backends/cuda/kem/mlkem/kernels.cuh"
#include "backends/kem_catalogue.h"

namespace warpseal::cuda::mlkem {

template <int k, KemOperation operation>
warpseal_status run(const warpseal_kem_batch& batch, uint64_t, void* work, void* stream) {
    const Job job = WorkSpace<k>::job(operation, batch, work);
    warpseal_status status = WARPSEAL_OK;
    const auto launch = [&](void (*kernel)(Job), uint64_t warps, int shared_bytes, int threads) {
        if (status == WARPSEAL_OK)
            status = launch_warps(kernel, warps, shared_bytes, static_cast<unsigned>(threads), job,
                                  static_cast<cudaStream_t>(stream));
    };
    if (batch.count != 0) queue_kernels<k, operation>(batch.count, launch);
    return status;
}

template <const MlKemParams& set>
constexpr CudaKem cuda_kem_of() {
    return {&kem_sets[kem_set_number(set.name)],
            WorkSpace<set.k>::bytes,
            {run<set.k, KemOperation::keypair>, run<set.k, KemOperation::encapsulate>,
             run<set.k, KemOperation::decapsulate>}};
}

}  // namespace warpseal::cuda::mlkem
