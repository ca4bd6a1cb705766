// Failures of the CUDA runtime's functions on a real GPU. The linker redirects the library's calls
// to cuda_calls.cpp.
#pragma once

namespace injection {

// Lets runs fail in calls of the CUDA runtime. The process that calls it must not use CUDA: its
// children do. WARPSEAL_GPU_FAULTS is the number of calls to fail at for each work and fault; 0:
// at each place in the library from which a public function makes one.
void use_cuda_runtime();

// Returns true if there is a GPU. A child finds out.
bool has_gpu();

}  // namespace injection
