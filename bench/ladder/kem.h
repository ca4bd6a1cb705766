// The ladder of NTRU: P4's kernels and the product's, each checked whenever it is timed. Compiles
// without CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "backends/gpu_backend.h"
#include "bench/ladder/ladder.h"

namespace warpseal::ladder {

struct KemOptions {
    // Operations in one launch. For a component, 0 selects as many as take about `seconds`, at most
    // count_of_paper.
    uint64_t count = 10'000;
    int threads_per_block = 0;  // 0: the step's own
    int repetitions = 7;        // the figure is the median
    double seconds = 1;         // No repetition starts after this time, except the first.
    int device = 0;
};
inline constexpr uint64_t count_of_paper = 10'000;

// The kernel is the first one of a step that has two.
struct KemMeasured : LaunchedKernel {
    double milliseconds = 0;  // Time of the launch, or of both launches, within device memory.
    uint64_t count = 0;

    double operations_per_second() const {
        return static_cast<double>(count) / milliseconds * 1000;
    }
};

struct KemStudy;

// A method for one operation of a set.
struct KemStep {
    const char* name;  // e.g. "ntruhps4096821.encapsulate.block"
    const char* paper = nullptr;
    const char* set;
    KemOperation operation;
    bool product = false;
    const char* what;    // one line: the change of this step
    const char* taught;  // one line: the lesson
    const KemStudy* study = nullptr;
};

struct ComponentStudy;

// A part of the operations, timed alone in one block of threads, as in P4.
struct Component {
    const char* name;  // as in the paper's table 6
    const char* set;
    const ComponentStudy* study;
};

// Both are empty in a build without CUDA. Names of steps are unique.
std::span<const KemStep> kem_steps();
std::span<const Component> components();

// Measure and compare. A step's whole output is compared with the product's, and a sample with the
// portable target's. A component's output is compared with the same code on a core. Statuses are
// those of run(const Step&, ...).
warpseal_status run(const KemStep& step, const KemOptions& options, KemMeasured* measured);
warpseal_status run(const Component& component, const KemOptions& options, KemMeasured* measured);

}  // namespace warpseal::ladder
