// Requests for key encapsulation from many threads, gathered into batches: the queue, its bound,
// and what a fork does to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/kem/batcher/request_queue.h"
#include "platform/forks.h"
#include "warpseal/batcher.h"

namespace warpseal {

struct KemBatcherOptions {
    KemBatchRule rule;
    uint32_t most_waiting = 4096;
    std::string metrics_directory;
    BatcherClock::time_point (*now)() = BatcherClock::now;  // a test may replace the clock
};

class KemScheduler;

class KemBatcher {
public:
    KemBatcher(Engine& engine, KemBatcherOptions options, Engine::RandomSource random);
    ~KemBatcher();
    KemBatcher(const KemBatcher&) = delete;
    KemBatcher& operator=(const KemBatcher&) = delete;

    // As the calls of warpseal/batcher.h. May throw for want of memory; then nothing is queued.
    warpseal_status run(const warpseal_kem_request& request);
    warpseal_status submit(const warpseal_kem_request& request);
    void read(warpseal_kem_batcher_counts& out);
    std::string metrics();

private:
    // This process's own.
    KemScheduler& scheduler();

    Engine& engine_;
    const KemBatcherOptions options_;
    const Engine::RandomSource random_;
    ForkMutex mutex_;
    std::atomic<KemScheduler*> scheduler_;
};

}  // namespace warpseal
