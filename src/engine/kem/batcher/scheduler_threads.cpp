// Worker threads of the scheduler. One watches the queues, and another takes over while it runs a
// batch.
#include <signal.h>

#include <algorithm>
#include <bit>
#include <system_error>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/kem/batcher/scheduler.h"

namespace warpseal {
namespace {

// Minimum bytes for copying with several threads, and items that a thread copies at a time.
constexpr size_t min_parallel_copy_bytes = 1 << 20, task_items = 128;
constexpr uint32_t prefetch_distance = 2;
constexpr uint32_t max_counted = 128;  // missing requests that are counted in one variable
constexpr int32_t no_status = -1;
// Up to this many items, a GPU is as fast with unpinned memory.
constexpr size_t max_unpinned_items = 128;

double seconds_between(BatcherClock::time_point begin, BatcherClock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

bool& KemScheduler::serving() {
    static thread_local bool yes = false;
    return yes;
}

bool KemScheduler::start_thread() {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    bool started = true;
    try {
        threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
        started = false;
    } catch (const std::bad_alloc&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

bool KemScheduler::collect() {
    bool any = false;
    for (size_t i = 0; i < submission_queues_.size(); ++i)
        for (KemChunk *chunk = submission_queues_[i].drain(), *next; chunk != nullptr;
             chunk = next) {
            next = chunk->next;
            any = true;
            active_ |= 1u << i;
            const auto kind = static_cast<unsigned>(chunk->kind.number());
            if (preparation_ && (asked_ >> kind & 1) == 0) preparation_->ask(chunk->kind);
            asked_ |= KemKindMask{1} << kind;
            queues_[kind].arrive(*chunk, options_.rule);
        }
    return any;
}

KemRequestQueue* KemScheduler::ready(Time now) {
    KemRequestQueue* oldest = nullptr;
    for (KemRequestQueue& queue : queues_)
        if (may_start(queue) && (ending_ || queue.due(options_.rule) <= now) &&
            (oldest == nullptr || queue.oldest() < oldest->oldest()))
            oldest = &queue;
    return oldest;
}

std::optional<KemScheduler::Task> KemScheduler::next_task(Time now) {
    if (!handed_over_.empty()) {
        const Task task = handed_over_.front();
        handed_over_.erase(handed_over_.begin());
        return task;
    }
    KemRequestQueue* const queue = ready(now);
    if (queue == nullptr) return std::nullopt;
    const KemRequests batch = queue->take(options_.rule);
    capacity_.fetch_add(static_cast<uint32_t>(batch.size()), std::memory_order_relaxed);
    active_before_ = std::exchange(active_, 0);
    return place(batch, *queue, now);
}

KemScheduler::Task KemScheduler::place(KemRequests batch, KemRequestQueue& queue, Time now) {
    const size_t size = batch.size();
    if (!places_) return task_on(KemSide::automatic, batch, queue, size, now);
    const bool may_divide = handed_over_.size() < handed_over_.capacity() && thread_to_spare() &&
                            queue.running() < most_of_a_kind_ && !ending_;
    const size_t on_gpu =
        gpu_is_open_ ? placement_.gpu_items(batch.kind(), size,
                                            preparation_->most_items(batch.kind()), may_divide, now)
                     : 0;
    if (on_gpu == 0) return task_on(KemSide::cores, batch, queue, size, now);
    const Task task = task_on(KemSide::gpus, batch.pop(on_gpu), queue, size, now);
    if (on_gpu < size) {
        queue.divide();
        handed_over_.push_back(task_on(KemSide::cores, batch, queue, size, now));
    }
    return task;
}

KemScheduler::Task KemScheduler::task_on(KemSide side, const KemRequests& requests,
                                         KemRequestQueue& queue, size_t batch_size, Time now) {
    Task task{requests, &queue, batch_size, side, 0, {}, now};
    if (places_)
        task.placed = placement_.begin(
            requests.kind(),
            side == KemSide::gpus ? KemPlacement::Side::gpu : KemPlacement::Side::cores,
            requests.size(), now);
    if (preparation_ && side != KemSide::cores && requests.size() > max_unpinned_items)
        task.pinned = preparation_->blocks().lease();
    return task;
}

void KemScheduler::finish(const Task& task, const Timing& timing) {
    task.queue->finished(task.batch_size, timing.seconds);
    if (places_) placement_.end(task.placed, timing.ended);
    if (preparation_) preparation_->blocks().give_back(task.pinned);
}

// Kinds that use all their threads are skipped: nothing starts before one of those threads is done,
// and it checks itself. The preparation wakes the sleeping thread for kinds that wait for the GPU.
KemScheduler::Wake KemScheduler::next_wake() const {
    Wake wake{0, KemSubmissionQueue::never};
    for (size_t i = 0; i < queues_.size(); ++i) {
        const KemRequestQueue& queue = queues_[i];
        if (queue.running() >= most_of_a_kind_ ||
            (queue.size() != 0 && waits_for_gpu(queue.kind())))
            continue;
        const size_t limit = queue.limit(options_.rule);
        if (queue.size() == 0)
            wake.kinds |= KemKindMask{1} << i;
        else
            wake.missing = static_cast<uint32_t>(
                std::min<size_t>(wake.missing, std::max(limit, queue.size() + 1) - queue.size()));
    }
    return wake;
}

// Arms the submission queues. A large number of missing requests is split among the active queues;
// each wakes the scheduler once it has its share.
// Inactive queues wake it at the first request. Small numbers are counted in one variable, because
// each wakeup is expensive.
bool KemScheduler::arm() {
    const Wake wake = next_wake();
    const bool few = wake.missing <= max_counted,
               many = !few && wake.missing != KemSubmissionQueue::never;
    const uint32_t active = active_before_ | active_;
    const uint32_t share =
        (wake.missing - 1) / static_cast<uint32_t>(std::max(1, std::popcount(active))) + 1;
    missing_.store(wake.missing, std::memory_order_relaxed);
    uint64_t there = 0;
    bool reached = false;
    for (size_t i = 0; i < submission_queues_.size(); ++i) {
        const uint32_t count = !many                    ? KemSubmissionQueue::never
                               : (active >> i & 1) != 0 ? share
                                                        : 1;
        const uint32_t now = submission_queues_[i].arm(wake.kinds, count, few);
        reached = reached || now == KemSubmissionQueue::never;
        there += now;
    }
    const auto counted = static_cast<int64_t>(there);
    return reached || (few && missing_.fetch_sub(counted, std::memory_order_relaxed) <= counted);
}

std::optional<KemScheduler::Time> KemScheduler::next_due() const {
    std::optional<Time> first;
    for (const KemRequestQueue& queue : queues_)
        if (may_start(queue))
            first = std::min(first.value_or(Time::max()), queue.due(options_.rule));
    return first;
}

// Sleeps until a batch is due, even under constant arrivals: polling would contend for the locks of
// submitting threads.
void KemScheduler::sleep(std::unique_lock<std::mutex>& lock) {
    // Set before arm(), so that a submitting thread sees it.
    asleep_.store(true, std::memory_order_relaxed);
    if (!arm()) {
        watched_ = true;
        std::optional<Time> until = next_due();
        if (unwritten_.load(std::memory_order_relaxed))
            until = std::min(until.value_or(Time::max()),
                             Time(Time::duration(next_write_.load(std::memory_order_relaxed))));
        if (until)
            wake_.wait_for(lock, *until - options_.now());
        else
            wake_.wait(lock);
        watched_ = false;
    }
    asleep_.store(false, std::memory_order_relaxed);
}

// Wakes an idle thread, or starts a new one.
void KemScheduler::wake_or_start_thread() {
    if (watched_)
        wake_.notify_one();
    else if (idle_threads_ != 0)
        idle_.notify_one();
    // At the end the destructor would miss a new thread.
    else if (threads_.size() < most_threads_ && !ending_)
        (void)start_thread();
}

void KemScheduler::serve() {
    serving() = true;
    KemStagingBuffer staging;
    std::unique_lock lock(mutex_);
    bool freed = false;  // a kind that used all its threads has one again
    while (true) {
        const bool arrived = collect();
        const Time now = options_.now();
        if (const std::optional<Task> task = next_task(now)) {
            // The condition of the sleeping thread is outdated.
            if (watched_ || !handed_over_.empty() || next_due() ||
                !task->queue->is_short(task->requests.size(), options_.rule))
                wake_or_start_thread();
            lock.unlock();
            const Timing timing = complete(*task, staging);
            write_metrics(false);
            const bool gpu_is_open = places_ && engine_.impl().gpus.any_open();
            lock.lock();
            gpu_is_open_ = gpu_is_open_ && gpu_is_open;
            freed = freed || task->queue->running() == most_of_a_kind_;
            finish(*task, timing);
        } else if (ending_) {
            return;
        } else if (watched_) {
            // Fewer requests are missing than the sleeping thread armed the submission queues for.
            if (std::exchange(freed, false) || (arrived && arm())) wake_.notify_one();
            ++idle_threads_;
            idle_.wait(lock);
            --idle_threads_;
        } else {
            freed = false;
            sleep(lock);
            if (unwritten_.load(std::memory_order_relaxed)) {
                lock.unlock();
                write_metrics(false);
                lock.lock();
            }
        }
    }
}

KemScheduler::Timing KemScheduler::complete(const Task& task, KemStagingBuffer& staging) {
    const KemRequests& batch = task.requests;
    const KemKind kind = batch.kind();
    count(batch, task.begun);
    if (batch.size() == 1 || !staging.lay_out(batch, task.pinned)) {
        if (batch.size() > 1) counts_.count_redone(batch.size());
        return complete_singly(batch);
    }
    for_ranges(staging, [&](const KemStagingBuffer::Range& range) {
        for (uint32_t i = range.begin; i < range.end; ++i) {
            const size_t item = range.item + (i - range.begin);
            if (i + prefetch_distance < range.end)
                staging.prefetch_inputs(range.chunk->requests[i + prefetch_distance]);
            staging.status(item) = no_status;
            staging.gather(range.chunk->requests[i], item);
        }
    });
    const Time computing = options_.now();
    (void)kem(kind, staging.batch(), task.side);  // each item has its own status
    const Time ended = options_.now();
    for_ranges(staging,
               [&](const KemStagingBuffer::Range& range) { complete_range(kind, staging, range); });
    return {seconds_between(computing, ended), ended};
}

void KemScheduler::count(const KemRequests& batch, Time begun) {
    KemCounts::Waits waits;
    batch.each([&](const KemChunk& chunk, uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) waits.add(seconds_between(chunk.arrived[i], begun));
    });
    counts_.count_batch(batch.size(), waits);
}

void KemScheduler::complete_range(KemKind kind, KemStagingBuffer& staging,
                                  const KemStagingBuffer::Range& range) {
    for (uint32_t i = range.begin; i < range.end; ++i) {
        const KemRequest& request = range.chunk->requests[i];
        if (i + prefetch_distance < range.end)
            staging.prefetch_outputs(range.chunk->requests[i + prefetch_distance]);
        const warpseal_status status =
            outcome(kind, staging, request, range.item + (i - range.begin));
        if (status != WARPSEAL_OK) counts_.count_failures(1);
        request.done(request.user, status);
    }
    KemSubmissionQueue::completed(*range.chunk, range.end - range.begin);
}

// Runs an item without a status on its own after the batch failed, to get the status of that item.
warpseal_status KemScheduler::outcome(KemKind kind, KemStagingBuffer& staging,
                                      const KemRequest& request, size_t item) {
    if (staging.status(item) != no_status) {
        staging.scatter(request, item);
        return static_cast<warpseal_status>(staging.status(item));
    }
    staging.wipe(item);
    counts_.count_redone(1);
    return kem(kind, request.as_batch(), KemSide::cores);
}

KemScheduler::Timing KemScheduler::complete_singly(const KemRequests& batch) {
    const KemKind kind = batch.kind();
    Timing timing{0, options_.now()};
    batch.each([&](KemChunk& chunk, uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) {
            const KemRequest& request = chunk.requests[i];
            const Time computing = options_.now();
            const warpseal_status status = kem(kind, request.as_batch(), KemSide::cores);
            timing.ended = options_.now();
            timing.seconds += seconds_between(computing, timing.ended);
            if (status != WARPSEAL_OK) counts_.count_failures(1);
            request.done(request.user, status);
        }
        KemSubmissionQueue::completed(chunk, end - begin);
    });
    return timing;
}

template <class Work>
void KemScheduler::for_ranges(const KemStagingBuffer& staging, const Work& work) {
    const std::span<const KemStagingBuffer::Range> ranges = staging.ranges();
    const size_t items = ranges.back().item + (ranges.back().end - ranges.back().begin);
    struct {
        const Work& work;
        const std::span<const KemStagingBuffer::Range> ranges;
        const size_t task_ranges;  // ranges that a thread copies at a time
        std::atomic<bool> begun{false};
        void run(size_t first, size_t count) const {
            for (const KemStagingBuffer::Range& range :
                 ranges.subspan(first, std::min(count, ranges.size() - first)))
                work(range);
        }
    } all{work, ranges, std::max<size_t>(1, task_items * ranges.size() / items)};
    if (items * staging.item_bytes() < min_parallel_copy_bytes) return all.run(0, ranges.size());
    try {
        engine_.parallel((ranges.size() + all.task_ranges - 1) / all.task_ranges,
                         [&all](size_t task) {
                             all.begun.store(true, std::memory_order_relaxed);
                             const bool before = std::exchange(serving(), true);
                             all.run(task * all.task_ranges, all.task_ranges);
                             serving() = before;
                         });
    } catch (const std::bad_alloc&) {  // no memory to use other threads
        if (!all.begun) all.run(0, ranges.size());
    }
}

}  // namespace warpseal
