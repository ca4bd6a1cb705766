// Callers' side of the scheduler: queues a request or runs it inline.
#include "engine/kem/batcher/scheduler.h"

#include <algorithm>
#include <bit>

#include "engine/engine_impl.h"

namespace warpseal {
namespace {

constexpr unsigned most_submission_queues = 16;
constexpr uint32_t max_reserved = 64;  // maximum capacity reserved at a time
constexpr std::chrono::seconds between_writes{1};

// Result of a request for a blocked caller.
class Result {
public:
    void set(warpseal_status status) {
        const std::lock_guard lock(mutex_);
        status_ = status;
        there_ = true;
        // Notifies under the lock: the caller destroys this object as soon as it has the result.
        changed_.notify_one();
    }
    warpseal_status get() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return there_; });
        return status_;
    }

private:
    std::mutex mutex_;                 // fork: belongs to one call, which no child continues
    std::condition_variable changed_;  // fork: belongs to one call
    warpseal_status status_ = WARPSEAL_OK;
    bool there_ = false;
};

}  // namespace

// On many cores several batches run at once: one copies while another computes. No kind of request
// gets all threads.
// A GPU-only engine runs one inline request at a time: GPUs are inefficient for single requests.
// A forked child prepares no GPU: it cannot use its parent's.
KemScheduler::KemScheduler(Engine& engine, const KemBatcherOptions& options,
                           Engine::RandomSource random, KemScheduler* parents)
    : engine_(engine),
      options_(options),
      random_(random),
      forks_at_creation_(forks_so_far()),
      parents_(parents),
      gpu_only_(engine.impl().cuda_only),
      places_(parents == nullptr && engine.impl().cuda_allowed && !gpu_only_),
      most_threads_(std::min(8u, (places_ ? 3 : 2) + engine.threads() / 4)),
      most_of_a_kind_(most_threads_ - 1),
      most_inline_(gpu_only_ ? 1 : engine.threads()),
      submission_queues_(std::bit_ceil(std::min(most_submission_queues, engine.threads()))),
      capacity_(options.most_waiting),
      placement_(engine.threads(), 2 * most_threads_),
      file_(options.metrics_directory) {
    handed_over_.reserve(most_threads_);
    for (KemRequestQueue& queue : queues_) queue.set_first_limit(engine.threads());
    if (parents != nullptr || !engine.impl().cuda_allowed || !engine.impl().gpus.possible()) return;
    preparation_ = std::make_unique<KemPreparation>(
        engine, options_, random, most_of_a_kind_,
        [this](KemKind kind, const KemPreparation::Outcome& outcome) { settle(kind, outcome); },
        gpu_only_ ? KemPreparation::Busy() : [this] { return in_flight(); });
    if (!preparation_->start()) preparation_.reset();
}

KemScheduler::~KemScheduler() {
    if (preparation_) preparation_->stop();
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        wake_.notify_all();
        idle_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    preparation_.reset();
    write_metrics(true);
}

void KemScheduler::settle(KemKind kind, const KemPreparation::Outcome& outcome) {
    const std::lock_guard lock(mutex_);
    settled_ |= kind.mask();
    if (outcome) {
        placement_.allow_gpu(kind, *outcome);
        gpu_is_open_ = true;
    }
    wake_.notify_one();
}

bool KemScheduler::in_flight() {
    if (waiting() != 0 || inline_now_.load(std::memory_order_relaxed) != 0) return true;
    const std::lock_guard lock(mutex_);
    return std::any_of(queues_.begin(), queues_.end(), [](const KemRequestQueue& queue) {
        return queue.size() != 0 || queue.running() != 0;
    });
}

// Exact only while no thread submits.
uint32_t KemScheduler::waiting() const {
    uint64_t free = capacity_.load(std::memory_order_relaxed);
    for (const KemSubmissionQueue& submissions : submission_queues_) free += submissions.capacity();
    return options_.most_waiting -
           static_cast<uint32_t>(std::min<uint64_t>(free, options_.most_waiting));
}

void KemScheduler::read(warpseal_kem_batcher_counts& out) const { counts_.read(waiting(), out); }

KemSubmissionQueue& KemScheduler::submissions() {
    static constinit std::atomic<unsigned> threads{0};
    static constinit thread_local unsigned mine = 0;  // 0: not assigned yet
    if (mine == 0) mine = 1 + threads.fetch_add(1, std::memory_order_relaxed);
    return submission_queues_[mine & (submission_queues_.size() - 1)];
}

bool KemScheduler::has_thread() {
    if (ending_.load(std::memory_order_relaxed)) return false;
    if (started_.load(std::memory_order_acquire)) return true;
    const std::lock_guard lock(mutex_);
    if (threads_.empty() && !start_thread()) {
        counts_.count_no_thread();
        return false;
    }
    started_.store(true, std::memory_order_release);
    return true;
}

// Reserves capacity in advance, so that requests do not write a counter shared by all cores. If
// little is left, reserves one at a time.
// Then reclaims what other submission queues have not used, so that the limit applies to all
// together.
bool KemScheduler::reserve_capacity(KemSubmissionQueue& submissions) {
    if (reserve_some(submissions)) return true;
    // One thread at a time: capacity being reclaimed is invisible, and another thread would be
    // refused although there is some.
    const std::lock_guard reclaiming_lock(reclaiming_);
    for (KemSubmissionQueue& other : submission_queues_)
        capacity_.fetch_add(other.release_capacity(), std::memory_order_relaxed);
    return reserve_some(submissions);
}

bool KemScheduler::reserve_some(KemSubmissionQueue& submissions) {
    uint32_t left = capacity_.load(std::memory_order_relaxed);
    while (left != 0) {
        const uint32_t some = std::clamp(
            left / (2 * static_cast<uint32_t>(submission_queues_.size())), 1u, max_reserved);
        if (!capacity_.compare_exchange_weak(left, left - some, std::memory_order_relaxed))
            continue;
        submissions.reserve(some);
        return true;
    }
    return false;
}

bool KemScheduler::put(const KemRequest& request, KemKind kind, bool its_caller_waits) {
    if (!has_thread()) return false;
    KemSubmissionQueue& own = submissions();
    const Time now = options_.now();
    KemSubmissionQueue::Put put;
    while ((put = own.put(kind, request, now, its_caller_waits)) ==
           KemSubmissionQueue::Put::no_capacity)
        if (!reserve_capacity(own)) {
            counts_.count_full_queue();
            return false;
        }
    if (put == KemSubmissionQueue::Put::wake ||
        (put == KemSubmissionQueue::Put::counted && asleep_.load(std::memory_order_relaxed) &&
         missing_.fetch_sub(1, std::memory_order_relaxed) <= 1))
        wake_sleeper();
    return true;
}

// The sleeping thread arms the submission queues under mutex_ and holds it until it sleeps.
void KemScheduler::wake_sleeper() {
    if (!asleep_.exchange(false, std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    wake_.notify_one();
}

// Exceptions for lack of memory or other resources must not end a thread.
warpseal_status KemScheduler::kem(KemKind kind, const warpseal_kem_batch& batch, KemSide side) {
    try {
        return engine_.kem(kind.operation, kind.params().name, batch, random_, side);
    } catch (const std::exception&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
}

warpseal_status KemScheduler::run(const KemRequest& request, KemKind kind) {
    const bool may_run_inline = inline_now_.fetch_add(1, std::memory_order_relaxed) < most_inline_;
    if (!may_run_inline && !serving()) {
        Result result;
        KemRequest queued = request;
        queued.done = [](void* user, warpseal_status status) {
            static_cast<Result*>(user)->set(status);
        };
        queued.user = &result;
        bool there = false;
        try {
            there = put(queued, kind, true);
        } catch (const std::bad_alloc&) {  // running inline needs no memory
        }
        if (there) {
            inline_now_.fetch_sub(1, std::memory_order_relaxed);
            return result.get();
        }
    }
    const warpseal_status status = kem(kind, request.as_batch(), KemSide::cores);
    inline_now_.fetch_sub(1, std::memory_order_relaxed);
    counts_.count_inline(status != WARPSEAL_OK);
    write_metrics(false);
    return status;
}

warpseal_status KemScheduler::submit(const KemRequest& request, KemKind kind) {
    return put(request, kind, false) ? WARPSEAL_OK : WARPSEAL_LIMIT_EXCEEDED;
}

void KemScheduler::write_metrics(bool at_last) {
    if (!file_.wanted()) return;
    const int64_t now = options_.now().time_since_epoch().count();
    int64_t next = next_write_.load(std::memory_order_relaxed);
    if (!at_last &&
        (now < next || !next_write_.compare_exchange_strong(
                           next, now + BatcherClock::duration(between_writes).count()))) {
        unwritten_.store(true, std::memory_order_relaxed);
        return;
    }
    unwritten_.store(false, std::memory_order_relaxed);
    warpseal_kem_batcher_counts counts{};
    read(counts);
    try {
        // A failed write is repeated in a second.
        (void)file_.write(prometheus_text(counts, file_.who()));
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace warpseal
