// The GPU's part of a trial that was built for cores alone.
#include <cstdio>

#include "gpu.h"

trial::GpuResult trial::run_on_gpu(const Sample&) {
    std::puts("\nGPU\n  NOT RUN: this program is for cores alone. Nothing was checked on a GPU.");
    return GpuResult::not_run;
}
