// Forks of this process: how many there were, and locks that a child finds free.
#pragma once

#include <mutex>

namespace warpseal {

// Rises in each child of fork(2) by one.
unsigned long forks_so_far();

// A mutex that no fork catches held: the child finds it free, and what it guards whole. For what is short, and takes no other of its kind
// meanwhile.
class ForkMutex {
public:
    ForkMutex();
    ~ForkMutex();
    ForkMutex(const ForkMutex&) = delete;
    ForkMutex& operator=(const ForkMutex&) = delete;
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    friend struct EveryForkMutex;
    std::mutex mutex_;
    ForkMutex* before_ = nullptr;
    ForkMutex* after_ = nullptr;
};

}  // namespace warpseal
