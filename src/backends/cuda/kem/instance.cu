// One parameter set of NTRU for the GPU: this object's only export is its door.
#include "backends/cuda/kem/set.cuh"
extern "C" const warpseal::CudaKem WARPSEAL_DOOR;
constinit const warpseal::CudaKem WARPSEAL_DOOR =
    warpseal::cuda::ntru::cuda_kem_of<warpseal::kem::WARPSEAL_SET>();
