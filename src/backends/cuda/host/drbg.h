// Random bytes in device memory: see GpuBackend::drbg_device.
#pragma once

#include "backends/gpu_backend.h"

namespace warpseal::cuda {

warpseal_status drbg_device(int device, const DrbgRequest& request, uint8_t* out, size_t bytes,
                            void* stream);

}  // namespace warpseal::cuda
