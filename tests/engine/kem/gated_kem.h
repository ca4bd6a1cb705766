// Key encapsulation on the cores whose encapsulations wait at a gate, so that a test decides when a
// batch ends.
#pragma once

#include <condition_variable>
#include <mutex>

#include "engine/kem/batched.h"

namespace batched {

// It opens on its own before a test hangs.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.wait_for(lock, 120s, [&] { return open_; });
        --waiting_;
    }
    void set_open(bool open) {
        const std::lock_guard lock(mutex_);
        open_ = open;
        changed_.notify_all();
    }
    int waiting() {
        const std::lock_guard lock(mutex_);
        return waiting_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int waiting_ = 0;
};
inline Gate gate;

inline const CpuKem& best_kem() {
    for (const Target target : {Target::vaes512, Target::avx2})
        if (cpu_has_kem(target)) return *cpu_kem(target, set.name);
    return *cpu_kem(Target::portable, set.name);
}

// Returns an engine with the usual functions on the cores except encapsulation.
template <auto encapsulation>
std::unique_ptr<Engine> engine_encapsulating_by(unsigned threads, const char* device = "cpu",
                                                const GpuBackend* backend = nullptr) {
    static const CpuKem kem = [] {
        CpuKem out = best_kem();
        out.run[static_cast<int>(KemOperation::encapsulate)] = encapsulation;
        return out;
    }();
    EngineOptions options;
    options.device = device;
    options.threads = threads;
    options.cuda = backend;
    options.kems = [](Target target, const char* name) {
        return target == Target::portable && std::string(name) == set.name ? &kem : nullptr;
    };
    options.kems_have = [](Target target) { return target == Target::portable; };
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    return engine;
}

inline uint64_t encapsulate_past_the_gate(const warpseal_kem_batch& batch, uint64_t first,
                                          uint64_t count, void* work) {
    gate.pass();
    return best_kem().run[static_cast<int>(KemOperation::encapsulate)](batch, first, count, work);
}

inline std::unique_ptr<Engine> gated_engine(unsigned threads) {
    return engine_encapsulating_by<encapsulate_past_the_gate>(threads);
}

}  // namespace batched
