// Allocation failures of the C++ runtime in this program, and a look at memory that it frees.
#pragma once

#include <cstddef>

namespace tests {

// Number of further requests of the calling thread to grant; negative: all. The next one fails, and
// all after it unless `refused_once`.
extern thread_local long requests_met;
extern thread_local bool refused_once;

// If set, called by the thread that frees memory, before it does.
extern thread_local void (*before_free)(const void* memory, size_t bytes);

}  // namespace tests
