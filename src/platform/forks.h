// Counts forks of this process, and provides locks that a forked child finds free.
#pragma once

#include <mutex>
#include <new>

namespace warpseal {

// Returns the number of forks before this process; fork(3) increments it in the child.
// Does not see children of _Fork, vfork and clone, which run no handlers.
unsigned long forks_so_far();

// A mutex that no fork catches held: the child finds it free and the data it guards consistent.
//
// A fork locks all of them, from the newest to the oldest, until the child exists. So a thread that
// holds one
//  - may lock another only if that one is older: an object is newer than what it uses;
//  - must not create or destroy one, fork, or call pthread_atfork(3) or the program's code;
//  - must hold it briefly, because a fork waits for it.
// Builds with assertions abort if either of the first two rules is broken.
class ForkMutex {
public:
    ForkMutex();
    ~ForkMutex();
    ForkMutex(const ForkMutex&) = delete;
    ForkMutex& operator=(const ForkMutex&) = delete;
#ifdef NDEBUG
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
#else
    void lock();
    void unlock();
#endif

private:
    friend struct EveryForkMutex;
    std::mutex mutex_;  // fork: each fork waits for it
    ForkMutex* before_ = nullptr;
    ForkMutex* after_ = nullptr;
    unsigned long age_ = 0;       // increases with each new ForkMutex
    ForkMutex* outer_ = nullptr;  // lock that the holder already held; with assertions only
};

// A process-wide object that is never destroyed, because threads may run until the process exits.
// It is created when the library is loaded.
// A function-local static would have a guard, a lock that a fork can leave held. Define with
// WARPSEAL_AT_LOAD at namespace scope.
template <class T>
class AtLoad {
public:
    AtLoad() { new (memory_) T; }
    AtLoad(const AtLoad&) = delete;
    AtLoad& operator=(const AtLoad&) = delete;
    T& operator*() { return *std::launder(reinterpret_cast<T*>(memory_)); }
    T* operator->() { return &**this; }

private:
    alignas(T) unsigned char memory_[sizeof(T)];
};

// Initializes before the static objects of a program, which may already use the library.
#define WARPSEAL_AT_LOAD [[gnu::init_priority(101)]]

}  // namespace warpseal
