// pthread_atfork(3): a fork waits until every such mutex is its own.
#include "engine/forks.h"

#include <pthread.h>

#include <atomic>

namespace warpseal {

// All that there are, as a list; its own mutex is taken before theirs.
struct EveryForkMutex {
    std::mutex mutex;
    ForkMutex* first = nullptr;

    void lock() {
        mutex.lock();
        for (ForkMutex* one = first; one != nullptr; one = one->after_) one->lock();
    }
    void unlock() {
        for (ForkMutex* one = first; one != nullptr; one = one->after_) one->unlock();
        mutex.unlock();
    }
    void add(ForkMutex& one) {
        const std::lock_guard lock(mutex);
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

std::atomic<unsigned long> forks{0};

// Never destroyed: engines may outlive static objects.
EveryForkMutex& every() {
    static EveryForkMutex& all = *new EveryForkMutex;
    static const int registered = pthread_atfork([] { every().lock(); }, [] { every().unlock(); },
                                                 [] {
                                                     every().unlock();
                                                     forks.fetch_add(1, std::memory_order_relaxed);
                                                 });
    (void)registered;
    return all;
}

}  // namespace

unsigned long forks_so_far() {
    (void)every();
    return forks.load(std::memory_order_relaxed);
}

ForkMutex::ForkMutex() { every().add(*this); }
ForkMutex::~ForkMutex() { every().remove(*this); }

}  // namespace warpseal
