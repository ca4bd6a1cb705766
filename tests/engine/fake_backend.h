// A GPU's door played by the cores, with a script: which step fails and how. Lets a machine without
// a GPU go through every way of losing one.
#pragma once

#include <cstdint>

#include "backends/gpu_backend.h"

namespace tests {

// Steps are counted from 1: every call through the door that can fail, and every 4 KiB, message or
// item within a host-memory call.
struct Script {
    uint64_t fail_at = 0;  // 0: never
    warpseal_status failure = WARPSEAL_NO_DEVICE;
    int fail_device = -1;         // this device fails at each of its steps
    uint64_t fail_device_at = 0;  // from that one on
    bool passing = false;         // WARPSEAL_NO_DEVICE is an error that passes, not a loss
    int device_count = 1;
    // Which answers are wrong, as bits (1 << (2 * mode + direction)): through host memory, and on
    // device memory.
    uint32_t wrong_host = 0;
    uint32_t wrong_device = 0;
    bool wrong_batches_only = false;
    uint32_t wrong_kem = 0;         // as bits (1 << KemOperation)
    int wrong_gpu = -1;             // that one alone; -1: all
    bool all_pinned = false;        // whatever host memory is asked about
    size_t most_pinned = SIZE_MAX;  // unless it is longer

    // What happened.
    uint64_t steps = 0;
    uint64_t calls_after_lost = 0;
    uint64_t host_calls = 0;
    uint64_t steps_of[16] = {}, host_calls_of[16] = {};  // by device
    uint64_t forgotten = 0;
    void* last_stream = nullptr;  // of calls on device memory
    uint64_t live_device_allocations = 0;
    size_t last_freed_bytes = 0;
    uint64_t live_host_allocations = 0;
    bool lost = false;
};

// The script in force; every scripted door follows it.
Script& script();

// Starts a fresh script. The door is new too: no self-test has gone through it yet, as in a new
// process.
const warpseal::GpuBackend* fake_backend(const Script& script = {});

}  // namespace tests
