// The part of a batcher that belongs to one process: its queue, its threads and its counts.
#pragma once

#include <array>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "engine/kem_batcher.h"
#include "engine/kem_counts.h"
#include "engine/kem_tray.h"

namespace warpseal {

// In a forked child it cannot be destroyed, as its threads stayed with the parent, and its locks may be held: it is left as it is.
class KemCrew {
public:
    KemCrew(Engine& engine, const KemBatcherOptions& options, Engine::RandomSource random, KemCrew* parents);
    ~KemCrew();  // completes what is queued
    KemCrew(const KemCrew&) = delete;
    KemCrew& operator=(const KemCrew&) = delete;

    bool of_this_process() const { return birth_ == forks_so_far(); }
    warpseal_status run(KemRequest& request);
    warpseal_status submit(KemRequest& request);
    void read(warpseal_kem_batcher_counts& out) const;
    const std::string& who() const { return file_.who(); }

private:
    using Time = KemQueue::Time;
    static constexpr uint32_t never = UINT32_MAX;
    // When the thread that sleeps is to be woken: by a request of one of these kinds, as bits, or by so many that wait.
    struct Wake {
        uint32_t kinds, waiting;
    };

    // A place in the queue for one more, and a thread that will see it. Else why not.
    enum class Entry : uint8_t { open, full, no_thread };
    Entry enter();
    void leave() { waiting_.fetch_sub(1, std::memory_order_relaxed); }
    KemInbox& inbox();
    void ring(KemKind kind);  // after a request of that kind was put into an inbox
    warpseal_status kem(KemKind kind, const warpseal_kem_batch& batch);

    void write_metrics(bool at_last);  // else not more than once a second

    // The threads' side. Under mutex_:
    bool start_thread();
    void serve();    // but for the batches
    bool collect();  // what arrived, into the queues; whether anything did
    bool may_start(const KemQueue& queue) const { return queue.size() != 0 && (ending_ || queue.running() < most_of_a_kind_); }
    KemQueue* ready(Time now);
    void sleep(std::unique_lock<std::mutex>& lock);
    Wake next_wake() const;
    void tell(const Wake& wake);
    std::optional<Time> next_due() const;
    void hand_over();
    // Not under it:
    double complete(KemRequests batch, Time begun, KemTray& tray);  // seconds that the operations took
    void complete_items(KemTray& tray, size_t first, size_t end);
    void complete_item(KemTray& tray, size_t i);
    void complete_one(KemRequest& request);
    template <class Work>
    void in_parts(const KemTray& tray, size_t count, const Work& work);

    // Whether this thread completes requests: then it waits for nobody who does.
    static bool& serving();

    Engine& engine_;
    const KemBatcherOptions options_;
    const Engine::RandomSource random_;
    const unsigned long birth_;
    KemCrew* const parents_;  // those that forks left behind
    const unsigned most_threads_, most_of_a_kind_, most_inline_;

    std::vector<KemInbox> inboxes_;
    alignas(64) std::atomic<uint32_t> waiting_{0};  // in inboxes and queues, or about to be
    alignas(64) std::atomic<uint32_t> wake_kinds_{0};
    std::atomic<uint32_t> wake_at_{never};
    alignas(64) std::atomic<uint32_t> inline_now_{0};
    std::atomic<bool> started_{false}, ending_{false};

    std::mutex mutex_;
    std::vector<KemRequest*> arriving_;  // while it is collected
    std::array<KemQueue, kem_kind_count> queues_;
    std::vector<std::thread> threads_;
    std::condition_variable wake_, rest_;  // of the thread that watches; of others without work
    bool watched_ = false;                 // one sleeps until something is due
    unsigned resting_ = 0;

    KemCounts counts_;
    const MetricsFile file_;
    std::atomic<int64_t> next_write_{0};  // of the metrics, on the clock
    std::atomic<bool> unwritten_{false};
};

}  // namespace warpseal
