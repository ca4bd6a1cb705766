// One cipher header for the GPU: this object's only export is its door.
#include "backends/cuda/set.cuh"
#include WARPSEAL_CIPHER_HEADER
extern "C" const warpseal::CudaCipherSet WARPSEAL_DOOR;
constinit const warpseal::CudaCipherSet WARPSEAL_DOOR = warpseal::cuda::set(warpseal::ciphers::WARPSEAL_CIPHER::Ciphers{});
