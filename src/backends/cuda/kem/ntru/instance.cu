// Instantiates one NTRU parameter set for the GPU. The object exports its CudaKem.
#include "backends/cuda/kem/ntru/set.cuh"
extern "C" const warpseal::CudaKem WARPSEAL_EXPORT;
constinit const warpseal::CudaKem WARPSEAL_EXPORT =
    warpseal::cuda::ntru::cuda_kem_of<warpseal::kem::WARPSEAL_SET>();
