// The GPU's part of a trial that was built without nvcc.
#include <cstdio>

#include "gpu.h"

trial::GpuResult trial::run_on_gpu(const Sample&) {
    std::puts(
        "\nGPU\n  NOT RUN: this program was built without nvcc. Nothing was compiled or checked\n"
        "  for a GPU.");
    return GpuResult::not_run;
}
