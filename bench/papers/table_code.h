// Table-based 32-bit code of a cipher as in C programs for a CPU, the baseline of P1 on a core.
#pragma once

#include <string>

#include "bench/papers/cpu_time.h"
#include "bench/papers/study.h"

namespace warpseal::papers {

struct TableCodeRate {
    double gigabytes_per_second = 0;
    std::optional<double> spread = {};  // the slowest repetition over the fastest
};

// Measures in-place encryption of 64 KiB on one core, for "AES" or "ARIA" with a 128-bit key. The
// first block is checked against the known answer.
TableCodeRate table_code_rate(const std::string& cipher, Study& study);
// Measures the same with its CPU time.
Load table_code_load(const std::string& cipher, Study& study);

}  // namespace warpseal::papers
