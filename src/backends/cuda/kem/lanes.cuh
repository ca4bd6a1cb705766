// Kernels of key encapsulation with one item in each lane: an item's strings.
#pragma once

#include "backends/cuda/kem/lanes.h"

namespace warpseal::cuda {

__device__ __forceinline__ uint64_t lane_item() {
    return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ const uint8_t* string_of(const Input& input, uint64_t item) {
    return input.at + item * input.stride;
}
__device__ __forceinline__ uint8_t* string_of(const Output& output, uint64_t item) {
    return output.at + item * output.stride;
}

}  // namespace warpseal::cuda
