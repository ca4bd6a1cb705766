// Compares the times at which the cores, the GPU or both would finish a batch.
#include "engine/kem/batcher/placement.h"

#include <algorithm>
#include <cmath>

#include "engine/kem/throughput.h"

namespace warpseal {
namespace {

// The GPU is left only for a side that finishes in less than this fraction of its time: a GPU frees
// the cores, which also gather the next batches. Estimates are no more precise either.
constexpr double gain = 0.85;
// Fraction of the logarithm of an error by which a measurement corrects the model. One that was too
// slow may have been preempted.
constexpr double when_faster = 0.5, when_slower = 0.25;
// Measurements until a model is known; those after the first replace it.
constexpr unsigned known = 3;
constexpr double least_seconds = 1e-7, least_item_seconds = 1e-12;
// A side without shards is tried after this many batches, then less and less often.
constexpr unsigned first_trial = 32, last_trial = 4096;
// A trial shard is this part of a batch, of at least so many items.
constexpr size_t trial_part = 16, least_trial_batch = 128;

double seconds_between(BatcherClock::time_point begin, BatcherClock::time_point end) {
    return std::max(0.0, std::chrono::duration<double>(end - begin).count());
}

KemTimeModel assumed(KemKind kind, bool gpu, unsigned threads) {
    const KemDefaultTime time = default_kem_time(kind.set, kind.operation, gpu, threads);
    return KemTimeModel::assumed(time.delay_seconds, time.item_seconds);
}

}  // namespace

KemTimeModel::KemTimeModel(double delay_seconds, double item_seconds) : seen_(known) {
    set(delay_seconds, item_seconds);
}

KemTimeModel KemTimeModel::assumed(double delay_seconds, double item_seconds) {
    KemTimeModel model(delay_seconds, item_seconds);
    model.seen_ = 0;
    return model;
}

void KemTimeModel::set(double delay_seconds, double item_seconds) {
    delay_seconds_ = std::max(delay_seconds, least_seconds);
    item_seconds_ = std::max(item_seconds, least_item_seconds);
}

KemTimeModel KemTimeModel::through(size_t items, double seconds, size_t more_items,
                                   double more_seconds) {
    const double each =
        std::max(more_seconds - seconds, 0.0) / static_cast<double>(more_items - items);
    return {seconds - static_cast<double>(items) * each, each};
}

// Divides the error between delay and item time by their fractions of the predicted time, so small
// batches correct the delay and large ones the item time. The first measurement is ignored: it also
// pays for memory, page faults and perhaps a self-test.
void KemTimeModel::measured(size_t items, double measured_seconds) {
    if (seen_ < known && seen_++ == 0) return;
    const double predicted = seconds(items), delay_fraction = delay_seconds_ / predicted,
                 item_fraction = 1 - delay_fraction;
    const double error = std::log(std::max(measured_seconds, least_seconds) / predicted);
    const double weight = seen_ < known ? 1 : error < 0 ? when_faster : when_slower;
    const double correction =
        error * weight / (delay_fraction * delay_fraction + item_fraction * item_fraction);
    set(delay_seconds_ * std::exp(correction * delay_fraction),
        item_seconds_ * std::exp(correction * item_fraction));
}

KemPlacement::KemPlacement(unsigned threads, size_t most_batches) {
    for (int set = 0; set < kem_set_count; ++set)
        for (int i = 0; i < kem_operation_count; ++i) {
            const KemKind kind{static_cast<uint8_t>(set), static_cast<KemOperation>(i)};
            of(kind).models[0] = assumed(kind, false, threads);
            of(kind).idle = {Idle{0, first_trial}, Idle{0, first_trial}};
        }
    for (Queue& queue : queues_) queue.shards.reserve(most_batches);
}

KemTimeModel KemPlacement::assumed_gpu(KemKind kind) { return assumed(kind, true, 1); }

void KemPlacement::allow_gpu(KemKind kind, const KemTimeModel& model) {
    of(kind).models[1] = model;
    of(kind).gpu_allowed = true;
}

void KemPlacement::Queue::advance(Time now) {
    if (!shards.empty()) served += seconds_between(last, now) / static_cast<double>(shards.size());
    last = std::max(last, now);
}

// The other shards take from this one until they or it are done. One that is late is expected to
// need as long again as it is late, and this one to be as late.
double KemPlacement::finish(Side side, KemKind kind, size_t items) const {
    if (items == 0) return 0;
    const Queue& queue = queues_[static_cast<size_t>(side)];
    const double own =
        kinds_[static_cast<size_t>(kind.number())].models[static_cast<size_t>(side)].seconds(items);
    double seconds = own, slower = 1;
    for (const Shard& shard : queue.shards) {
        const double got = queue.served - shard.begun;
        seconds += std::min(std::abs(shard.expected - got), own);
        slower = std::max(slower, got / shard.expected);
    }
    return seconds * slower;
}

// Bisects for the shard with which both sides finish at the same time.
size_t KemPlacement::divided(KemKind kind, size_t items, size_t most_gpu_items) const {
    size_t low = 0, high = std::min(items, most_gpu_items);
    while (low < high) {
        const size_t on_gpu = low + (high - low + 1) / 2;
        if (finish(Side::gpu, kind, on_gpu) <= finish(Side::cores, kind, items - on_gpu))
            low = on_gpu;
        else
            high = on_gpu - 1;
    }
    return low;
}

size_t KemPlacement::gpu_items(KemKind kind, size_t items, size_t most_gpu_items, bool may_divide,
                               Time now) {
    if (!of(kind).gpu_allowed || items < least_gpu_items) return 0;
    for (Queue& queue : queues_) queue.advance(now);
    const double cores = finish(Side::cores, kind, items),
                 gpu = items <= most_gpu_items ? finish(Side::gpu, kind, items) : HUGE_VAL;
    size_t best = cores < gain * gpu ? 0 : items;
    if (may_divide) {
        const size_t on_gpu = divided(kind, items, most_gpu_items);
        const double both =
            std::max(finish(Side::gpu, kind, on_gpu), finish(Side::cores, kind, items - on_gpu));
        if (on_gpu >= least_gpu_items && items - on_gpu >= least_core_items &&
            both < gain * std::min(cores, gpu))
            best = on_gpu;
    }
    return with_trial(kind, items, best, may_divide);
}

// Gives a side that has had no shard for long a small one, so that its model follows its speed.
size_t KemPlacement::with_trial(KemKind kind, size_t items, size_t on_gpu, bool may_divide) {
    if (items < least_trial_batch) return on_gpu;
    for (const Side side : {Side::cores, Side::gpu}) {
        Idle& idle = of(kind).idle[static_cast<size_t>(side)];
        if ((side == Side::gpu ? on_gpu : items - on_gpu) != 0) {
            idle = {0, first_trial};
        } else if (++idle.batches >= idle.most && may_divide) {
            idle = {0, std::min(2 * idle.most, last_trial)};
            const size_t shard = std::max(items / trial_part, least_gpu_items);
            return side == Side::gpu ? shard : items - shard;
        }
    }
    return on_gpu;
}

uint64_t KemPlacement::begin(KemKind kind, Side side, size_t items, Time now) {
    Queue& queue = queues_[static_cast<size_t>(side)];
    queue.advance(now);
    const double expected = of(kind).models[static_cast<size_t>(side)].seconds(items);
    queue.shards.push_back({++numbers_, kind, items, expected, queue.served, now});
    return numbers_;
}

// Its thread may report the end late, after later shards have advanced the queue past it.
void KemPlacement::end(uint64_t number, Time now) {
    for (size_t side = 0; side < queues_.size(); ++side) {
        Queue& queue = queues_[side];
        const auto shard = std::find_if(queue.shards.begin(), queue.shards.end(),
                                        [&](const Shard& one) { return one.number == number; });
        if (shard == queue.shards.end()) continue;
        queue.advance(now);
        of(shard->kind)
            .models[side]
            .measured(shard->items,
                      std::min(queue.served - shard->begun, seconds_between(shard->started, now)));
        queue.shards.erase(shard);
    }
}

}  // namespace warpseal
