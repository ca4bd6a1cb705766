// Launch parameters of a step of NTRU's ladder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/ladder/kem.h"

namespace warpseal::ladder {

// Data of one launch in device memory, items side by side. `messages` are the inputs of a separate
// hash kernel, `wrong` the failures that decapsulation found.
struct KemJob {
    uint64_t count;
    const uint8_t *public_keys, *secret_keys;
    uint8_t *ciphertexts, *secrets, *messages;
    uint32_t* wrong;
};

struct KemStudy {
    // Takes a KemJob; persistent kernel with a grid-stride loop over items.
    const void* kernel;
    // Takes the same, launched afterwards with one thread for each item.
    const void* hash = nullptr;
    size_t message_bytes = 0;  // message bytes of an item between the two kernels
    int threads;               // threads per block, unless the caller sets it
    int threads_together = 1;  // The number of threads per block must be a multiple of this.
    size_t shared_bytes;
};
inline constexpr int hash_threads = 128;

// Data of one block of threads, which repeats the component `count` times in its own memory.
struct ComponentJob {
    uint64_t count;
    uint8_t* memory;  // filled before and checked afterwards
};

struct ComponentStudy {
    const void* kernel;  // takes a ComponentJob
    size_t bytes;        // size of the memory, a multiple of 4
    void (*on_host)(uint8_t* memory, uint64_t count);
};

}  // namespace warpseal::ladder
