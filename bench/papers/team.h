// Thread team for repeated fork-join regions, as in OpenMP: a fork, each thread's share, a join.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/papers/share.h"

namespace warpseal::papers {

class Team {
public:
    // The caller is the first thread.
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int threads() const { return static_cast<int>(at_work_.size()); }

    // Calls step(share) on every thread and returns when all are done. Not thread-safe.
    template <class Step>
    void run(const Step& step) {
        call_ = [](const void* self, Share share) { (*static_cast<const Step*>(self))(share); };
        step_ = &step;
        fork();
        work(0);
        join();
    }

    // Measures each thread's time within its shares from now on. Costs two clock readings per
    // share.
    void take_times() {
        times_taken_ = true;
        for (AtWork& one : at_work_) one.seconds = 0;
    }
    double seconds_at_work(int thread) const {
        return at_work_[static_cast<size_t>(thread)].seconds;
    }

private:
    struct alignas(64) AtWork {
        double seconds = 0;
    };

    void serve(int thread);
    void work(int thread);
    void fork();
    void join();

    void (*call_)(const void* step, Share share) = nullptr;
    const void* step_ = nullptr;
    bool times_taken_ = false, over_ = false;
    std::vector<AtWork> at_work_;
    std::vector<std::thread> others_;
    alignas(64) std::atomic<uint32_t> forks_{0};
    alignas(64) std::atomic<uint32_t> joined_{0};
};

}  // namespace warpseal::papers
