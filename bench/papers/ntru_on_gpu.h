// P4's NTRU set on a GPU: steps and components of the ladder by name, scaled to the paper's number
// of operations.
#pragma once

#include <optional>
#include <string>

#include "bench/ladder/kem.h"
#include "bench/papers/study.h"

namespace warpseal::papers {

struct TimedStep {
    std::optional<double> milliseconds = {};
    ladder::KemMeasured measured{};
    std::string what, not_run;
    Units units = {};
    std::string scaled = {};
};

void set_method(Row& row, const TimedStep& step);
void set_ours(Row& row, const TimedStep& step);

class NtruOnGpu {
public:
    explicit NtruOnGpu(Study& study);

    // The most operations of a launch, by --bytes.
    uint64_t most() const { return most_; }

    // Runs a component in one block of threads.
    TimedStep component(const std::string& name, int threads);
    // Runs a step, e.g. "block", on `count` operations or most() of them, and scales its time to
    // `count`.
    TimedStep step(KemOperation operation, const char* how, uint64_t count, int threads = 0);

private:
    void finish(TimedStep& out, warpseal_status status);

    Study& study_;
    uint64_t most_;
};

}  // namespace warpseal::papers
