// Throughput model for key encapsulation. It starts with estimates, which measurements replace;
// rates rise at once and fall slowly.
#include "engine/kem/throughput.h"

#include <algorithm>

namespace warpseal {
namespace {

// Thousands of operations per second on one core and on a GPU, rounded from one machine with
// AVX-512 and an H200. ML-KEM's on a GPU are estimates: the link carries its keys at that rate.
// Only the order of magnitude matters, for the first few calls.
struct DefaultRates {
    double core[kem_operation_count], gpu[kem_operation_count];
};
constexpr DefaultRates ntruhps4096821 = {{45, 190, 120}, {5000, 12000, 16000}};
constexpr DefaultRates mlkem768 = {{150, 150, 120}, {8000, 12000, 8000}};
// A ciphertext takes a multiple of the base point and another. A GPU's are half of the bounds in
// docs/design/gpu.md.
constexpr DefaultRates x25519 = {{300, 90, 120}, {80000, 22000, 30000}};
// Seconds: fixed delay of a GPU call, of opening a GPU, and of a call on the cores. Approximate;
// not replaced by measurements here.
constexpr double gpu_delay[kem_operation_count] = {1e-3, 0.5e-3, 0.2e-3}, opening = 0.5,
                 core_delay = 20e-6;
// Minimum duration of a call that is a measurement.
constexpr double min_measured_seconds = 1e-3;
// The first call, which pays for memory and page faults, is ignored; the next two count together.
constexpr unsigned least_seen = 3;
constexpr double retry_growth = 0.01;
constexpr unsigned max_retry_steps = 50;

// Returns seconds for each item, on a GPU or on one core. The cost of NTRU's polynomial products
// grows faster than n; ML-KEM's matrix has k^2 polynomials. A hybrid computes both halves.
// X-Wing's decapsulation also derives the key pair.
double item_seconds(const KemSet& set, KemOperation operation, bool gpu) {
    const auto seconds = [&](const DefaultRates& rates, double size) {
        return size * size / (1e3 * (gpu ? rates.gpu : rates.core)[static_cast<int>(operation)]);
    };
    double all = 0;
    if (set.ntru != nullptr) all += seconds(ntruhps4096821, set.ntru->n / 821.0);
    if (set.hybrid != nullptr) all += seconds(x25519, 1);
    if (const kem::MlKemParams* const mlkem = set.mlkem_half())
        all += seconds(mlkem768, mlkem->k / 3.0);
    if (set.hybrid != nullptr && set.hybrid->combiner == kem::Combiner::xwing &&
        operation == KemOperation::decapsulate)
        all += item_seconds(set, KemOperation::keypair, gpu);
    return all;
}

}  // namespace

KemDefaultTime default_kem_time(int set, KemOperation operation, bool gpu, unsigned threads) {
    const int i = static_cast<int>(operation);
    const double seconds = item_seconds(kem_sets[set], operation, gpu);
    return {gpu ? gpu_delay[i] : core_delay, gpu ? seconds : seconds / threads};
}

double KemThroughput::measured_or_default(int set, KemOperation operation, bool gpu) const {
    const int i = static_cast<int>(operation);
    const Figure& figure = figures_[gpu ? 1 : 0][set][i];
    if (figure.seen.load(std::memory_order_relaxed) >= least_seen)
        return figure.rate.load(std::memory_order_relaxed);
    return 1 / default_kem_time(set, operation, gpu, threads_).item_seconds;
}

double KemThroughput::optimistic_rate(int set, KemOperation operation, bool gpu) const {
    const unsigned passed = figures_[gpu ? 1 : 0][set][static_cast<int>(operation)].passed.load(
        std::memory_order_relaxed);
    return measured_or_default(set, operation, gpu) *
           (1 + retry_growth * std::min(passed, max_retry_steps));
}

bool KemThroughput::gpu_first(int set, KemOperation operation, uint64_t items, bool gpu_is_open) {
    const int i = static_cast<int>(operation);
    const auto count = static_cast<double>(items);
    const double by_cores = count / optimistic_rate(set, operation, false),
                 by_gpu = gpu_delay[i] + count / optimistic_rate(set, operation, true);
    const double saved = by_cores - by_gpu;
    if (gpu_is_open) {
        // Small calls do not count: no GPU rate would make them a GPU's, and they would not be
        // measured.
        if (by_cores > gpu_delay[i] + min_measured_seconds)
            figures_[saved > 0 ? 0 : 1][set][i].passed.fetch_add(1, std::memory_order_relaxed);
        return saved > 0;
    }
    return saved > 0 && forgone_.fetch_add(saved, std::memory_order_relaxed) + saved > opening;
}

void KemThroughput::note(int set, KemOperation operation, bool gpu, uint64_t items,
                         double seconds) {
    const int i = static_cast<int>(operation);
    if (gpu) seconds = std::max(seconds - gpu_delay[i], seconds / 2);
    if (seconds < min_measured_seconds) return;
    Figure& figure = figures_[gpu ? 1 : 0][set][i];
    figure.passed.store(0, std::memory_order_relaxed);
    const double rate = static_cast<double>(items) / seconds,
                 before = figure.rate.load(std::memory_order_relaxed);
    if (figure.seen.load(std::memory_order_relaxed) != 0)
        figure.rate.store(std::max(rate, (3 * before + rate) / 4), std::memory_order_relaxed);
    figure.seen.fetch_add(1, std::memory_order_relaxed);
}

// Counts also a call that gave up quickly. A rate falls by at most a quarter, so it stays close
// enough to the CPU's for the GPU to be tried again.
void KemThroughput::handed_back(int set, KemOperation operation, uint64_t items, double seconds) {
    Figure& figure = figures_[1][set][static_cast<int>(operation)];
    figure.passed.store(0, std::memory_order_relaxed);
    const double rate = static_cast<double>(items) / std::max(seconds, min_measured_seconds),
                 before = measured_or_default(set, operation, true);
    figure.rate.store(std::min(before, (3 * before + rate) / 4), std::memory_order_relaxed);
    figure.seen.fetch_add(least_seen, std::memory_order_relaxed);
}

}  // namespace warpseal
