// Timing of progress callbacks.
#include "container/pipeline/progress.h"

#include <chrono>

namespace warpseal::container {
namespace {

constexpr int64_t interval = 100'000'000;  // nanoseconds

int64_t now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void Progress::call() {
    due_.store(now() + interval, std::memory_order_relaxed);
    if (callback_(user_, done_bytes(), total_bytes_) != 0)
        cancelled_.store(true, std::memory_order_relaxed);
}

bool Progress::add(uint64_t bytes) {
    done_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (callback_ == nullptr || now() < due_.load(std::memory_order_relaxed)) return cancelled();
    const std::unique_lock<std::mutex> lock(calling_, std::try_to_lock);
    if (lock.owns_lock()) call();
    return cancelled();
}

bool Progress::report() {
    if (callback_ == nullptr) return false;
    const std::lock_guard<std::mutex> lock(calling_);
    call();
    return cancelled();
}

}  // namespace warpseal::container
