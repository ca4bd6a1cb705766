// Memory kind of an address: pinned host memory, or memory of a device.
#pragma once

#include <cstddef>

#include "warpseal/warpseal.h"

namespace warpseal::cuda {

// True if all of [begin, begin + bytes) is pinned memory, which CUDA copies from and to directly.
bool is_pinned(const void* begin, size_t bytes);

// Finds the device that owns `memory`. Returns WARPSEAL_INVALID_ARGUMENT for memory of no device.
warpseal_status device_of(const void* memory, int* device);

}  // namespace warpseal::cuda
