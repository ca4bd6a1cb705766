// The part of a batcher that belongs to one process: its queue, its threads and its counts.
#pragma once

#include <array>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "engine/kem/batcher/batcher.h"
#include "engine/kem/batcher/metrics.h"
#include "engine/kem/batcher/staging_buffer.h"
#include "engine/kem/batcher/submission_queue.h"

namespace warpseal {

// In a forked child it cannot be destroyed, as its threads stayed with the parent, and its locks
// may be held: it is left as it is.
class KemScheduler {
public:
    KemScheduler(Engine& engine, const KemBatcherOptions& options, Engine::RandomSource random,
                 KemScheduler* parents);
    ~KemScheduler();  // completes what is queued
    KemScheduler(const KemScheduler&) = delete;
    KemScheduler& operator=(const KemScheduler&) = delete;

    bool of_this_process() const { return birth_ == forks_so_far(); }
    warpseal_status run(const KemRequest& request, KemKind kind);
    warpseal_status submit(const KemRequest& request, KemKind kind);
    void read(warpseal_kem_batcher_counts& out) const;
    const std::string& who() const { return file_.who(); }

private:
    using Time = KemRequestQueue::Time;
    // When the thread that sleeps is to be woken: by a request of one of these kinds, as bits, or
    // by so many more.
    struct Wake {
        uint32_t kinds, missing;
    };

    // Into an inbox, for a thread that will see it. False: the queue is full, or there is no
    // thread.
    bool put(const KemRequest& request, KemKind kind, bool its_caller_waits);
    bool has_thread();
    bool reserve_capacity(KemSubmissionQueue& submissions);
    bool reserve_some(KemSubmissionQueue& submissions);
    uint32_t waiting() const;
    KemSubmissionQueue& submissions();
    void ring();
    warpseal_status kem(KemKind kind, const warpseal_kem_batch& batch);

    void write_metrics(bool at_last);  // else not more than once a second

    // The threads' side. Under mutex_:
    bool start_thread();
    void serve();    // but for the batches
    bool collect();  // what arrived, into the queues; whether anything did
    bool may_start(const KemRequestQueue& queue) const {
        return queue.size() != 0 && (ending_ || queue.running() < most_of_a_kind_);
    }
    KemRequestQueue* ready(Time now);
    void sleep(std::unique_lock<std::mutex>& lock);
    Wake next_wake() const;
    bool arm();  // true: what would ring is there already
    std::optional<Time> next_due() const;
    void hand_over();
    // Not under it:
    double complete(KemRequests batch, Time begun,
                    KemStagingBuffer& staging);  // seconds that the operations took
    void count(const KemRequests& batch, Time begun);
    void complete_range(KemKind kind, KemStagingBuffer& staging,
                        const KemStagingBuffer::Range& range);
    warpseal_status outcome(KemKind kind, KemStagingBuffer& staging, const KemRequest& request,
                            size_t item);
    double complete_apart(const KemRequests& batch);  // seconds that the operations took
    template <class Work>
    void in_chunks(const KemStagingBuffer& staging, const Work& work);

    // Whether this thread completes requests: then it waits for nobody who does.
    static bool& serving();

    Engine& engine_;
    const KemBatcherOptions options_;
    const Engine::RandomSource random_;
    const unsigned long birth_;
    KemScheduler* const parents_;  // those that forks left behind
    const unsigned most_threads_, most_of_a_kind_, most_inline_;

    std::vector<KemSubmissionQueue> submission_queues_;
    alignas(64) std::atomic<uint32_t> capacity_;   // in the queue, not lent to an inbox
    alignas(64) std::atomic<int64_t> missing_{0};  // for a full batch, while few are
    alignas(64) std::atomic<uint32_t> inline_now_{0};
    alignas(64) std::atomic<bool> started_{false}, ending_{false}, asleep_{false};

    // Of whoever fetches back what inboxes have not used. fork: a child has a crew of its own
    std::mutex gather_;
    std::mutex mutex_;  // fork: a child has a crew of its own
    // Inboxes that requests came into while the last batch gathered, and since, as bits.
    uint32_t lively_before_ = 0, lively_ = 0;
    std::array<KemRequestQueue, kem_kind_count> queues_;
    std::vector<std::thread> threads_;
    // Of the thread that watches; of others without work. fork: a child has a crew of its own
    std::condition_variable wake_, rest_;
    bool watched_ = false;  // one sleeps until something is due
    unsigned resting_ = 0;

    KemCounts counts_;
    const MetricsFile file_;
    std::atomic<int64_t> next_write_{0};  // of the metrics, on the clock
    std::atomic<bool> unwritten_{false};
};

}  // namespace warpseal
