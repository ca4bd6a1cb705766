// Strings of the items of a batch, which kernels of key encapsulation read and write.
#pragma once

#include <cstdint>

namespace warpseal::cuda {

// A string of each item, at any alignment.
struct Input {
    const uint8_t* at;
    uint64_t stride;
};
struct Output {
    uint8_t* at;
    uint64_t stride;
};

}  // namespace warpseal::cuda
