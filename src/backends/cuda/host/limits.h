// Limits of a device, by which kernels are chosen and launched.
#pragma once

#include <cstdint>

namespace warpseal::cuda {

struct Limits {
    int multiprocessors = 0;
    int architecture = 0;  // architecture that the running code was compiled for: 90 for 9.0
    bool any_length = false;

    // Minimum text length in bytes for a kernel for long texts: `bytes`, or 0 in tests.
    uint64_t min_bytes(uint64_t bytes) const { return any_length ? 0 : bytes; }
};

}  // namespace warpseal::cuda
