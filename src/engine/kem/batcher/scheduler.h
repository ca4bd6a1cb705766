// Scheduler of a batcher: the queue, threads and counters of one process.
#pragma once

#include <array>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "engine/kem/batcher/batcher.h"
#include "engine/kem/batcher/metrics.h"
#include "engine/kem/batcher/placement.h"
#include "engine/kem/batcher/preparation.h"
#include "engine/kem/batcher/staging_buffer.h"
#include "engine/kem/batcher/submission_queue.h"

namespace warpseal {

// A forked child cannot destroy it, because its threads stayed with the parent and its locks may be
// held; the child leaks it.
class KemScheduler {
public:
    KemScheduler(Engine& engine, const KemBatcherOptions& options, Engine::RandomSource random,
                 KemScheduler* parents);
    ~KemScheduler();  // completes all queued requests
    KemScheduler(const KemScheduler&) = delete;
    KemScheduler& operator=(const KemScheduler&) = delete;

    bool of_this_process() const { return forks_at_creation_ == forks_so_far(); }
    warpseal_status run(const KemRequest& request, KemKind kind);
    warpseal_status submit(const KemRequest& request, KemKind kind);
    void read(warpseal_kem_batcher_counts& out) const;
    const std::string& who() const { return file_.who(); }

private:
    using Time = KemRequestQueue::Time;
    // Condition for waking the sleeping thread: a request of one of these kinds, or this many more
    // requests.
    struct Wake {
        KemKindMask kinds;
        uint32_t missing;
    };
    // Requests that one thread completes on one side: a batch, or its shard of one.
    struct Task {
        KemRequests requests;
        KemRequestQueue* queue;
        size_t batch_size;
        KemSide side;
        uint64_t placed;  // number of the shard in placement_
        KemPinnedBlocks::Block pinned;
        Time begun;
    };
    // Duration of a task's operations, and their end. What `done` does is not part of them.
    struct Timing {
        double seconds;
        Time ended;
    };

    // Adds a request to a submission queue. Returns false if the queue is full or no thread can
    // serve it.
    bool put(const KemRequest& request, KemKind kind, bool its_caller_waits);
    bool has_thread();
    bool reserve_capacity(KemSubmissionQueue& submissions);
    bool reserve_some(KemSubmissionQueue& submissions);
    uint32_t waiting() const;
    KemSubmissionQueue& submissions();
    void wake_sleeper();
    warpseal_status kem(KemKind kind, const warpseal_kem_batch& batch, KemSide side);

    void write_metrics(bool at_last);  // at_last: write now; otherwise at most once a second

    // Worker threads. The caller must hold mutex_:
    bool start_thread();
    void serve();  // releases mutex_ while a batch runs
    // Moves submitted requests to the queues. Returns true if there were any.
    bool collect();
    bool may_start(const KemRequestQueue& queue) const {
        return queue.size() != 0 &&
               (ending_ || (queue.running() < most_of_a_kind_ && !waits_for_gpu(queue.kind())));
    }
    // True until the GPU is prepared, where no core may serve instead.
    bool waits_for_gpu(KemKind kind) const {
        return gpu_only_ && preparation_ && (settled_ >> kind.number() & 1) == 0;
    }
    KemRequestQueue* ready(Time now);
    std::optional<Task> next_task(Time now);
    // Divides the batch between the sides if that pays; hands the cores' shard to another thread.
    Task place(KemRequests batch, KemRequestQueue& queue, Time now);
    Task task_on(KemSide side, const KemRequests& requests, KemRequestQueue& queue,
                 size_t batch_size, Time now);
    void finish(const Task& task, const Timing& timing);
    bool thread_to_spare() const {
        return watched_ || idle_threads_ != 0 || threads_.size() < most_threads_;
    }
    void sleep(std::unique_lock<std::mutex>& lock);
    Wake next_wake() const;
    bool arm();  // returns true if the condition holds already
    std::optional<Time> next_due() const;
    void wake_or_start_thread();
    // The caller must not hold mutex_ below.
    Timing complete(const Task& task, KemStagingBuffer& staging);
    void count(const KemRequests& batch, Time begun);
    void complete_range(KemKind kind, KemStagingBuffer& staging,
                        const KemStagingBuffer::Range& range);
    warpseal_status outcome(KemKind kind, KemStagingBuffer& staging, const KemRequest& request,
                            size_t item);
    // Runs each request by itself.
    Timing complete_singly(const KemRequests& batch);
    // Calls work(range) for each range of the staging buffer, on several threads if that pays.
    template <class Work>
    void for_ranges(const KemStagingBuffer& staging, const Work& work);

    // Called by the preparation.
    bool in_flight();
    void settle(KemKind kind, const KemPreparation::Outcome& outcome);

    // True if this thread completes requests; then it must not wait for another that does.
    static bool& serving();

    Engine& engine_;
    const KemBatcherOptions options_;
    const Engine::RandomSource random_;
    const unsigned long forks_at_creation_;
    KemScheduler* const parents_;  // scheduler of the parent process; leaked by a forked child
    const bool gpu_only_;
    const bool places_;  // the engine has cores and perhaps a GPU
    const unsigned most_threads_, most_of_a_kind_, most_inline_;

    std::vector<KemSubmissionQueue> submission_queues_;
    // Free capacity that no submission queue has reserved.
    alignas(64) std::atomic<uint32_t> capacity_;
    // Requests missing for a full batch, if they are few.
    alignas(64) std::atomic<int64_t> missing_{0};
    alignas(64) std::atomic<uint32_t> inline_now_{0};
    alignas(64) std::atomic<bool> started_{false}, ending_{false}, asleep_{false};

    // Held while unused capacity is reclaimed. fork: a child has its own scheduler
    std::mutex reclaiming_;
    std::mutex mutex_;  // fork: a child has its own scheduler
    // Bit masks of submission queues with arrivals before the last batch, and since.
    uint32_t active_before_ = 0, active_ = 0;
    std::array<KemRequestQueue, kem_kind_count> queues_;
    KemPlacement placement_;
    // The preparation found the GPU open, and no batch has lost it.
    bool gpu_is_open_ = false;
    std::vector<Task> handed_over_;                // shards that no thread has begun
    KemKindMask asked_ = 0, settled_ = 0;          // by the preparation
    std::unique_ptr<KemPreparation> preparation_;  // null: no GPU, or no thread for it
    std::vector<std::thread> threads_;
    // wake_: the watching thread; idle_: idle threads. fork: a child has its own scheduler
    std::condition_variable wake_, idle_;
    bool watched_ = false;  // a thread sleeps until something is due
    unsigned idle_threads_ = 0;

    KemCounts counts_;
    const MetricsFile file_;
    // Time of the next write of the metrics.
    std::atomic<int64_t> next_write_{0};
    std::atomic<bool> unwritten_{false};
};

}  // namespace warpseal
