// Memory that the C++ runtime of this program does not get.
#pragma once

namespace tests {

// How many more requests of the calling thread are met; negative: all. The next is refused, and
// those after it if not `refused_once`.
extern thread_local long requests_met;
extern thread_local bool refused_once;

}  // namespace tests
