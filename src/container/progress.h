// The caller's progress callback, called from any worker, one at a time and not too often.
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

    void expect(uint64_t total_bytes) { total_bytes_ = total_bytes; }  // before the work starts
    // Counts, and calls back a few times a second. True: stop.
    bool add(uint64_t bytes);
    // Calls back at once: at the end, and after a signal interrupted a system call. True: stop.
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
    std::mutex calling_;  // fork: of one call, which no child goes on with
};

}  // namespace warpseal::container
