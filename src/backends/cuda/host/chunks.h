// Splits a call's work into chunks and runs them on slots, with one or more threads. Commits chunks
// in order up to the first failure.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "backends/cuda/host/slots.h"

namespace warpseal::cuda {

// Converts exceptions of `call` (out of memory, or a lock that cannot be acquired) to a status.
template <class Call>
warpseal_status caught(const Call& call) {
    try {
        return call();
    } catch (const std::exception&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
}

// Range [begin, end) in the work's own units (bytes or messages). `sequence` counts the chunks of a
// call from 0.
struct Chunk {
    uint64_t sequence, begin, end;
};

// The operations of one call. `queue` and `commit` run concurrently for different chunks.
class Work {
public:
    virtual ~Work() = default;
    virtual uint64_t end() const = 0;
    // Returns the minimum slot size in bytes for the chunk at `begin`.
    virtual size_t min_slot_bytes(uint64_t begin) const = 0;
    // Returns the end of the chunk that starts at `begin` and fits in `slot_bytes`. Called once for
    // each chunk, in order, before the chunk is queued.
    virtual uint64_t chunk_end(uint64_t begin, size_t slot_bytes) = 0;
    // Queues copies in, kernels and copies out on the slot's stream.
    virtual warpseal_status queue(Slot& slot, const Chunk& chunk) = 0;
    // Completes a chunk on the host. Called after the device finished this chunk and all chunks
    // before it. Must not fail.
    virtual void commit(Slot& slot, const Chunk& chunk) = 0;
};

// Number of feeder threads, slots for each thread, and how a thread waits for a chunk. A single
// thread polls because it has no other work. Several threads sleep, so that the cores are free for
// the other threads' copies.
struct Workers {
    int threads;
    int slots;
    bool polls;
};

// Runs all chunks of `work`. Sets *done to the end of the committed work, also on failure; nothing
// after it was committed.
warpseal_status run(int device, Work& work, const Workers& workers, uint64_t* done);

// Returns the preferred chunk size in bytes, from the limits in tuning.h.
// `before` is the number of bytes of the call before the chunk, `after` the number from its start
// to the end. `staged` is true if cores copy the data through the slots' pinned memory.
size_t chunk_bytes(uint64_t before, uint64_t after, bool staged);

// Copies from a slot's pinned memory to the caller's memory, which is not read again soon. With
// non-temporal stores, copies by several threads and the device do not evict each other's cache
// lines.
void copy_from_staging(uint8_t* to, const uint8_t* from, size_t bytes, bool non_temporal);

// Returns the threads and slots for staging `bytes` through pageable memory, within the process's
// CPU affinity.
Workers staging_workers(uint64_t bytes);
inline constexpr Workers direct_workers(int slots) { return {1, slots, true}; }

}  // namespace warpseal::cuda
