// The short path of streamed messages, for the OpenSSL provider: OpenSSL passes updates of a few
// blocks, which take no longer than the calls from the provider to the backend would.
//
// Callers: StreamingContext (engine/calls/streaming.h), for the whole blocks of CBC, CFB and OFB;
// and the provider (provider/cipher_context.h, run_directly), to which StreamingContext hands the
// pointers after their self-test. Nothing else bypasses CpuCipher. The functions are in
// backends/cpu/block_loops.h.
#pragma once

#include "backends/cipher_backend.h"

namespace warpseal {

// Block loops of a cipher with 16-byte blocks on one CPU target. They take the state of its
// CpuCipher.
struct CpuBlockLoops {
    // Processes whole blocks, at least one; in CTR, at most 8192 bytes.
    // `feedback` is 16 bytes: the IV or the chaining value after the previous blocks, in CTR the
    // counter block. It is updated for the next block; ECB ignores it. in == out or disjoint, and
    // both disjoint from `feedback`. Null if there is no such loop.
    using Blocks = void (*)(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                            size_t bytes);
    Blocks blocks[WARPSEAL_MODE_COUNT][direction_count];  // ECB, CBC, CFB, OFB, CTR
};

// Exports of one object file: its ciphers and their loops. `loops` is null if their representations
// have none.
struct CpuBackend : CpuCipherSet {
    const CpuBlockLoops* loops;
};

// Returns the loops of a cipher that cpu_cipher returned. Null if it has none, and for any other
// cipher.
const CpuBlockLoops* cpu_block_loops(const CpuCipher& cipher);

}  // namespace warpseal
