// Looks at the first bytes of an input, which stay in it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace warpseal::cli {

// Returns at most `most` bytes from the input's position on, or none if the input cannot be looked
// at. Waits at a pipe or a socket until the bytes there are enough, or until no more can come.
// Throws Failure if a signal asked the program to stop.
std::string peek(int input, size_t most, const std::function<bool(std::string_view)>& is_enough);

}  // namespace warpseal::cli
