// P1's claim that a GPU lowers the load of the CPU: CPU seconds per GB on cores and on a GPU.
#pragma once

#include "bench/papers/study.h"

namespace warpseal::papers {

// Takes a row for each cipher and path of its data.
void print_cpu_load(Study& study);

}  // namespace warpseal::papers
