// Loses the GPU of this process for good: a real one by a store to an unmapped address, or the fake
// one. The error is sticky: every later CUDA call of the process fails.
#pragma once

#include "backends/gpu_backend.h"

namespace lost_gpu {

inline constexpr int cannot_test = 99;  // exit status

// The backend whose GPU is lost. These functions are defined in real_gpu.cu and in fake_gpu.cpp.
const warpseal::GpuBackend* backend_to_lose();
bool is_real();
// Loads what the loss needs, so that it comes without delay. Called once, with a GPU in use.
void prepare_loss(int device);
// Loses the GPU `later` microseconds from now; the fake one when it has run so many more chunks.
// Does not wait. Called once.
void lose(int device, uint64_t later);

}  // namespace lost_gpu
