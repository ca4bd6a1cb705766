// Tracks the library's CUDA allocations. The linker redirects those calls to allocations.cpp, which
// inspects the memory.
#pragma once

#include <cstddef>

namespace gpu {

struct Leftovers {
    size_t freed = 0,
           freed_unwiped = 0;  // freed allocations, and those of them that were not zeroized
    size_t kept = 0, kept_not_zeroized = 0;  // the same for allocations still held
};

// Starts tracking. Waits for the device at each call that frees.
void watch_allocations();
// Stops tracking and returns the counts. Waits for the device.
Leftovers leftovers();

// Makes the next request for scratch fail; refused_scratch() returns true if there was one since.
void refuse_next_scratch();
bool refused_scratch();

}  // namespace gpu
