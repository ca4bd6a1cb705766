// Who would be done with a batch of key encapsulation first, the cores or a GPU: by what their
// calls took, as far as there were any.
#pragma once

#include <atomic>

#include "backends/kem_backend.h"

namespace warpseal {

// All calls are thread-safe, and take no lock.
class KemThroughput {
public:
    // Fewer are not even asked about: a core has done them before a GPU would have begun.
    static constexpr uint64_t least_gpu_items = 32;

    explicit KemThroughput(unsigned threads) : threads_(threads) {}
    // Opening a GPU takes as long as many calls: it is worth it once calls on the cores have been
    // that much longer than they would have been there. Who is passed over again and again is tried
    // again: what is not measured rises by a percent each time, by half at most.
    bool gpu_first(int set, KemOperation operation, uint64_t items, bool gpu_is_open);
    // What a call took, from its beginning to its end, of the cores together or of the GPUs
    // together.
    void note(int set, KemOperation operation, bool gpu, uint64_t items, double seconds);
    // The GPUs did so many of a call in that time and left others to the cores.
    void handed_back(int set, KemOperation operation, uint64_t items, double seconds);

private:
    struct Figure {
        std::atomic<double> rate{0};  // items a second, as measured
        std::atomic<unsigned> seen{0},
            passed{0};  // measurements; calls that the other side has had since the last
    };
    double measured_or_usual(int set, KemOperation operation, bool gpu) const;
    double hoped_for(int set, KemOperation operation, bool gpu) const;

    const unsigned threads_;
    std::atomic<double> forgone_{0};  // seconds
    Figure figures_[2][kem::set_count][kem_operation_count];
};

}  // namespace warpseal
