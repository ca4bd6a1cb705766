// Instantiates one cipher header for the GPU. The object exports only its CudaCipherSet.
#include "backends/cuda/cipher_set.cuh"
#include WARPSEAL_CIPHER_HEADER
#ifndef WARPSEAL_SHARED_MEMORY_LIMIT
#define WARPSEAL_SHARED_MEMORY_LIMIT DeviceSharedMemory
#endif
extern "C" const warpseal::CudaCipherSet WARPSEAL_EXPORT;
constinit const warpseal::CudaCipherSet WARPSEAL_EXPORT =
    warpseal::cuda::set<warpseal::cuda::WARPSEAL_SHARED_MEMORY_LIMIT>(
        warpseal::ciphers::WARPSEAL_CIPHER::Ciphers{});
