// Thread pool: callers post jobs, and workers take items of the first job that wants help.
#include "platform/thread_pool.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>

#include "platform/cancellation.h"
#include "platform/forks.h"

namespace warpseal {
namespace {

thread_local bool running_work = false;

// Time that idle workers spin, so that back-to-back calls find them awake. A wakeup costs as much
// as encrypting hundreds of kilobytes.
constexpr std::chrono::microseconds awake_for{50};

// Spins until `posted` changes, or for awake_for.
void stay_awake(const std::atomic<unsigned>& posted, unsigned seen) {
    const auto end = std::chrono::steady_clock::now() + awake_for;
    while (posted.load(std::memory_order_relaxed) == seen &&
           std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

}  // namespace

struct Pool::Job {
    const std::function<void(size_t)>& work;
    const size_t count;
    unsigned helpers;  // number of threads that may still join; guarded by the pool's mutex
    std::atomic<size_t> next{0};
    std::atomic<unsigned> busy{0};  // helpers inside; incremented only under the pool's mutex
    // fork: belongs to one call, which no child continues
    std::mutex mutex;
    // fork: belongs to one call, like the mutex
    std::condition_variable idle;
    std::exception_ptr thrown;  // guarded by `mutex`

    void take_items() {
        running_work = true;
        try {
            for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
        } catch (...) {
            next.store(count, std::memory_order_relaxed);
            const std::lock_guard lock(mutex);
            if (!thrown) thrown = std::current_exception();
        }
        running_work = false;
    }
};

Pool::Pool(unsigned threads)
    : threads_(std::max(1u, threads)), birth_(forks_so_far()), team_(std::make_unique<Team>()) {}

Pool::~Pool() {
    // In a forked child, destroying the threads would end the process and destroying the condition
    // would hang. The child leaks both.
    if (forks_so_far() != birth_) {
        (void)team_.release();
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    team_->wake.notify_all();
    for (std::thread& thread : team_->threads) thread.join();
}

// Starts workers. The caller must hold mutex_. Fewer threads than wanted is not an error.
void Pool::start(unsigned wanted) {
    wanted = std::min(wanted, threads_ - 1);
    if (workers_ >= wanted) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        team_->threads.reserve(wanted);
        while (workers_ < wanted) {
            team_->threads.emplace_back([this] { serve(); });
            ++workers_;
        }
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Returns a job that wants help, or null. The caller must hold mutex_.
Pool::Job* Pool::claimable() {
    for (Job* job : team_->jobs)
        if (job->helpers > 0 && job->next.load(std::memory_order_relaxed) < job->count) return job;
    return nullptr;
}

void Pool::serve() {
    std::unique_lock lock(mutex_);
    bool fresh = false;
    while (true) {
        Job* job = claimable();
        if (job == nullptr) {
            if (ending_) return;
            if (!fresh) {
                team_->wake.wait(lock);
                continue;
            }
            fresh = false;
            const unsigned seen = posted_.load(std::memory_order_relaxed);
            lock.unlock();
            stay_awake(posted_, seen);
            lock.lock();
            continue;
        }
        fresh = true;
        --job->helpers;
        job->busy.fetch_add(1, std::memory_order_relaxed);
        lock.unlock();
        job->take_items();
        {
            // The caller may destroy the job as soon as it sees no helper, so the last access is
            // under the job's own mutex.
            const std::lock_guard job_lock(job->mutex);
            if (job->busy.fetch_sub(1, std::memory_order_acq_rel) == 1) job->idle.notify_one();
        }
        lock.lock();
    }
}

void Pool::run(size_t count, unsigned threads, const std::function<void(size_t)>& work) {
    threads = static_cast<unsigned>(std::min<size_t>(std::min(threads, threads_), count));
    if (threads <= 1 || running_work || forks_so_far() != birth_) {
        for (size_t i = 0; i < count; ++i) work(i);
        return;
    }
    const CancellationDisabled disabled;  // helpers use the job on this thread's stack
    Job job{work, count, threads - 1, {}, {}, {}, {}, {}};
    {
        const std::lock_guard lock(mutex_);
        start(threads - 1);
        team_->jobs.push_back(&job);
        posted_.fetch_add(1, std::memory_order_relaxed);
    }
    for (unsigned i = 1; i < threads; ++i) team_->wake.notify_one();
    job.take_items();
    {
        const std::lock_guard lock(mutex_);
        team_->jobs.erase(std::find(team_->jobs.begin(), team_->jobs.end(), &job));
    }
    std::unique_lock lock(job.mutex);
    job.idle.wait(lock, [&] { return job.busy.load(std::memory_order_acquire) == 0; });
    if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace warpseal
