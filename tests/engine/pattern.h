// Pseudorandom texts for tests: keys, IVs and messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tests {

using Text = std::vector<uint8_t>;

// Returns pseudorandom bytes whose period is no power of two, so that no two blocks, lanes or rows
// of a test are equal.
inline Text pattern(size_t bytes, uint32_t seed) {
    Text text(bytes);
    uint32_t x = seed * 2654435761u + 1;
    for (uint8_t& byte : text) {
        x = x * 1664525u + 1013904223u;
        byte = static_cast<uint8_t>(x >> 24);
    }
    return text;
}

}  // namespace tests
