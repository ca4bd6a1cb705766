// Paces of key encapsulation: usual figures until there are measured ones. Measured with the AVX-512 target and on an H200.
#include "engine/kem_paces.h"

#include <algorithm>

namespace warpseal {
namespace {

// Thousands a second of ntruhps4096821, by one core and through a GPU.
constexpr double usual_core[kem_operation_count] = {45, 190, 120}, usual_gpu[kem_operation_count] = {5000, 12000, 16000};
// Seconds: a GPU's call, however few its items are; and its opening.
constexpr double gpu_delay[kem_operation_count] = {1e-3, 0.5e-3, 0.2e-3}, opening = 0.5;
// Shorter calls say little of a rate; and the first of a GPU, which pays for memory and page faults, nothing.
constexpr double telling_seconds = 1e-3;

// Products cost more than in proportion.
double scale(int set) {
    const double n = kem::sets[set]->n / 821.0;
    return 1 / (n * n);
}

}  // namespace

bool KemPaces::gpu_first(int set, KemOperation operation, uint64_t items, bool gpu_is_open) {
    const int i = static_cast<int>(operation);
    const double core = paces_[0][set][i].rate.load(std::memory_order_relaxed),
                 gpu = paces_[1][set][i].rate.load(std::memory_order_relaxed);
    const double cores_rate = core != 0 ? core : usual_core[i] * 1e3 * scale(set) * threads_;
    const double gpu_rate = gpu != 0 ? gpu : usual_gpu[i] * 1e3 * scale(set);
    const auto count = static_cast<double>(items);
    const double saved = count / cores_rate - gpu_delay[i] - count / gpu_rate;
    if (saved <= 0 || gpu_is_open) return saved > 0;
    return forgone_.fetch_add(saved, std::memory_order_relaxed) + saved > opening;
}

void KemPaces::note(int set, KemOperation operation, bool gpu, uint64_t items, double seconds) {
    const int i = static_cast<int>(operation);
    if (gpu) seconds = std::max(seconds - gpu_delay[i], seconds / 2);
    if (seconds < telling_seconds) return;
    Pace& pace = paces_[gpu ? 1 : 0][set][i];
    if (pace.seen.fetch_add(1, std::memory_order_relaxed) == 0 && gpu) return;
    const double rate = static_cast<double>(items) / seconds, before = pace.rate.load(std::memory_order_relaxed);
    pace.rate.store(std::max(rate, (3 * before + rate) / 4), std::memory_order_relaxed);
}

}  // namespace warpseal
