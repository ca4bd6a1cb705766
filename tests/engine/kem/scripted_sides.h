// An engine whose cores and GPU encapsulate in scripted times, by FakeClock, and whose GPU can be
// held up or refuse while it is prepared.
#pragma once

#include "engine/kem/gated_kem.h"
#include "support/fake_backend.h"

namespace batched {

struct Sides {
    std::atomic<BatcherClock::rep> core_item{0}, gpu_delay{0}, gpu_item{0};  // ticks of FakeClock
    // Items of requests, without those of the preparation. Items of a self-test on the cores count.
    std::atomic<uint64_t> core_items{0}, gpu_items{0}, gpu_calls{0}, pinned_calls{0};
    std::atomic<uint64_t> blocks{0};  // pinned
    // The preparation has begun with decapsulation, the last kind.
    std::atomic<bool> prepares_decapsulation{false};
    std::atomic<bool> computes{true};  // false: the outputs stay as they are
    std::atomic<warpseal_status> opens{WARPSEAL_OK}, pins{WARPSEAL_OK};
    // The preparation waits there: as it opens the GPU, before it pins memory, and in the first
    // decapsulation of its self-test.
    Gate opening, preparing, decapsulating;
    std::atomic<std::thread::id> preparer{};
    std::array<std::atomic<const uint8_t*>, 16> begins{};
    std::atomic<size_t> block_bytes{0};

    bool is_pinned(const uint8_t* memory) const {
        return std::any_of(begins.begin(), begins.end(), [&](const uint8_t* begin) {
            return begin != nullptr && memory >= begin && memory < begin + block_bytes;
        });
    }

    void set_times(BatcherClock::duration core, BatcherClock::duration delay,
                   BatcherClock::duration gpu) {
        core_item = core.count();
        gpu_delay = delay.count();
        gpu_item = gpu.count();
    }
};
inline Sides* sides = nullptr;

inline uint64_t encapsulate_by_script(const warpseal_kem_batch& batch, uint64_t first,
                                      uint64_t count, void* work) {
    sides->core_items += count;
    FakeClock::advance(BatcherClock::duration(sides->core_item * static_cast<int64_t>(count)));
    if (sides->computes)
        return best_kem().run[static_cast<int>(KemOperation::encapsulate)](batch, first, count,
                                                                           work);
    if (batch.statuses != nullptr) std::fill_n(batch.statuses + first, count, WARPSEAL_OK);
    return 0;
}

inline warpseal_status kem_host_by_script(const GpuBackend& fake, const CudaKem& kem,
                                          KemOperation operation, const warpseal_kem_batch& batch,
                                          const DrawnCoins* coins, uint64_t* done,
                                          uint64_t* failed) {
    if (operation == KemOperation::encapsulate) {
        FakeClock::advance(BatcherClock::duration(
            sides->gpu_delay + sides->gpu_item * static_cast<int64_t>(batch.count)));
        if (std::this_thread::get_id() != sides->preparer.load()) {
            sides->gpu_items += batch.count;
            ++sides->gpu_calls;
            if (sides->is_pinned(batch.public_keys)) ++sides->pinned_calls;
        }
    }
    if (operation == KemOperation::decapsulate &&
        std::this_thread::get_id() == sides->preparer.load()) {
        sides->prepares_decapsulation = true;
        sides->decapsulating.pass();
    }
    if (sides->computes || operation != KemOperation::encapsulate)
        return fake.kem_host(0, kem, operation, batch, batch.count, coins, done, failed);
    if (batch.statuses != nullptr) std::fill_n(batch.statuses, batch.count, WARPSEAL_OK);
    *done = batch.count;
    *failed = 0;
    return WARPSEAL_OK;
}

// A new backend each time, as self-test results of a backend persist.
inline const GpuBackend* scripted_gpu(const tests::Script& script = {}) {
    static std::vector<std::unique_ptr<GpuBackend>> backends;
    static const GpuBackend* fake;
    fake = tests::fake_backend(script);
    backends.push_back(std::make_unique<GpuBackend>(*fake));
    GpuBackend& backend = *backends.back();
    backend.device_count = [](int* count) {
        if (sides->opens != WARPSEAL_OK) return sides->opens.load();
        sides->opening.pass();
        return fake->device_count(count);
    };
    backend.kem_prepare = [](int) {
        sides->preparer = std::this_thread::get_id();
        sides->preparing.pass();
        return WARPSEAL_OK;
    };
    backend.host_alloc = [](int device, size_t bytes, void** out) {
        if (sides->pins != WARPSEAL_OK) return sides->pins.load();
        const warpseal_status status = fake->host_alloc(device, bytes, out);
        sides->begins.at(sides->blocks++) = static_cast<uint8_t*>(*out);
        sides->block_bytes = bytes;
        return status;
    };
    backend.kem_host = [](int, const CudaKem& kem, KemOperation operation,
                          const warpseal_kem_batch& batch, uint64_t, const DrawnCoins* coins,
                          uint64_t* done, uint64_t* failed) {
        return kem_host_by_script(*fake, kem, operation, batch, coins, done, failed);
    };
    return &backend;
}

inline std::unique_ptr<Engine> scripted_engine(const char* device, const GpuBackend* backend) {
    return engine_encapsulating_by<encapsulate_by_script>(1, device, backend);
}

}  // namespace batched
