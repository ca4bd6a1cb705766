// Minimum operations of a GPU for one block of each cipher, for the bounds of
// docs/design/tuning.md. bench/work counts them in src/ciphers.
#pragma once

#include <string>

namespace warpseal::bench {

struct CipherWork {
    const char* cipher;
    unsigned block_bytes;
    // Table lookups of a single block; 0: no table-based representation.
    unsigned lookups;
    unsigned pair_lookups;  // Lookups of a block in a sweep, which processes two at a time.
    // The part of `pair_lookups` that counter mode cannot reuse between blocks.
    unsigned counting_lookups;
    // Gates of the bitsliced representation for 32 blocks, without transpositions and key
    // additions; 0: not bitsliced.
    unsigned plane_gates;
    // XORs and rotations of the word-sliced representation; 0: no such representation.
    unsigned logic;
};

// Returns null if there is no such cipher.
const CipherWork* cipher_work(const std::string& cipher);

}  // namespace warpseal::bench
