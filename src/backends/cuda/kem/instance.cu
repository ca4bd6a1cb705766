// One parameter set of NTRU for the GPU: this object's only export is its door.
#include "backends/cuda/kem/set.cuh"
extern "C" const warpseal::CudaKem WARPSEAL_EXPORT;
constinit const warpseal::CudaKem WARPSEAL_EXPORT =
    warpseal::cuda::ntru::cuda_kem_of<warpseal::kem::WARPSEAL_SET>();
