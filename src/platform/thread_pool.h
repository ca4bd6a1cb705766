// Thread pool: workers that run the numbered items of a job together with the calling thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace warpseal {

// `run` is thread-safe. Workers start with the first call that needs them, and block all signals.
class Pool {
public:
    explicit Pool(unsigned threads);  // the caller's thread counts as one
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    unsigned threads() const { return threads_; }

    // Calls work(i) for i in [0, count) on up to `threads` threads including the caller's. Returns
    // when all are done.
    // Runs entirely on the caller's thread if called from `work` or in a fork of the process that
    // created the pool, or if no thread can be created.
    // Rethrows an exception of `work` once the items already started have ended; items not yet
    // started are skipped.
    void run(size_t count, unsigned threads, const std::function<void(size_t)>& work);

private:
    struct Job;
    void serve();
    void start(unsigned wanted);
    Job* claimable();

    const unsigned threads_;
    const unsigned long birth_;  // number of forks before construction
    std::mutex mutex_;           // fork: a child works inline
    std::atomic<unsigned> posted_{0};
    bool ending_ = false;
    unsigned workers_ = 0;
    // Allocated separately, because a forked child must leak it: the threads and waits are the
    // parent's, and the list may be inconsistent.
    struct Team {
        std::vector<Job*> jobs;        // jobs with items left; owned by their callers' stacks
        std::condition_variable wake;  // fork: a child works inline
        std::vector<std::thread> threads;
    };
    std::unique_ptr<Team> team_;
};

}  // namespace warpseal
