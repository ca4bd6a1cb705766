// Many messages in host memory: shared out over the cores, or through the GPU with the cores to finish what it leaves.
#include <algorithm>
#include <atomic>

#include "engine/batch_check.h"
#include "engine/inside.h"

namespace warpseal {
namespace {

constexpr uint64_t most_side_by_side = 512;

// Messages [first, end) on the cores; returns how many did not verify.
uint64_t batch_on_cores(const Route& route, Pool* pool, warpseal_mode mode, Direction direction, const warpseal_batch& batch,
                        uint64_t first, uint64_t total_bytes) {
    const auto run = route.cores->batch[mode][static_cast<int>(direction)];
    const void* state = batch.keys == nullptr ? route.state : nullptr;
    const uint64_t count = batch.message_count - first;
    if (pool == nullptr || route.plan.threads == 1) return run(state, batch, first, count);

    const uint64_t average = total_bytes / batch.message_count + 1;
    uint64_t step = route.plan.piece_bytes / average + 1;
    // Chains run side by side: as many as the widest shape holds, if there are as many.
    if (mode != WARPSEAL_GCM && !sweeps(mode, direction))
        step = std::max(step, std::min(most_side_by_side, (count + route.plan.threads - 1) / route.plan.threads));
    struct Shared {
        CpuCipher::Batch run;
        const void* state;
        const warpseal_batch& batch;
        uint64_t first, step;
        std::atomic<uint64_t> forgeries;
    } shared{run, state, batch, first, step, {0}};
    pool->run((count + step - 1) / step, route.plan.threads, [&shared](size_t i) {
        const uint64_t begin = shared.first + i * shared.step;
        const uint64_t left = shared.batch.message_count - begin;
        shared.forgeries += shared.run(shared.state, shared.batch, begin, left < shared.step ? left : shared.step);
    });
    return shared.forgeries;
}

uint64_t forgeries_before(const warpseal_batch& batch, uint64_t end) {
    uint64_t count = 0;
    for (uint64_t i = 0; batch.statuses != nullptr && i < end; ++i) count += batch.statuses[i] == WARPSEAL_OK ? 0 : 1;
    return count;
}

}  // namespace

warpseal_status Engine::batch(const Key& key, warpseal_mode mode, Direction direction, const warpseal_batch& batch, Where where,
                              const char** target) {
    warpseal_status status = check_batch(key, mode, direction, batch);
    uint64_t total_bytes = 0;
    if (status == WARPSEAL_OK) status = check_host_messages(key.facts(), mode, batch, total_bytes);
    if (status != WARPSEAL_OK) return status;
    if (batch.keys == nullptr ? key.refuses(direction) : key.refuses(direction, batch.keys, batch.message_count)) return WARPSEAL_WEAK_KEY;
    Route route;
    status = inside_->route(key, {mode, direction, Shape::batch, total_bytes, batch.message_count}, route);
    if (status != WARPSEAL_OK) return status;
    if (target != nullptr) *target = route.target;

    uint64_t done = 0, forgeries = 0;
    if (route.gpu && batch.message_count != 0) {
        status = inside_->gpu.door().batch_host(inside_->gpu.device(), *route.cuda, batch.keys == nullptr ? route.cuda_state : nullptr,
                                                mode, direction, batch, &done, &forgeries);
        if (status == WARPSEAL_OK || status == WARPSEAL_NOT_AUTHENTIC) return forgeries == 0 ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
        inside_->gpu.failed(status);
        forgeries = direction == Direction::decrypt ? forgeries_before(batch, done) : 0;
    }
    if (done < batch.message_count)
        forgeries +=
            batch_on_cores(route, where == Where::everywhere ? &inside_->pool : nullptr, mode, direction, batch, done, total_bytes);
    return forgeries == 0 ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
}

}  // namespace warpseal
