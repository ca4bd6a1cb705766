// The door past ops.h for short pieces of a message: straight to the loop of a form that has one,
// as what lies between would cost as much.
#pragma once

#include "backends/cipher_backend.h"

namespace warpseal {

// Of a cipher of 16-byte blocks on one CPU target, beside its CpuCipher, whose state it takes.
struct CpuBlockLoops {
    // Whole blocks, one at least; CTR: at most 8192 bytes. `feedback`, 16 bytes, is what the first
    // of them meets (the IV, or what the blocks before left there; CTR: its counter block), and
    // becomes what the next one would; ECB leaves it alone. in == out or disjoint, and both apart
    // from `feedback`. Null: no such loop.
    using Blocks = void (*)(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                            size_t bytes);
    Blocks blocks[WARPSEAL_MODE_COUNT][direction_count];  // ECB, CBC, CFB, OFB, CTR
};

// What one object file exports: its ciphers, and the loops of each; null if their forms have none.
struct CpuBackend : CpuCipherSet {
    const CpuBlockLoops* loops;
};

// Those of a cipher that cpu_cipher gave; null if it has none, and for any other.
const CpuBlockLoops* cpu_block_loops(const CpuCipher& cipher);

}  // namespace warpseal
