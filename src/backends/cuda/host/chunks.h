// Pieces: a call's work is cut in order, run on slots by one thread or several, and kept from the
// front up to the first piece that fails.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/host/slots.h"

namespace warpseal::cuda {

// [begin, end) in the work's own units (bytes, or messages), number `sequence` of the call.
struct Chunk {
    uint64_t sequence, begin, end;
};

// What a call does. `queue` and `keep` run on several threads at once, for different pieces.
class Work {
public:
    virtual ~Work() = default;
    virtual uint64_t end() const = 0;
    // Bytes of slot that the piece at `begin` needs at least.
    virtual size_t least_bytes(uint64_t begin) const = 0;
    // End of the piece that begins there and fits. Asked once for each piece, in order, before
    // anything of it is queued.
    virtual uint64_t cut(uint64_t begin, size_t slot_bytes) = 0;
    // Queues copies in, kernels and copies out on the slot's stream.
    virtual warpseal_status queue(Slot& slot, const Chunk& chunk) = 0;
    // After the device is done with this piece and all before it: what is left to the host. Cannot
    // fail.
    virtual void commit(Slot& slot, const Chunk& chunk) = 0;
};

// How many threads feed the device, and from how many slots each; whether they ask for the end of a
// piece, or sleep until told. One thread alone has nothing else to do; several leave the cores to
// each other's copies.
struct Workers {
    int threads;
    int slots;
    bool polls;
};

// Runs it all. *done: everything before it is kept, also on failure; nothing after it was kept.
warpseal_status run(int device, Work& work, const Workers& workers, uint64_t* done);

// How long a piece should be that has so many bytes of the call before it and, itself included, so
// many from its begin on: pieces grow and dwindle, so that both directions of the link are busy
// early and late. staged: through slots' pinned memory, copied by cores.
size_t chunk_bytes(uint64_t before, uint64_t after, bool staged);

// From a slot's pinned memory to memory that is not read again soon: past the caches where there is
// much of it, as the copies of several threads and the device's would push each other out.
void unstage(uint8_t* to, const uint8_t* from, size_t bytes, bool much);
inline constexpr uint64_t much_bytes = uint64_t{32} << 20;

// Threads for staging so many bytes through ordinary memory, within the process's affinity.
Workers staging_workers(uint64_t bytes);
inline constexpr Workers direct_workers(int slots) { return {1, slots, true}; }

}  // namespace warpseal::cuda
