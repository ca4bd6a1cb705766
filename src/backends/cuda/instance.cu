// One cipher header for the GPU: this object's only export is its door.
#include "backends/cuda/cipher_set.cuh"
#include WARPSEAL_CIPHER_HEADER
#ifndef WARPSEAL_SHARED_MEMORY_LIMIT
#define WARPSEAL_SHARED_MEMORY_LIMIT DeviceSharedMemory
#endif
extern "C" const warpseal::CudaCipherSet WARPSEAL_EXPORT;
constinit const warpseal::CudaCipherSet WARPSEAL_EXPORT =
    warpseal::cuda::set<warpseal::cuda::WARPSEAL_SHARED_MEMORY_LIMIT>(
        warpseal::ciphers::WARPSEAL_CIPHER::Ciphers{});
