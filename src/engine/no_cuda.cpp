// Null backend interfaces for a build without CUDA.
#include "backends/gpu_backend.h"
#include "backends/kem_backend.h"

#if !defined(WARPSEAL_WITH_CUDA)
namespace warpseal {

const GpuBackend* gpu_backend() { return nullptr; }
const CudaKem* cuda_kem(const char*) { return nullptr; }

}  // namespace warpseal
#endif
