// Batcher: collects key encapsulation requests from many threads into batches.
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
    BatcherClock::time_point (*now)() = BatcherClock::now;  // replaceable in tests
};

class KemScheduler;

class KemBatcher {
public:
    KemBatcher(Engine& engine, KemBatcherOptions options, Engine::RandomSource random);
    ~KemBatcher();
    KemBatcher(const KemBatcher&) = delete;
    KemBatcher& operator=(const KemBatcher&) = delete;

    // See warpseal/batcher.h. May throw std::bad_alloc; nothing is queued then.
    warpseal_status run(const warpseal_kem_request& request);
    warpseal_status submit(const warpseal_kem_request& request);
    void read(warpseal_kem_batcher_counts& out);
    std::string metrics();

private:
    // Returns the scheduler of this process; a forked child creates its own.
    KemScheduler& scheduler();

    Engine& engine_;
    const KemBatcherOptions options_;
    const Engine::RandomSource random_;
    ForkMutex mutex_;
    std::atomic<KemScheduler*> scheduler_;
};

}  // namespace warpseal
