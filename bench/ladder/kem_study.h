// How a step of NTRU's ladder is launched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ladder/kem.h"

namespace warpseal::ladder {

// What one launch works on, in device memory, items side by side. `messages` are what is hashed
// where a kernel of its own does that, and `wrong` what decapsulation found.
struct KemJob {
    uint64_t count;
    const uint8_t *public_keys, *secret_keys;
    uint8_t *ciphertexts, *secrets, *messages;
    uint32_t* wrong;
};

struct KemStudy {
    const void* kernel;          // of a KemJob; blocks of threads stay and take the next item
    const void* hash = nullptr;  // the same, launched after it, a thread for each item
    size_t message_bytes = 0;    // of an item, between the two
    int threads;                 // in a block of threads, unless the caller asks for others
    size_t shared_bytes;
};
inline constexpr int hash_threads = 128;

// Of one block of threads, which does the same so many times in its own memory.
struct ComponentJob {
    uint64_t count;
    uint8_t* memory;  // filled before and looked at behind
};

struct ComponentStudy {
    const void* kernel;  // of a ComponentJob
    size_t bytes;        // of the memory, whole words of 32 bits
    void (*on_host)(uint8_t* memory, uint64_t count);
};

}  // namespace warpseal::ladder
