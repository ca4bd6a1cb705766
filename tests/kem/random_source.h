// What getrandom(2) does in this program: as the kernel does, the first calls or all; always the
// same bytes; or nothing but fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tests {

enum class Source { kernel, fixed, failing, some };
extern Source source;
extern int calls_left;  // of some: those after fail
constexpr uint8_t fixed_byte(size_t i) { return static_cast<uint8_t>(7 * i + 3); }

}  // namespace tests
