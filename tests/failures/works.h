// Work for the tests of injected faults: calls of every function of the C interface, in a process
// of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpseal/warpseal.h"

namespace works {

// Calls functions until one does not return WARPSEAL_OK, frees its objects, and returns that
// status. Wrong results, and outputs that must not be there, end the process: handles.h.
using Work = warpseal_status (*)();
inline constexpr int wrong = 99;

// Input of every work: bytes without a pattern that an output is filled with. They are static, as
// the work's own buffers must not be refused.
inline constexpr size_t most_bytes = 1 << 20;
extern uint8_t text[most_bytes];
// Bytes of it that are used: enough for all threads on the cores, and few on the fake GPU, which
// counts each 4 KiB as a step.
extern size_t text_bytes;
extern const uint8_t secret[64];

// Computes what the works need on the device, and runs their self-tests. Called before them.
void prepare();

// The public function in which the first fault of this process happened; null: none did.
extern const char* failed_function;

// Cipher calls (works_messages.cpp), with the outputs of `prepare` to compare with.
void prepare_messages();
warpseal_status messages();
warpseal_status batches();
// Host memory, catalogues, random bytes (works_memory.cpp).
warpseal_status catalogue();
warpseal_status host_memory();
warpseal_status drbg();
// Files (works_files.cpp).
void prepare_files();
warpseal_status files();
// Readers, and messages in updates (works_reader.cpp).
warpseal_status reader();
warpseal_status updates();
// Key encapsulation (works_kem.cpp).
void prepare_kem();
warpseal_status kem_one();
warpseal_status kem_many();
warpseal_status kem_shared_key();
warpseal_status kem_keys();
warpseal_status pool();
warpseal_status batcher();
// Device memory, with the fake GPU (works_device.cpp).
warpseal_status device_memory();
warpseal_status device_batches();
warpseal_status device_openings();
warpseal_status device_kem();
warpseal_status device_files();
// An engine and a key that are tested before their first use: in a process without results of
// self-tests.
warpseal_status self_test();

}  // namespace works
