// What the library takes of memory from CUDA and gives back: the linker sends it those calls
// (allocations.cpp), and it looks at the memory.
#pragma once

#include <cstddef>

namespace gpu {

struct Leftovers {
    size_t freed = 0,
           freed_unwiped =
               0;  // pieces of memory that went back, and those of them that held something
    size_t kept = 0, kept_unwiped = 0;  // likewise, of those that are still held
};

// Looks from here on. Waits for the device at each call that frees.
void watch_allocations();
// Until now; nothing is watched any more. Waits for the device.
Leftovers leftovers();

// The next request for scratch finds no memory; and whether there was one since.
void refuse_next_scratch();
bool refused_scratch();

}  // namespace gpu
