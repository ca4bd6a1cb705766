// The doors of a build without CUDA: none.
#include "backends/gpu_door.h"
#include "backends/kem_ops.h"

#if !defined(WARPSEAL_WITH_CUDA)
namespace warpseal {

const CudaDoor* cuda_door() { return nullptr; }
const GpuDoor* gpu_door() { return nullptr; }
const CudaKem* cuda_kem(const char*) { return nullptr; }

}  // namespace warpseal
#endif
