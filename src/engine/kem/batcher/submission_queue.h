// Submission queue: passes requests from submitting threads to a scheduler's workers.
#pragma once

#include <mutex>

#include "engine/kem/batcher/request.h"

namespace warpseal {

// One of several, each for some of the submitting threads, so that cache lines written for a
// request are rarely shared.
// Chunks are reused; there are never more than were in flight at a time.
class alignas(64) KemSubmissionQueue {
public:
    static constexpr uint32_t never = UINT32_MAX;

    KemSubmissionQueue() = default;
    ~KemSubmissionQueue();
    KemSubmissionQueue(const KemSubmissionQueue&) = delete;
    KemSubmissionQueue& operator=(const KemSubmissionQueue&) = delete;

    // quiet: queued, nothing else to do; counted: the caller counts the request for the sleeping
    // thread; wake: the caller wakes that thread. May throw std::bad_alloc; nothing is queued then.
    enum class Put : uint8_t { no_capacity, quiet, counted, wake };
    Put put(KemKind kind, const KemRequest& request, BatcherClock::time_point now,
            bool its_caller_waits);

    // Returns the chunks that arrived, in order, linked by `next`.
    KemChunk* drain();
    // Arms one wakeup: at a request of one of these kinds, or at `count` requests.
    // counted: the caller counts each request.
    // Returns the number of requests, or `never` if the condition holds already.
    uint32_t arm(KemKindMask kinds, uint32_t count, bool counted);

    // Capacity reserved for future requests.
    uint32_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
    void reserve(uint32_t capacity);
    uint32_t release_capacity();

    // Records that `count` of the chunk's requests are completed; recycles the chunk after the
    // last.
    static void completed(KemChunk& chunk, uint32_t count);

private:
    KemChunk& chunk_for(KemKind kind);
    bool reached() const { return (kinds_ & wake_kinds_) != 0 || count_ >= wake_at_; }

    std::mutex mutex_;                   // fork: a child has its own scheduler and queues
    std::atomic<uint32_t> capacity_{0};  // written under mutex_
    uint32_t count_ = 0;                 // of the requests that arrived
    uint32_t wake_at_ = never;
    KemKindMask kinds_ = 0, wake_kinds_ = 0;
    bool counted_ = false;
    KemChunk *first_ = nullptr, *last_ = nullptr;
    // Chunks with room.
    std::array<KemChunk*, kem_kind_count> open_{};
    KemChunk* spare_ = nullptr;
};

}  // namespace warpseal
