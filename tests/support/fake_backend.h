// A fake GPU backend on the cores whose script sets which step fails and how. Covers every device
// failure on a machine without a GPU.
#pragma once

#include <cstdint>
#include <functional>

#include "backends/gpu_backend.h"

namespace tests {

// Steps are counted from 1: every backend call that can fail, and every 4 KiB, message or item
// within a host-memory call.
struct Script {
    uint64_t fail_at = 0;  // 0: never
    warpseal_status failure = WARPSEAL_NO_DEVICE;
    int fail_device = -1;         // this device fails at each of its steps
    uint64_t fail_device_at = 0;  // from that step on
    bool passing = false;         // WARPSEAL_NO_DEVICE is a transient error, not a loss
    int device_count = 1;
    // Bit mask of wrong outputs (1 << (2 * mode + direction)): through host memory, and on device
    // memory.
    uint32_t wrong_host = 0;
    uint32_t wrong_device = 0;
    bool wrong_batches_only = false;
    uint32_t wrong_kem = 0;         // bit mask of 1 << KemOperation
    bool wrong_drbg = false;        // random bytes in device memory
    bool wrong_ivs = false;         // drawn IVs: all are one
    int wrong_gpu = -1;             // that GPU alone; -1: all
    bool all_pinned = false;        // reports all host memory as pinned
    size_t most_pinned = SIZE_MAX;  // unless it is longer
    size_t pinnable = SIZE_MAX;     // most allocations of pinned memory at a time
    // Called where a caller waits for a batch with text in device memory.
    std::function<void()> before_resident_ends = {};

    // Counters of the run.
    uint64_t steps = 0;
    uint64_t calls_after_lost = 0;
    uint64_t host_calls = 0;
    uint64_t resident_calls = 0;                         // of them those with text in device memory
    uint64_t resident_in_flight = 0;                     // of these those that no caller waited for
    uint64_t steps_of[16] = {}, host_calls_of[16] = {};  // by device
    uint64_t zeroized = 0;
    void* last_stream = nullptr;           // of calls on device memory
    uint64_t scratch_allocations = 0;      // of batches on device memory without a workspace
    uint64_t live_device_allocations = 0;  // but for the counters of drawn IVs
    uint64_t live_iv_counters = 0;
    size_t last_freed_bytes = 0;
    uint64_t host_allocations = 0, live_host_allocations = 0;
    bool lost = false;
};

// Returns the current script, which every fake backend follows.
Script& script();

// The device is lost once it has made `more` further steps. Calls may be in progress.
void lose_fake_gpu(uint64_t more);

// Starts a fresh script. The backend is new too: it has no self-test results, as in a new process.
const warpseal::GpuBackend* fake_backend(const Script& script = {});

}  // namespace tests
