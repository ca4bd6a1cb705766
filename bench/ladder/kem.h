// The ladder of NTRU: P4's kernels, each checked whenever it is timed, and the product's. Compiles
// without CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "backends/gpu_backend.h"

namespace warpseal::ladder {

struct KemOptions {
    uint64_t count = 10'000;    // operations in one launch; of a component 0: as many as take about
                                // `seconds`, count_of_paper at most
    int threads_per_block = 0;  // 0: the step's own
    int repetitions = 7;        // the median counts
    double seconds = 1;         // no repetition is begun after so many, but the first is
    int device = 0;
};
inline constexpr uint64_t count_of_paper = 10'000;

struct KemMeasured {
    double milliseconds;  // of the launch, or both; within device memory
    uint64_t count;
    // Of the (first) compiled kernel; -1 for the product, whose kernels nobody asks.
    int registers, local_bytes;  // per thread
    int shared_bytes;            // per block of threads
    int threads_per_block;

    double operations_per_second() const {
        return static_cast<double>(count) / milliseconds * 1000;
    }
};

struct KemStudy;

// A way to do one operation of a set.
struct KemStep {
    const char* name;  // "ntruhps4096821.encapsulate.block"
    const char* paper = nullptr;
    const char* set;
    KemOperation operation;
    bool product = false;
    const char* what;    // one line: what this step changes
    const char* taught;  // one line
    const KemStudy* study = nullptr;
};

struct ComponentStudy;

// What the operations are made of, each alone in one block of threads, as P4 times them.
struct Component {
    const char* name;  // as the paper's table 6 has it
    const char* set;
    const ComponentStudy* study;
};

// Both empty in a build without CUDA. Names of steps are unique.
std::span<const KemStep> kem_steps();
std::span<const Component> components();

// Measure, and compare: a step's whole output with the product's (if it is another), and a sample
// with the portable target's; a component's output with the same text on a core. Statuses as of
// run(const Step&, ...).
warpseal_status run(const KemStep& step, const KemOptions& options, KemMeasured* measured);
warpseal_status run(const Component& component, const KemOptions& options, KemMeasured* measured);

}  // namespace warpseal::ladder
