// P1's claim that a GPU lowers the load of the CPU: CPU seconds per GB on cores and on a GPU.
#pragma once

#include "bench/papers/published.h"
#include "bench/papers/study.h"

namespace warpseal::papers {

inline constexpr Table load_table{
    "P1", "conclusion, CPU load", "CPU seconds per GB on cores and on a GPU",
    published::p1::both_cards,
    "the paper claims that a GPU lowers the CPU's load, without a figure; user and system time of "
    "all threads of this process (getrusage); the method is the 32-bit code with look-up tables on "
    "one core; the default is a public call of ECB on all cores, through the GPU from host memory "
    "to host memory, or within the GPU's memory, with the wait for its end"};

// Takes a row for each cipher and path of its data.
void print_cpu_load(Study& study);

}  // namespace warpseal::papers
