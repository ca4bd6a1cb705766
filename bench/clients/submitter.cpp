// Submits requests, and submits them again once they are completed.
#include "bench/clients/submitter.h"

namespace warpseal::tls {

Submitter::Submitter(std::vector<warpseal_kem_request> requests) : slots_(requests.size()) {
    for (size_t i = 0; i < slots_.size(); ++i) {
        slots_[i].submitter = this;
        slots_[i].request = requests[i];
        slots_[i].request.user = &slots_[i];
        slots_[i].request.done = [](void* user, warpseal_status status) {
            auto* slot = static_cast<Slot*>(user);
            slot->submitter->complete(*slot, status);
        };
    }
}

void Submitter::run(warpseal_kem_batcher* batcher, double seconds) {
    batcher_ = batcher;
    latencies.clear();
    const Clock::time_point start = Clock::now();
    for (Slot& slot : slots_) submit(slot);
    for (size_t waiting = slots_.size(); waiting > 0;) {
        last_completed_.wait(nullptr, std::memory_order_acquire);
        const bool again = seconds_since(start) < seconds && status == WARPSEAL_OK;
        for (Slot *next, *slot = last_completed_.exchange(nullptr, std::memory_order_acquire);
             slot != nullptr; slot = next) {
            next = slot->completed_before;
            __builtin_prefetch(next, 1);  // Another core has written it.
            latencies.push_back(
                std::chrono::duration<double>(slot->completed - slot->submitted).count());
            if (again)
                submit(*slot);
            else
                --waiting;
        }
    }
}

void Submitter::submit(Slot& slot) {
    slot.submitted = Clock::now();
    const warpseal_status status_now = warpseal_kem_batcher_submit(batcher_, &slot.request);
    if (status_now == WARPSEAL_OK) return;
    complete(slot, status_now == WARPSEAL_LIMIT_EXCEEDED
                       ? warpseal_kem_batcher_run(batcher_, &slot.request)
                       : status_now);
}

void Submitter::complete(Slot& slot, warpseal_status result) {
    slot.completed = Clock::now();
    if (result != WARPSEAL_OK) status = result;
    Slot* before = last_completed_.load(std::memory_order_relaxed);
    do slot.completed_before = before;
    while (!last_completed_.compare_exchange_weak(before, &slot, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed));
    if (before == nullptr) last_completed_.notify_one();
}

}  // namespace warpseal::tls
