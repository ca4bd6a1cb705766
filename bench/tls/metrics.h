// Counts of the batcher's metrics between two readings of its Prometheus text.
#pragma once

#include <string>

namespace warpseal::tls {

struct BatchCounts {
    double requests = 0, batches = 0, batched = 0, waits = 0, wait_seconds = 0, fallbacks = 0;

    static BatchCounts of(const std::string& prometheus_text);
    BatchCounts operator-(const BatchCounts& before) const;
    BatchCounts& operator+=(const BatchCounts& more);
    double mean_batch() const { return batches > 0 ? batched / batches : 0; }
    double mean_wait_seconds() const { return waits > 0 ? wait_seconds / waits : 0; }
};

}  // namespace warpseal::tls
