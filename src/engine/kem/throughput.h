// Throughput model for key encapsulation: decides between CPU and GPU by measured times of calls.
#pragma once

#include <atomic>

#include "backends/kem_catalogue.h"

namespace warpseal {

// Rough times of a batch before any is measured, on `threads` cores or on a GPU: a fixed delay, and
// seconds for each item.
struct KemDefaultTime {
    double delay_seconds, item_seconds;
};
KemDefaultTime default_kem_time(int set, KemOperation operation, bool gpu, unsigned threads);

// Thread-safe and lock-free.
class KemThroughput {
public:
    // Minimum items for a GPU: a core finishes fewer before a GPU would have started.
    static constexpr uint64_t least_gpu_items = 32;

    explicit KemThroughput(unsigned threads) : threads_(threads) {}
    // True if a GPU should run the call. Opening a GPU pays once CPU calls have taken longer than
    // GPU calls by the time of opening it.
    // Each call that goes elsewhere raises a side's estimate by one percent, 50 % at most, so that
    // it is tried again.
    bool gpu_first(int set, KemOperation operation, uint64_t items, bool gpu_is_open);
    // Records the time of a call, on all cores together or on all GPUs together.
    void note(int set, KemOperation operation, bool gpu, uint64_t items, double seconds);
    // Records that the GPUs finished `items` items in that time and left the rest to the CPU.
    void handed_back(int set, KemOperation operation, uint64_t items, double seconds);

private:
    struct Figure {
        std::atomic<double> rate{0};  // items per second, measured
        // Number of measurements, and of calls that went to the other side since the last one.
        std::atomic<unsigned> seen{0}, passed{0};
    };
    double measured_or_default(int set, KemOperation operation, bool gpu) const;
    double optimistic_rate(int set, KemOperation operation, bool gpu) const;

    const unsigned threads_;
    std::atomic<double> forgone_{0};  // seconds that open GPUs would have saved
    Figure figures_[2][kem_set_count][kem_operation_count];
};

}  // namespace warpseal
