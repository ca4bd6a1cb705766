// Calls the caller's progress callback from any worker, one call at a time and at a limited rate.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "warpseal/warpseal.h"

namespace warpseal::container {

class Progress {
public:
    Progress(int (*callback)(void* user, uint64_t done_bytes, uint64_t total_bytes), void* user)
        : callback_(callback), user_(user) {}

    // Sets the total number of bytes. Call before the work starts.
    void expect(uint64_t total_bytes) { total_bytes_ = total_bytes; }
    // Adds to the count, and calls back at most ten times a second. Returns true if the caller
    // cancelled.
    bool add(uint64_t bytes);
    // Calls back immediately: at the end, and after a signal interrupted a system call. Returns
    // true if the caller cancelled.
    bool report();
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    uint64_t done_bytes() const { return done_bytes_.load(std::memory_order_relaxed); }

private:
    void call();

    int (*const callback_)(void*, uint64_t, uint64_t);
    void* const user_;
    uint64_t total_bytes_ = UINT64_MAX;
    std::atomic<uint64_t> done_bytes_{0};
    std::atomic<int64_t> due_{0};  // steady clock, nanoseconds
    std::atomic<bool> cancelled_{false};
    std::mutex calling_;  // fork: belongs to one call, which no child continues
};

}  // namespace warpseal::container
