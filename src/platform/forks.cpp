// Uses pthread_atfork(3): a fork waits until it holds every ForkMutex.
#include "platform/forks.h"

#include <pthread.h>

#include <atomic>
#include <cassert>

namespace warpseal {

// List of all ForkMutexes, newest first. Its own mutex is locked before theirs.
struct EveryForkMutex {
    std::mutex mutex;  // fork: each fork waits for it
    ForkMutex* first = nullptr;
    unsigned long made = 0;

    void lock() {
        mutex.lock();
        for (ForkMutex* one = first; one != nullptr; one = one->after_) one->mutex_.lock();
    }
    void unlock() {
        for (ForkMutex* one = first; one != nullptr; one = one->after_) one->mutex_.unlock();
        mutex.unlock();
    }
    void add(ForkMutex& one) {
        const std::lock_guard lock(mutex);
        one.age_ = ++made;
        one.after_ = first;
        if (first != nullptr) first->before_ = &one;
        first = &one;
    }
    void remove(ForkMutex& one) {
        const std::lock_guard lock(mutex);
        (one.before_ == nullptr ? first : one.before_->after_) = one.after_;
        if (one.after_ != nullptr) one.after_->before_ = one.before_;
    }
};

namespace {

// Constant-initialized and trivially destroyed, because engines may be older or younger than static
// objects.
constinit EveryForkMutex every;
constinit std::atomic<unsigned long> forks{0};

struct Watch {
    Watch() {
        (void)pthread_atfork([] { every.lock(); }, [] { every.unlock(); },
                             [] {
                                 every.unlock();
                                 forks.fetch_add(1, std::memory_order_relaxed);
                             });
    }
};
WARPSEAL_AT_LOAD const Watch watch;

#ifndef NDEBUG
constinit thread_local ForkMutex* innermost = nullptr;  // innermost lock that this thread holds
#endif

}  // namespace

unsigned long forks_so_far() { return forks.load(std::memory_order_relaxed); }

ForkMutex::ForkMutex() {
    assert(innermost == nullptr);
    every.add(*this);
}

ForkMutex::~ForkMutex() {
    assert(innermost == nullptr);
    every.remove(*this);
}

#ifndef NDEBUG
void ForkMutex::lock() {
    assert(innermost == nullptr || innermost->age_ > age_);
    mutex_.lock();
    outer_ = innermost;
    innermost = this;
}

void ForkMutex::unlock() {
    assert(innermost == this);
    innermost = outer_;
    mutex_.unlock();
}
#endif

}  // namespace warpseal
