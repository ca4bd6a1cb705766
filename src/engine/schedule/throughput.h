// How fast each target has been in this engine: measured on the calls themselves, and for cores on
// a small text of zeros before the first.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "engine/limits.h"
#include "engine/schedule/plan.h"
#include "platform/forks.h"

namespace warpseal {

// What a measurement is of.
struct CallClass {
    const CpuCipher* cipher;  // on the cores' target; a GPU's pace goes by it too
    warpseal_mode mode;
    Direction direction;
    Shape shape;
    MemoryKind memory_kind;
    uint8_t scale;  // of the call's bytes: scale_of

    bool operator<(const CallClass& other) const {
        return std::tie(cipher, mode, direction, shape, memory_kind, scale) <
               std::tie(other.cipher, other.mode, other.direction, other.shape, other.memory_kind,
                        other.scale);
    }
};

// By factors of four, as caches and the waking of threads make short calls faster or slower than
// long ones; from 256 MiB on all are alike.
uint8_t scale_of(uint64_t bytes);

// All calls are thread-safe, and good in a forked child.
class Throughput {
public:
    static constexpr int cores = -1;

    // threads: of all cores together.
    explicit Throughput(unsigned threads) : threads_(threads) {}

    // party: a GPU's number in the engine, or `cores`. What is not known is 0. For a GPU what it
    // did for other ciphers from there serves, for the cores what `calibrate` found.
    Speed of(const CallClass& call_class, int party) const;
    // One core on 64 KiB, once; nothing where that has no such shape in one message.
    void calibrate(const CallClass& call_class, const void* state);
    // A part of a call is done. Too little says nothing, nor does the first of its kind, which pays
    // for pinning, page faults and the like. Called by threads that nothing may be thrown from:
    // what there is no memory for is not learnt.
    void note(const CallClass& call_class, int party, bool shared, uint64_t bytes,
              double seconds) noexcept;

private:
    struct Figure {
        unsigned seen = 0;
        double rate = 0;
        uint64_t at = 0;  // of its kind's measurements, the last of this
    };
    using Key_ = std::tuple<CallClass, int, bool>;
    double known(const CallClass& call_class, int party, bool shared) const;
    void learn(const CallClass& call_class, int party, bool shared, double rate);

    const unsigned threads_;
    mutable ForkMutex mutex_;
    std::map<Key_, Figure> figures_;
    std::map<CallClass, uint64_t> measurements_;  // by kind: whoever did it
    std::map<CallClass, double> calibrated_;
};

}  // namespace warpseal
