// Workspace sizes and drawn IVs of batches in device memory; GpuBackend documents the functions.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

warpseal_status batch_workspace(int device, warpseal_mode mode,
                                const warpseal_scattered_batch& batch, size_t* bytes);
warpseal_status draw_ivs(int device, void* counter, const warpseal_scattered_batch& batch,
                         void* stream);

}  // namespace warpseal::cuda
