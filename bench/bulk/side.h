// One side of a measurement on the cores, ours or a yardstick's: buffers of each thread, calls, and
// the comparison of their outputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/bulk/reference.h"

namespace warpseal::bench {

// Buffers of one thread. Calls work in place, except opening, which would destroy its own input.
struct Buffers {
    std::vector<uint8_t> in, out, iv, keys, tags;
    uint64_t message_bytes;
    bool in_place;

    // `device` is the measured target, or empty: another one seals what is opened.
    Buffers(const BenchCase& what, const std::string& device, uint64_t bytes,
            uint64_t message_size);
    uint8_t* to() { return in_place ? in.data() : out.data(); }
    uint64_t count() const { return tags.size() / bench_tag_stride; }
    uint64_t length(uint64_t i) const {
        return std::min(message_bytes, in.size() - i * message_bytes);
    }
    // Sets a fresh IV for each sealing call. The first eight bytes count calls, the last four count
    // messages.
    void next_iv();
};

// Processes all messages of the buffers. Returns false on failure or a wrong tag.
bool call_reference(Reference& reference, const BenchCase& what, const Buffers& b,
                    const uint8_t* in, uint8_t* out, uint8_t* tags);

// One side of one thread; call() can be repeated.
class Side {
public:
    Side(const BenchCase& what, const std::string& device, uint64_t bytes, uint64_t message_bytes)
        : what_(what), buffers_(what, device, bytes, message_bytes) {}
    virtual ~Side() = default;
    // Processes the buffers once, sealing with fresh IVs.
    bool call();
    // Makes one more call on the current buffer content and compares it with `reference`. Throws
    // BenchWrong.
    void compare(Reference& reference);

protected:
    virtual bool process() = 0;
    const BenchCase what_;
    Buffers buffers_;
};

// Returns the GB/s of all threads together in one time window, with one side for each thread. Each
// thread's rate is based on the calls that it finished. `bytes` are those of one call.
double rate(const std::vector<Side*>& sides, double seconds, uint64_t bytes);

}  // namespace warpseal::bench
