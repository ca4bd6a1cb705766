// Slots: each a stream with device memory, and pinned memory when asked for, for one piece of work
// at a time; lent out, bounded in number.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/cipher_backend.h"

namespace warpseal::cuda {

class Slot {
public:
    cudaStream_t stream = nullptr;
    uint8_t* device = nullptr;
    uint8_t* pinned = nullptr;  // null until `pin`
    size_t bytes = 0;           // of either
    int device_index = 0;

    // Gives the slot its pinned memory.
    warpseal_status pin();
    // Marks what is queued so far; `wait` returns when it is done, without using the core meanwhile
    // but, if `asking` and no other call asks, for a first while.
    warpseal_status mark();
    warpseal_status wait(bool asking);

    // Queues a kernel that brings bytes [at, at + bytes) from there to the pinned memory, both
    // multiples of 4. A copy of its own would hold up those of other pieces' text for as long as
    // half a MiB of it takes.
    warpseal_status fetch_results(size_t at, size_t bytes);

    void uses(size_t device_bytes, size_t pinned_bytes);

    static warpseal_status create(int device_index, size_t bytes, Slot** out);
    // Wipes what was used. Nothing may be in flight. False: the slot is useless and must be
    // dropped.
    bool clean();
    void destroy();

private:
    bool asked_until_done();

    cudaEvent_t done_ = nullptr;
    size_t used_device_ = 0, used_pinned_ = 0;
};

// The device of the slot must be current. A slot of at least `least_bytes`, at best
// tuning::slot_bytes; waits for one if `wait`, else may give null. More than tuning::slot_bytes:
// one of that size, made for this once.
warpseal_status borrow(int device, size_t least_bytes, bool wait, Slot** out);
void give_back(Slot* slot);

}  // namespace warpseal::cuda
