// Digests of the outputs that every path of a cipher must give in its self-test.
#pragma once

#include <cstdint>

#include "warpseal/warpseal.h"

namespace warpseal {

// By direction; 0 if the cipher or the mode has no such cases. A digest is the first 64 bits of
// SHAKE256 over all outputs: a fault goes unnoticed with probability 2^-64.
struct ModeDigests {
    uint64_t messages[2];
    uint64_t batches[2];
};

struct CipherDigests {
    const char* cipher;
    uint64_t gcm_steps;
    ModeDigests modes[WARPSEAL_MODE_COUNT];
};

// Returns null if the table has no digests of a cipher of that name.
const CipherDigests* stored_digests(const char* cipher);

}  // namespace warpseal
