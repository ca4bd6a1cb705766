// Where submitters leave requests for a batcher's threads.
#pragma once

#include <mutex>

#include "engine/kem/batcher/request.h"

namespace warpseal {

// One of several, each for some of the threads that submit: what a request has to write lies here,
// and is seldom another's. Its chunks are made once and used again: there are never more of them
// than were under way at a time.
class alignas(64) KemSubmissionQueue {
public:
    static constexpr uint32_t never = UINT32_MAX;

    KemSubmissionQueue() = default;
    ~KemSubmissionQueue();
    KemSubmissionQueue(const KemSubmissionQueue&) = delete;
    KemSubmissionQueue& operator=(const KemSubmissionQueue&) = delete;

    // counted: whoever sleeps counts them; ring: it wants to know now. May throw for want of
    // memory; then nothing is put.
    enum class Put : uint8_t { no_capacity, quiet, counted, ring };
    Put put(KemKind kind, const KemRequest& request, BatcherClock::time_point now,
            bool its_caller_waits);

    // The chunks that arrived, in order, by `next`.
    KemChunk* drain();
    // A ring from now on, once, when there is a request of one of these kinds (bits), or as many as
    // `count` of any; and with `counted` each is to be counted. How many there are; never: what
    // would ring is there already.
    uint32_t arm(uint32_t kinds, uint32_t count, bool counted);

    // Places in the queue for requests to come.
    uint32_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
    void reserve(uint32_t capacity);
    uint32_t release_capacity();

    // So many of the chunk's requests are completed.
    static void completed(KemChunk& chunk, uint32_t count);

private:
    KemChunk& chunk_for(KemKind kind);
    bool reached() const { return (kinds_ & ring_kinds_) != 0 || count_ >= ring_at_; }

    std::mutex mutex_;                   // fork: a child has a crew of its own, and its inboxes
    std::atomic<uint32_t> capacity_{0};  // written under mutex_
    uint32_t count_ = 0, kinds_ = 0;     // of what arrived
    uint32_t ring_at_ = never, ring_kinds_ = 0;
    bool counted_ = false;
    KemChunk *first_ = nullptr, *last_ = nullptr;
    std::array<KemChunk*, kem_kind_count> open_{};  // with room, of those
    KemChunk* spare_ = nullptr;
};

}  // namespace warpseal
