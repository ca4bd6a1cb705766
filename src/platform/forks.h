// Forks of this process: how many there were, and locks that a child finds free.
#pragma once

#include <mutex>
#include <new>

namespace warpseal {

// Rises in each child of fork(3) by one. Children of _Fork, vfork and clone, which run no handlers,
// are not seen.
unsigned long forks_so_far();

// A mutex that no fork catches held: the child finds it free, and what it guards whole.
//
// A fork takes all of them, from the newest to the oldest, and holds them until the child exists.
// So a thread that holds one
//  - may take another only if that one was made before: what uses an object is newer than the
//  object;
//  - neither makes nor destroys one, does not fork, and calls neither pthread_atfork(3) nor code of
//  the program's;
//  - is soon done, as a fork waits for it.
// Builds with assertions abort on a breach of the first two.
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
    unsigned long age_ = 0;       // rises with each that is made
    ForkMutex* outer_ = nullptr;  // what its holder held already; with assertions
};

// What a process has once and never destroys, as threads may be at work to its end. It is made when
// the library is loaded: a local static object has a guard instead, which is a lock that a fork can
// catch held. Defined with WARPSEAL_AT_LOAD at namespace scope.
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

// Before the static objects of a program, which may use the library already.
#define WARPSEAL_AT_LOAD [[gnu::init_priority(101)]]

}  // namespace warpseal
