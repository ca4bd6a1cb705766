// Batches in host memory: sharded over the cores, or over GPUs with the CPU to finish what they
// leave.
#include "engine/calls/batch.h"

#include <algorithm>
#include <atomic>

#include "engine/calls/batch_check.h"
#include "engine/schedule/shards.h"

namespace warpseal {
namespace {

constexpr uint64_t max_interleaved = 512;

// Returns messages [first, end) as a batch.
warpseal_batch slice(const warpseal_batch& batch, uint64_t first, uint64_t end,
                     uint32_t key_bytes) {
    warpseal_batch some = batch;
    some.message_count = end - first;
    if (some.lengths != nullptr) some.lengths += first;
    if (some.keys != nullptr) some.keys += first * key_bytes;
    if (some.ivs != nullptr) some.ivs += first * some.iv_stride;
    if (some.aad != nullptr) some.aad += first * some.aad_stride;
    if (some.in_offsets != nullptr)
        some.in_offsets += first;
    else if (some.in != nullptr)
        some.in += first * some.in_stride;
    if (some.out_offsets != nullptr)
        some.out_offsets += first;
    else if (some.out != nullptr)
        some.out += first * some.out_stride;
    if (some.tags != nullptr) some.tags += first * some.tag_stride;
    if (some.statuses != nullptr) some.statuses += first;
    return some;
}

// Calls run(batch, first, count) for each part of messages [first, end) that has one length of AAD,
// or once for all without groups. Stops where run returns false.
template <class Run>
void for_each_group(const warpseal_batch& batch, const AadGroups& groups, uint32_t key_bytes,
                    uint64_t first, uint64_t end, Run run) {
    if (groups.empty()) {
        run(batch, first, end - first);
        return;
    }
    auto group = std::upper_bound(groups.begin(), groups.end(), first,
                                  [](uint64_t i, const AadGroup& g) { return i < g.end; });
    for (bool more = true; more && first < end; ++group) {
        const uint64_t last = std::min(end, group->end);
        warpseal_batch some = slice(batch, first, last, key_bytes);
        some.aad = group->data + (first - group->begin) * group->bytes;
        some.aad_bytes = some.aad_stride = group->bytes;
        more = run(some, 0, last - first);
        first = last;
    }
}

// Runs messages [first, end) on the CPU. Returns the number of messages that did not verify.
uint64_t batch_on_cores(const Route& route, Pool* pool, warpseal_mode mode, Direction direction,
                        const warpseal_batch& batch, const AadGroups& groups, uint64_t first,
                        uint64_t end, uint64_t total_bytes) {
    const auto entry = route.cores->batch[mode][static_cast<int>(direction)];
    const void* state = batch.keys == nullptr ? route.state : nullptr;
    const uint64_t count = end - first;
    const auto run_some = [&](uint64_t begin, uint64_t some) {
        uint64_t forgeries = 0;
        for_each_group(batch, groups, route.cores->key_bytes, begin, begin + some,
                       [&](const warpseal_batch& part, uint64_t from, uint64_t messages) {
                           forgeries += entry(state, part, from, messages);
                           return true;
                       });
        return forgeries;
    };
    if (pool == nullptr || route.plan.threads == 1) return run_some(first, count);

    const uint64_t average = total_bytes / batch.message_count + 1;
    uint64_t step = route.plan.chunk_bytes / average + 1;
    // Serial messages run interleaved: give each call as many as the widest representation holds,
    // if there are enough.
    if (mode != WARPSEAL_GCM && !sweeps(mode, direction))
        step = std::max(
            step, std::min(max_interleaved, (count + route.plan.threads - 1) / route.plan.threads));
    struct Shared {
        const decltype(run_some)& run;
        uint64_t first, end, step;
        std::atomic<uint64_t> forgeries;
    } shared{run_some, first, end, step, {0}};
    pool->run((count + step - 1) / step, route.plan.threads, [&shared](size_t i) {
        const uint64_t begin = shared.first + i * shared.step;
        const uint64_t left = shared.end - begin;
        shared.forgeries += shared.run(begin, left < shared.step ? left : shared.step);
    });
    return shared.forgeries;
}

uint64_t forgeries_between(const warpseal_batch& batch, uint64_t begin, uint64_t end) {
    uint64_t count = 0;
    for (uint64_t i = begin; batch.statuses != nullptr && i < end; ++i)
        count += batch.statuses[i] == WARPSEAL_OK ? 0 : 1;
    return count;
}

// Converts the plan's shards from bytes to messages.
Shards shards_of_messages(const Route& route, const warpseal_batch& batch, uint64_t bytes) {
    Shards shards = shards_of(route, bytes, 1);
    uint64_t message = 0, at = 0, before = 0;
    for (unsigned i = 0; i < shards.count; ++i) {
        Shard& shard = shards.all[i];
        const uint64_t end = shard.end;
        shard.begin = shard.done = message;
        if (i + 1 == shards.count) {
            message = batch.message_count;
            at = bytes;
        } else if (batch.lengths == nullptr) {
            message = static_cast<uint64_t>(static_cast<double>(end) / static_cast<double>(bytes) *
                                            static_cast<double>(batch.message_count));
            at = message * batch.message_bytes;
        } else {
            while (message < batch.message_count && at < end) at += batch.lengths[message++];
        }
        shard.end = message;
        shard.bytes = at - before;  // the actual size: a message may be longer than a planned shard
        before = at;
    }
    return shards;
}

class Messages : public ShardWork {
public:
    Messages(Engine::Impl& impl, const Route& route, Pool* pool, warpseal_mode mode,
             Direction direction, const warpseal_batch& batch, const AadGroups& groups,
             uint64_t total_bytes)
        : impl_(impl),
          route_(route),
          pool_(pool),
          mode_(mode),
          direction_(direction),
          batch_(batch),
          groups_(groups),
          total_bytes_(total_bytes) {}

    warpseal_status on_gpu(Gpu& gpu, Shard& shard) override {
        if (shard.done == shard.end) return WARPSEAL_OK;
        if (groups_.empty())
            return on_gpu(gpu, shard,
                          slice(batch_, shard.done, shard.end, route_.cores->key_bytes));
        warpseal_status status = WARPSEAL_OK;
        for_each_group(batch_, groups_, route_.cores->key_bytes, shard.done, shard.end,
                       [&](const warpseal_batch& some, uint64_t, uint64_t) {
                           status = on_gpu(gpu, shard, some);
                           return status == WARPSEAL_OK;
                       });
        return status;
    }
    void on_cores(Shard& shard) override {
        if (shard.done != shard.end)
            forgeries_ += batch_on_cores(route_, pool_, mode_, direction_, batch_, groups_,
                                         shard.done, shard.end, total_bytes_);
        shard.done = shard.end;
    }
    uint64_t forgeries() const { return forgeries_; }

private:
    // Runs the messages that follow shard.done, and advances it.
    warpseal_status on_gpu(Gpu& gpu, Shard& shard, const warpseal_batch& some) {
        uint64_t done = 0, forgeries = 0;
        const warpseal_status status = gpu.backend().batch_host(
            gpu.device(), *route_.cuda, batch_.keys == nullptr ? route_.cuda_state : nullptr, mode_,
            direction_, some, &done, &forgeries);
        const bool whole = status == WARPSEAL_OK || status == WARPSEAL_NOT_AUTHENTIC;
        if (!whole)
            forgeries = direction_ == Direction::decrypt ? forgeries_between(some, 0, done) : 0;
        forgeries_ += forgeries;
        shard.done += whole ? some.message_count : done;
        return whole ? WARPSEAL_OK : status;
    }

    Engine::Impl& impl_;
    const Route& route_;
    Pool* const pool_;
    const warpseal_mode mode_;
    const Direction direction_;
    const warpseal_batch& batch_;
    const AadGroups& groups_;
    const uint64_t total_bytes_;
    std::atomic<uint64_t> forgeries_{0};
};

// Returns the batch with non-null text pointers, for a batch of empty messages: arithmetic on null
// is undefined.
warpseal_batch without_text(const warpseal_batch& given, warpseal_mode mode) {
    static uint8_t nothing;
    warpseal_batch batch = given;
    batch.in_offsets = batch.out_offsets = nullptr;
    batch.in_stride = batch.out_stride = 0;
    batch.in = &nothing;
    batch.out = mode == WARPSEAL_CMAC ? nullptr : &nothing;
    return batch;
}

// Describes the batch for the choice of its route. Memory ranges are known only for messages at
// strides.
Call call_of(warpseal_mode mode, Direction direction, const warpseal_batch& batch,
             uint64_t total_bytes, bool divisible) {
    // Empty messages are work too.
    Call call{mode, direction, BackendEntry::batch,
              total_bytes == 0 ? batch.message_count : total_bytes, batch.message_count};
    call.divisible = divisible && batch.message_count > 1;
    call.one_thread = !divisible;
    if (batch.message_count == 0 || batch.lengths != nullptr || batch.in_offsets != nullptr ||
        batch.out_offsets != nullptr)
        return call;
    call.in = batch.in;
    call.out = batch.out == nullptr ? batch.in : batch.out;
    call.in_extent = (batch.message_count - 1) * batch.in_stride + batch.message_bytes;
    call.out_extent = batch.out == nullptr
                          ? call.in_extent
                          : (batch.message_count - 1) * batch.out_stride + batch.message_bytes;
    return call;
}

// Runs a batch that passed all checks.
warpseal_status run_batch(Engine::Impl& impl, const Key& key, warpseal_mode mode,
                          Direction direction, const warpseal_batch& batch, const AadGroups& groups,
                          uint64_t total_bytes, Engine::Threads threads, const char** target) {
    Route route;
    const bool all_threads = threads == Engine::Threads::all;
    const Call call = call_of(mode, direction, batch, total_bytes, all_threads);
    const warpseal_status status = impl.route(key, call, route);
    if (status != WARPSEAL_OK) return status;
    if (target != nullptr) *target = route.target;
    if (batch.message_count == 0) return WARPSEAL_OK;

    Shards shards = shards_of_messages(route, batch, call.bytes);
    Messages work(impl, route, all_threads ? &impl.pool : nullptr, mode, direction, batch, groups,
                  total_bytes);
    run_shards(impl, route, work, shards);
    return work.forgeries() == 0 ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

}  // namespace

warpseal_status run_host_batch(Engine::Impl& impl, const Key& key, warpseal_mode mode,
                               Direction direction, const warpseal_batch& batch,
                               const AadGroups& groups, Engine::Threads threads,
                               const char** target) {
    warpseal_status status = check_batch(key, mode, direction, batch);
    uint64_t total_bytes = 0;
    if (status == WARPSEAL_OK) status = check_host_messages(key.facts(), mode, batch, total_bytes);
    if (status != WARPSEAL_OK) return status;
    if (batch.keys == nullptr ? key.refuses(direction)
                              : key.refuses(direction, batch.keys, batch.message_count))
        return WARPSEAL_WEAK_KEY;
    if (total_bytes == 0 && lacks_text(mode, batch))
        return run_batch(impl, key, mode, direction, without_text(batch, mode), groups, total_bytes,
                         threads, target);
    return run_batch(impl, key, mode, direction, batch, groups, total_bytes, threads, target);
}

warpseal_status Engine::batch(const Key& key, warpseal_mode mode, Direction direction,
                              const warpseal_batch& batch, Threads threads, const char** target) {
    return run_host_batch(*impl_, key, mode, direction, batch, {}, threads, target);
}

}  // namespace warpseal
