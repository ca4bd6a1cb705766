// The callers' side of a batcher: into the queue, or inline.
#include "engine/kem_crew.h"

#include <algorithm>
#include <bit>

#include "engine/inside.h"

namespace warpseal {
namespace {

constexpr unsigned most_inboxes = 16;
constexpr std::chrono::seconds between_writes{1};

// For a caller that waits.
class Result {
public:
    void set(warpseal_status status) {
        const std::lock_guard lock(mutex_);
        status_ = status;
        there_ = true;
        changed_.notify_one();  // with the lock held: the caller takes this away as soon as it has it
    }
    warpseal_status get() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return there_; });
        return status_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    warpseal_status status_ = WARPSEAL_OK;
    bool there_ = false;
};

}  // namespace

// On many cores several batches are under way at once: what one copies, another computes meanwhile. No kind of request has all threads.
KemCrew::KemCrew(Engine& engine, const KemBatcherOptions& options, Engine::RandomSource random, KemCrew* parents)
    : engine_(engine),
      options_(options),
      random_(random),
      birth_(forks_so_far()),
      parents_(parents),
      most_threads_(std::min(8u, 2 + engine.threads() / 4)),
      most_of_a_kind_(most_threads_ - 1),
      most_inline_(engine.inside().cuda_only ? 1 : engine.threads()),  // one by one is not what a GPU is for
      inboxes_(std::bit_ceil(std::min(most_inboxes, engine.threads()))),
      file_(options.metrics_directory) {}

KemCrew::~KemCrew() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        wake_.notify_all();
        rest_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    write_metrics(true);
}

void KemCrew::read(warpseal_kem_batcher_counts& out) const { counts_.read(waiting_.load(std::memory_order_relaxed), out); }

KemInbox& KemCrew::inbox() {
    static std::atomic<unsigned> threads{0};
    static thread_local const unsigned mine = threads.fetch_add(1, std::memory_order_relaxed);
    return inboxes_[mine & (inboxes_.size() - 1)];
}

KemCrew::Entry KemCrew::enter() {
    if (ending_.load(std::memory_order_relaxed)) return Entry::no_thread;
    if (waiting_.fetch_add(1, std::memory_order_relaxed) >= options_.most_waiting) {
        leave();
        counts_.count_full_queue();
        return Entry::full;
    }
    if (!started_.load(std::memory_order_acquire)) {
        const std::lock_guard lock(mutex_);
        if (threads_.empty() && !start_thread()) {
            leave();
            counts_.count_no_thread();
            return Entry::no_thread;
        }
        started_.store(true, std::memory_order_release);
    }
    return Entry::open;
}

// The request lies in an inbox. A thread that watches says first when it is to be woken, and looks into the inboxes after that: it has seen
// the request there, or is seen here.
void KemCrew::ring(KemKind kind) {
    const auto wanted = [&] {
        return (wake_kinds_.load(std::memory_order_relaxed) >> kind.number() & 1) != 0 ||
               waiting_.load(std::memory_order_relaxed) >= wake_at_.load(std::memory_order_relaxed);
    };
    if (!wanted()) return;
    const std::lock_guard lock(mutex_);
    if (!wanted()) return;
    tell({0, never});
    wake_.notify_one();
}

void KemCrew::tell(const Wake& wake) {
    wake_kinds_.store(wake.kinds, std::memory_order_relaxed);
    wake_at_.store(wake.waiting, std::memory_order_relaxed);
}

// What a system refuses, memory or another of its means, ends no thread.
warpseal_status KemCrew::kem(KemKind kind, const warpseal_kem_batch& batch) {
    try {
        return engine_.kem(kind.operation, kind.params().name, batch, random_);
    } catch (const std::exception&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
}

warpseal_status KemCrew::run(KemRequest& request) {
    const bool room = inline_now_.fetch_add(1, std::memory_order_relaxed) < most_inline_;
    if (!room && !serving() && enter() == Entry::open) {
        inline_now_.fetch_sub(1, std::memory_order_relaxed);
        Result result;
        request.done = [](void* user, warpseal_status status) { static_cast<Result*>(user)->set(status); };
        request.user = &result;
        request.arrived = BatcherClock::now();
        try {
            inbox().put_own(request);
        } catch (...) {
            leave();
            throw;
        }
        ring(request.kind);
        return result.get();
    }
    const warpseal_status status = kem(request.kind, request.as_batch());
    inline_now_.fetch_sub(1, std::memory_order_relaxed);
    counts_.count_inline(status != WARPSEAL_OK);
    write_metrics(false);
    return status;
}

warpseal_status KemCrew::submit(KemRequest& request) {
    if (enter() != Entry::open) return WARPSEAL_LIMIT_EXCEEDED;
    request.arrived = BatcherClock::now();
    try {
        inbox().put(request);
    } catch (...) {
        leave();
        throw;
    }
    ring(request.kind);
    return WARPSEAL_OK;
}

void KemCrew::write_metrics(bool at_last) {
    if (!file_.wanted()) return;
    const int64_t now = BatcherClock::now().time_since_epoch().count();
    int64_t next = next_write_.load(std::memory_order_relaxed);
    if (!at_last && (now < next || !next_write_.compare_exchange_strong(next, now + BatcherClock::duration(between_writes).count()))) {
        unwritten_.store(true, std::memory_order_relaxed);
        return;
    }
    unwritten_.store(false, std::memory_order_relaxed);
    warpseal_kem_batcher_counts counts{};
    read(counts);
    try {
        (void)file_.write(prometheus_text(counts, file_.who()));  // what cannot be written now can be in a second
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace warpseal
