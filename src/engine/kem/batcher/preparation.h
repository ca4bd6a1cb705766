// Preparation of the GPU for a batcher, on a thread of its own, while the cores serve.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/kem/batcher/batcher.h"
#include "engine/kem/batcher/pinned_blocks.h"
#include "engine/kem/batcher/placement.h"

namespace warpseal {

// Opens the GPU, pins memory, and then tests and times each kind of request that is asked for.
// Nothing that fails here is an error of the batcher: without pinned memory batches are copied, and
// a kind that the GPU cannot run stays on the cores.
class KemPreparation {
public:
    // Times of the GPU for a kind, measured or assumed; none if the GPU cannot run it.
    using Outcome = std::optional<KemTimeModel>;
    // Called on the preparation's thread, once for each kind that is asked for.
    using Settled = std::function<void(KemKind, const Outcome&)>;
    // Returns true while requests of the batcher are in flight. Called on the same thread.
    using Busy = std::function<bool()>;

    // blocks: number of pinned blocks, each for a batch of the largest size.
    // busy: may be empty; then no step waits until the batcher is idle.
    KemPreparation(Engine& engine, const KemBatcherOptions& options, Engine::RandomSource random,
                   unsigned blocks, Settled settled, Busy busy);
    ~KemPreparation();  // waits for the step in progress, and skips the others
    KemPreparation(const KemPreparation&) = delete;
    KemPreparation& operator=(const KemPreparation&) = delete;

    // Starts the thread. Returns false if none can be had.
    bool start();
    // Asks for a kind. Returns at once.
    void ask(KemKind kind);
    // Makes the thread end after the step in progress. Returns at once.
    void stop();

    KemPinnedBlocks& blocks() { return blocks_; }
    // Returns the largest batch of that kind that fits in a block.
    size_t most_items(KemKind kind) const;

private:
    void serve();
    bool stopping();
    // Waits until the batcher has been idle for a few polls, which `patience` counts down and
    // limits. Pinning and tests would slow the cores that serve. Returns false if the preparation
    // is to stop.
    bool idle_or_late(unsigned& patience);
    std::optional<KemKind> next();
    void open();
    Outcome prepare(KemKind kind);
    std::optional<KemTimeModel> timed(KemKind kind, KemPinnedBlocks::Block block);
    double seconds_of(KemKind kind, size_t items, KemPinnedBlocks::Block block);

    Engine& engine_;
    const KemBatcherOptions& options_;
    const Engine::RandomSource random_;
    const unsigned most_blocks_;
    const size_t block_bytes_;
    const Settled settled_;
    const Busy busy_;
    KemPinnedBlocks blocks_;

    std::mutex mutex_;               // fork: a child has its own scheduler, which prepares nothing
    std::condition_variable asked_;  // fork: a child has its own scheduler
    KemKindMask kinds_ = 0;          // that are asked for
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace warpseal
