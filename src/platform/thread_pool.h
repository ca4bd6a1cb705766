// Worker threads that share one numbered piece of work at a time with the thread that asks for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace warpseal {

// Any number of threads may call `run` at once. Workers start with the first call that wants them
// and block all signals.
class Pool {
public:
    explicit Pool(unsigned threads);  // the caller's thread is one of them
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    unsigned threads() const { return threads_; }

    // work(i) for i in [0, count) on up to `threads` threads, the caller's among them; returns when
    // all are done. On the caller's thread alone when called from inside such work, in a fork of
    // the process that made the pool, or where no thread can be created. What work throws is thrown
    // here, after the pieces already begun; pieces not yet begun are then left out.
    void run(size_t count, unsigned threads, const std::function<void(size_t)>& work);

private:
    struct Job;
    void serve();
    void start(unsigned wanted);
    Job* claimable();

    const unsigned threads_;
    const unsigned long birth_;  // forks of this process so far
    std::mutex mutex_;           // fork: a child works inline
    std::atomic<unsigned> posted_{0};
    bool ending_ = false;
    unsigned workers_ = 0;
    // Apart, as a forked child must drop all of it without destroying it: the threads and the
    // waiting are the parent's, and the list may be half changed.
    struct Crew {
        std::vector<Job*> jobs;        // with pieces left; they live on their callers' stacks
        std::condition_variable wake;  // fork: a child works inline
        std::vector<std::thread> threads;
    };
    std::unique_ptr<Crew> crew_;
};

}  // namespace warpseal
