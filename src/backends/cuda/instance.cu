// One cipher header for the GPU: this object's only export is its door.
#include "backends/cuda/set.cuh"
#include WARPSEAL_CIPHER_HEADER
#ifndef WARPSEAL_FIT
#define WARPSEAL_FIT AllOfIt
#endif
extern "C" const warpseal::CudaCipherSet WARPSEAL_DOOR;
constinit const warpseal::CudaCipherSet WARPSEAL_DOOR =
    warpseal::cuda::set<warpseal::cuda::WARPSEAL_FIT>(
        warpseal::ciphers::WARPSEAL_CIPHER::Ciphers{});
