// What kind of memory an address belongs to: pinned on the host, or of a device.
#pragma once

#include <cstddef>

#include "warpseal/warpseal.h"

namespace warpseal::cuda {

// Whether all bytes [begin, begin + bytes) lie in memory that CUDA can copy from and to directly.
bool is_pinned(const void* begin, size_t bytes);

// WARPSEAL_INVALID_ARGUMENT: memory of no device.
warpseal_status device_of(const void* memory, int* device);

}  // namespace warpseal::cuda
