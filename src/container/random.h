// Random bytes from the operating system, the only source of keys, salts and identifiers.
#pragma once

#include <cstddef>

namespace warpseal::container {

// Fills `out` from getrandom(2), which blocks at boot until the generator is seeded. Returns false
// on failure and zeroizes `out`.
bool random_bytes(void* out, size_t bytes);

}  // namespace warpseal::container
