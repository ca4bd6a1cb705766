// Throughput model of each target in this engine, measured on actual calls. The CPU is first
// calibrated on a short text.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "engine/limits.h"
#include "engine/schedule/plan.h"
#include "platform/forks.h"

namespace warpseal {

// Class of calls with one throughput.
struct CallClass {
    const CpuCipher* cipher;  // on the CPU target; also identifies the cipher on a GPU
    warpseal_mode mode;
    Direction direction;
    BackendEntry entry;
    MemoryKind memory_kind;
    uint8_t scale;  // scale_of the call's bytes

    bool operator<(const CallClass& other) const {
        return std::tie(cipher, mode, direction, entry, memory_kind, scale) <
               std::tie(other.cipher, other.mode, other.direction, other.entry, other.memory_kind,
                        other.scale);
    }
};

// Size class of a call, in factors of four: caches and thread wakeups make the speed depend on the
// size. From 256 MiB on it is constant.
uint8_t scale_of(uint64_t bytes);

// Thread-safe and usable in a forked child.
class Throughput {
public:
    static constexpr int cores = -1;
    using Clock = std::chrono::steady_clock;

    // threads: number of threads that the party `cores` stands for.
    explicit Throughput(unsigned threads) : threads_(threads) {}

    // Returns the measured throughput, or 0 if unknown. party: a GPU's index in the engine, or
    // `cores`.
    // Falls back to other ciphers' rate on that GPU, or to the result of `calibrate` for the CPU.
    Speed of(const CallClass& call_class, int party) const;
    // Measures one core on 64 KiB, once per class. Does nothing for batches.
    void calibrate(const CallClass& call_class, const void* state,
                   Clock::time_point (*now)() = Clock::now);
    // Records a finished shard. Ignores small shards and the first of its kind, which pays for
    // pinning and page faults.
    // Called by threads that must not throw: out of memory, the measurement is dropped.
    void note(const CallClass& call_class, int party, bool shared, uint64_t bytes,
              double seconds) noexcept;

private:
    struct Figure {
        unsigned seen = 0;
        double rate = 0;
        uint64_t at = 0;  // value of measurements_ at the last update
    };
    using FigureKey = std::tuple<CallClass, int, bool>;
    double known(const CallClass& call_class, int party, bool shared) const;
    void update(const CallClass& call_class, int party, bool shared, double rate);

    const unsigned threads_;
    mutable ForkMutex mutex_;
    std::map<FigureKey, Figure> figures_;
    std::map<CallClass, uint64_t> measurements_;  // count by class, over all parties
    std::map<CallClass, double> calibrated_;
};

}  // namespace warpseal
