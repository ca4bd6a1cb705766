// Allocation failures of the C++ runtime in this program.
#pragma once

namespace tests {

// Number of further requests of the calling thread to grant; negative: all. The next one fails, and
// all after it unless `refused_once`.
extern thread_local long requests_met;
extern thread_local bool refused_once;

}  // namespace tests
