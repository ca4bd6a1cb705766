// Instantiates one ML-KEM parameter set for the GPU. The object exports its CudaKem.
#include "backends/cuda/kem/mlkem/set.cuh"
extern "C" const warpseal::CudaKem WARPSEAL_EXPORT;
constinit const warpseal::CudaKem WARPSEAL_EXPORT =
    warpseal::cuda::mlkem::cuda_kem_of<warpseal::kem::WARPSEAL_SET>();
