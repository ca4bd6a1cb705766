// Sums of the batcher's metrics over all labels, from the Prometheus text format.
#include "bench/tls/metrics.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace warpseal::tls {
namespace {

// Matches lines such as `name{label="x"} 7` and `name 7`.
double sum_of(const std::string& text, std::string_view name) {
    double sum = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, name.size(), name) != 0) continue;
        const size_t labels_end = line[name.size()] == '{' ? line.rfind('}') + 1 : name.size();
        if (labels_end < line.size() && line[labels_end] == ' ')
            sum += std::strtod(line.c_str() + labels_end, nullptr);
    }
    return sum;
}

}  // namespace

BatchCounts BatchCounts::of(const std::string& text) {
    return {.requests = sum_of(text, "warpseal_kem_requests_total"),
            .batches = sum_of(text, "warpseal_kem_batch_size_count"),
            .batched = sum_of(text, "warpseal_kem_batch_size_sum"),
            .waits = sum_of(text, "warpseal_kem_queue_wait_seconds_count"),
            .wait_seconds = sum_of(text, "warpseal_kem_queue_wait_seconds_sum"),
            .fallbacks = sum_of(text, "warpseal_kem_fallback_total")};
}

BatchCounts BatchCounts::operator-(const BatchCounts& before) const {
    return {.requests = requests - before.requests,
            .batches = batches - before.batches,
            .batched = batched - before.batched,
            .waits = waits - before.waits,
            .wait_seconds = wait_seconds - before.wait_seconds,
            .fallbacks = fallbacks - before.fallbacks};
}

BatchCounts& BatchCounts::operator+=(const BatchCounts& more) {
    requests += more.requests;
    batches += more.batches;
    batched += more.batched;
    waits += more.waits;
    wait_seconds += more.wait_seconds;
    fallbacks += more.fallbacks;
    return *this;
}

}  // namespace warpseal::tls
