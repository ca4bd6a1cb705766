// Thread team whose threads spin for the next fork, then sleep.
#include "bench/papers/team.h"

namespace warpseal::papers {
namespace {

// Polls `value` until it differs from `old`. Forks normally follow within a microsecond. Otherwise
// other threads need the core, so this one yields and finally sleeps.
void wait_while(const std::atomic<uint32_t>& value, uint32_t old) {
    constexpr int looks = 256, looks_of_others = 64;
    for (int i = 0; i < looks + looks_of_others; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        if (i < looks)
            __builtin_ia32_pause();
        else
            std::this_thread::yield();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int threads) : at_work_(static_cast<size_t>(threads)) {
    for (int thread = 1; thread < threads; ++thread)
        others_.emplace_back([this, thread] { serve(thread); });
}

Team::~Team() {
    over_ = true;
    fork();
    for (std::thread& other : others_) other.join();
}

void Team::fork() {
    joined_.store(0, std::memory_order_relaxed);
    forks_.fetch_add(1, std::memory_order_release);
    forks_.notify_all();
}

void Team::join() {
    const auto others = static_cast<uint32_t>(others_.size());
    for (uint32_t seen = joined_.load(std::memory_order_acquire); seen != others;
         seen = joined_.load(std::memory_order_acquire))
        wait_while(joined_, seen);
}

void Team::work(int thread) {
    const Share share{thread, threads()};
    if (!times_taken_) return call_(step_, share);
    const auto begin = std::chrono::steady_clock::now();
    call_(step_, share);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    at_work_[static_cast<size_t>(thread)].seconds += took.count();
}

void Team::serve(int thread) {
    for (uint32_t seen = 0;; ++seen) {
        wait_while(forks_, seen);
        if (over_) return;
        work(thread);
        joined_.fetch_add(1, std::memory_order_release);
        joined_.notify_one();
    }
}

}  // namespace warpseal::papers
