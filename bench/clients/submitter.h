// Thread of a load that keeps requests of a batcher pending.
#pragma once

#include <atomic>
#include <chrono>
#include <vector>

#include "warpseal/batcher.h"

namespace warpseal::tls {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Keeps its requests pending: each completed request is submitted again.
class Submitter {
public:
    explicit Submitter(std::vector<warpseal_kem_request> requests);

    // 0 seconds: submits each request once.
    void run(warpseal_kem_batcher* batcher, double seconds);

    std::vector<double> latencies;
    std::atomic<warpseal_status> status{WARPSEAL_OK};  // status of a failed request, if any

private:
    // Two cache lines; the answering thread touches only the first.
    struct alignas(128) Slot {
        Submitter* submitter;
        Slot* completed_before;  // previous completed slot, not processed yet
        Clock::time_point submitted, completed;
        warpseal_kem_request request;
    };

    void submit(Slot& slot);
    void complete(Slot& slot, warpseal_status result);

    warpseal_kem_batcher* batcher_ = nullptr;
    std::vector<Slot> slots_;
    // In its own cache line, because other threads write it.
    alignas(128) std::atomic<Slot*> last_completed_{nullptr};
};

}  // namespace warpseal::tls
