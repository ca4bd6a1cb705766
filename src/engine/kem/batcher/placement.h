// Placement of batches on the cores and the GPU, so that each finishes first, by measured times.
#pragma once

#include <array>
#include <vector>

#include "engine/kem/batcher/request.h"

namespace warpseal {

// Seconds that a side takes for a batch if it runs nothing else: a fixed delay, and a time for each
// item. Both follow the measurements.
class KemTimeModel {
public:
    KemTimeModel() = default;
    // A model that was measured before.
    KemTimeModel(double delay_seconds, double item_seconds);
    // A rough one, which the first measurements replace.
    static KemTimeModel assumed(double delay_seconds, double item_seconds);
    // Returns the line through two measurements; the second has more items.
    static KemTimeModel through(size_t items, double seconds, size_t more_items,
                                double more_seconds);

    double seconds(size_t items) const {
        return delay_seconds_ + static_cast<double>(items) * item_seconds_;
    }
    void measured(size_t items, double seconds);

private:
    void set(double delay_seconds, double item_seconds);

    double delay_seconds_ = 0, item_seconds_ = 0;
    unsigned seen_ = 0;  // measurements, as far as they count
};

// Not thread-safe: its owner provides the lock and the time.
class KemPlacement {
public:
    using Time = BatcherClock::time_point;
    enum class Side : uint8_t { cores = 0, gpu = 1 };

    // Minimum items of a shard on the GPU and on the cores.
    static constexpr size_t least_gpu_items = 32, least_core_items = 16;

    // threads: of the engine. most_batches: maximum number of batches in progress.
    KemPlacement(unsigned threads, size_t most_batches);

    // Allows the GPU for batches of that kind. model: measured or assumed times there.
    void allow_gpu(KemKind kind, const KemTimeModel& model);
    // Returns the assumed times of a GPU of which nothing is measured.
    static KemTimeModel assumed_gpu(KemKind kind);

    // Returns the number of items that the GPU should run; the cores run the others. A batch is
    // divided only if may_divide. The GPU gets no more than most_gpu_items.
    size_t gpu_items(KemKind kind, size_t items, size_t most_gpu_items, bool may_divide, Time now);

    // Records that a shard is queued on a side, and returns its number. There must be fewer than
    // most_batches.
    uint64_t begin(KemKind kind, Side side, size_t items, Time now);
    // Records that its requests are done.
    void end(uint64_t number, Time now);

private:
    struct Shard {
        uint64_t number;
        KemKind kind;
        size_t items;
        double expected;  // seconds that the side needs for it alone
        double begun;     // served of the side at its begin
        Time started;     // time of its begin
    };
    // Shards on one side run at the same time and slow each other down evenly.
    struct Queue {
        std::vector<Shard> shards;
        double served = 0;  // seconds that each shard in progress got, since the beginning
        Time last{};
        void advance(Time now);
    };
    // Number of batches since a side last had a shard, and the number after which it is tried.
    struct Idle {
        unsigned batches = 0, most;
    };
    struct Kind {
        std::array<KemTimeModel, 2> models;
        std::array<Idle, 2> idle;
        bool gpu_allowed = false;
    };
    Kind& of(KemKind kind) { return kinds_[static_cast<size_t>(kind.number())]; }
    double finish(Side side, KemKind kind, size_t items) const;
    size_t divided(KemKind kind, size_t items, size_t most_gpu_items) const;
    size_t with_trial(KemKind kind, size_t items, size_t on_gpu, bool may_divide);

    std::array<Kind, kem_kind_count> kinds_;
    std::array<Queue, 2> queues_;
    uint64_t numbers_ = 0;
};

}  // namespace warpseal
