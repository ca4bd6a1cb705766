// What one block of each cipher costs a GPU at least: the counts behind the bounds of
// docs/design/tuning.md. bench/work takes them from src/ciphers.
#pragma once

#include <string>

namespace warpseal::cli {

struct CipherWork {
    const char* cipher;
    unsigned block_bytes;
    unsigned lookups;           // in table form, of a block on its own; 0: no such form
    unsigned pair_lookups;      // of a block in a sweep, which goes two at a time
    unsigned counting_lookups;  // of those, what counter mode cannot take over from other blocks
    unsigned plane_gates;  // in plane form, for 32 blocks, without transpositions and additions of
                           // a key alone; 0: no such form
    unsigned logic;        // in word form: exclusive-ors and rotations; 0: no such form
};

// Null: no such cipher.
const CipherWork* cipher_work(const std::string& cipher);

}  // namespace warpseal::cli
