// Slots: a stream with device memory and optional pinned memory, for one chunk at a time. A pool
// for each device bounds their number.
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
    size_t bytes = 0;           // of device memory, and of pinned memory
    int device_index = 0;

    // Allocates the slot's pinned memory if it has none.
    warpseal_status pin();
    // Records an event after the work queued so far; `wait` returns when it is complete. With
    // `poll`, and if no other call polls, `wait` polls for a limited time before it sleeps.
    warpseal_status record_done();
    warpseal_status wait(bool poll);

    // Queues a kernel that copies to or from pinned memory. Addresses and `bytes` must be multiples
    // of 4. A copy by the copy engine would delay other chunks' data for as long as half a MiB
    // takes.
    warpseal_status copy_by_kernel(void* to, const void* from, size_t bytes);

    // Records how much memory of the slot holds data, for `zeroize`.
    void mark_used(size_t device_bytes, size_t pinned_bytes);

    static warpseal_status create(int device_index, size_t bytes, Slot** out);
    // Zeroizes the memory that was used: pinned memory at once, device memory after the work in
    // flight. If it returns false, the slot is unusable and must be destroyed.
    bool zeroize();
    void destroy();

private:
    cudaEvent_t done_ = nullptr;
    size_t used_device_ = 0, used_pinned_ = 0;
};

// Returns a slot of at least `min_bytes` and preferably tuning::slot_bytes. The slot's device
// must be current.
// If none is free, waits if `wait`, else may set *out to null. For more than tuning::slot_bytes,
// creates a slot of that size for this one use.
// wanted_slots: while the device has fewer, creates one rather than taking a free one, unless the
// last attempt to create one found no memory.
warpseal_status acquire_slot(int device, size_t min_bytes, bool wait, Slot** out,
                             int wanted_slots = 0);
// The slot's stream may have work in flight that does not use the slot's pinned memory. The slot is
// then the last to be used again.
void release_slot(Slot* slot);

// Returns when the event is complete. `poll`: see Slot::wait.
warpseal_status wait_for(cudaEvent_t done, int device, bool poll);

}  // namespace warpseal::cuda
