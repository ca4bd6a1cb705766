// CPU time of this process, beside the clock.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/papers/study.h"

namespace warpseal::papers {

// Seconds on a core of all threads of this process, in user and in system mode.
double process_cpu_seconds();

struct Load {
    double cpu_seconds_per_gigabyte = 0, gigabytes_per_second = 0;
};

// Repeats `call`, which processes `bytes` bytes, for the seconds of the study, after one call that
// is not counted.
Load measure_load(const Study& study, uint64_t bytes, const std::function<void()>& call);

}  // namespace warpseal::papers
