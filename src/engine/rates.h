// How fast each target has been in this engine: measured on the calls themselves, and for cores on a small text of zeros before the first.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "engine/limits.h"
#include "engine/plan.h"

namespace warpseal {

// What a measurement is of.
struct Pace {
    const CpuCipher* cipher;  // on the cores' target; a GPU's pace goes by it too
    warpseal_mode mode;
    Direction direction;
    Shape shape;
    Place place;

    bool operator<(const Pace& other) const {
        return std::tie(cipher, mode, direction, shape, place) <
               std::tie(other.cipher, other.mode, other.direction, other.shape, other.place);
    }
};

// All calls are thread-safe. Not for a forked child, whose parent may have held the lock.
class Rates {
public:
    static constexpr int cores = -1;

    // party: a GPU's number in the engine, or `cores`. What is not known is 0; of a GPU, what it did for other ciphers from there serves.
    Speed of(const Pace& pace, int party) const;
    // Gigabytes a second of all `threads`, as far as one of them on 64 KiB tells; measured once. 0: has no such shape in one message.
    double calibrated(const Pace& pace, const void* state, unsigned threads);
    // A part of a call is done. Too little says nothing, nor does the first of its kind, which pays for pinning, page faults and the like.
    // Called by threads that nothing may be thrown from: what there is no memory for is not learnt.
    void note(const Pace& pace, int party, bool shared, uint64_t bytes, double seconds) noexcept;

private:
    struct Figure {
        unsigned seen = 0;
        double rate = 0;
    };
    using Key_ = std::tuple<Pace, int, bool>;
    double known(const Pace& pace, int party, bool shared) const;
    void learn(const Pace& pace, int party, bool shared, double rate);

    mutable std::mutex mutex_;
    std::map<Key_, Figure> figures_;
    std::map<Pace, double> calibrated_;
};

}  // namespace warpseal
