// The GPU's part of a trial: the same blocks as on cores, compared and timed.
#pragma once

#include <cstdint>
#include <vector>

namespace trial {

struct Sample {
    std::vector<uint8_t> context;               // expanded on the host
    uint8_t counter[16];                        // first counter block of CTR
    std::vector<uint8_t> text, encrypted, ctr;  // results of the C function on cores
    double all_cores;                           // GB/s of ECB encryption
};

enum class GpuResult { passed, failed, not_run };

// Prints its results. Says NOT RUN and why where there is no GPU or the program was built without.
GpuResult run_on_gpu(const Sample& sample);

}  // namespace trial
