// ECB (SP 800-38A section 6.1) as a sweep: blocks are independent.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode is three functions over whole blocks. mask(iv, i) returns the counter block or tweak
// of block i, `before` the input of the cipher, and `after` the output of the mode. B is a Block,
// or a vector of several blocks.
struct Ecb {
    static constexpr bool has_iv = false;
    // True if decryption also encrypts, and the last block may be partial.
    static constexpr bool keystream = false;
    // True if the functions take the previous ciphertext block as `mask`.
    static constexpr bool takes_previous = false;

    template <int n>
    WARPSEAL_INLINE static constexpr Block<n> mask(const Block<n>&, uint64_t) {
        return {};
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B&) {
        return data;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B&, const B&, const B& out) {
        return out;
    }
};

}  // namespace warpseal::modes
