// Behaviour of getrandom(2) in this program: as in the kernel, for the first calls or all; always
// the same bytes; or always failing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tests {

enum class Source { kernel, fixed, failing, some };
extern Source source;
extern int calls_left;  // for the source that ends: later calls fail
constexpr uint8_t fixed_byte(size_t i) { return static_cast<uint8_t>(7 * i + 3); }

}  // namespace tests
