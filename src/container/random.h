// Random bytes from the operating system, the only source of keys, salts and identifiers.
#pragma once

#include <cstddef>

namespace warpseal::container {

// getrandom(2), waiting at boot until it is seeded. False if the kernel refuses; `out` is then
// wiped.
bool random_bytes(void* out, size_t bytes);

}  // namespace warpseal::container
