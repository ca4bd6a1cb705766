// ECB: SP 800-38A section 6.1, as a sweep: each block for itself.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode is three functions over whole blocks: mask(iv, i) of block i, what enters the cipher
// (`before`), and what leaves the sweep (`after`). B is a Block, or a vector of several.
struct Ecb {
    static constexpr bool has_iv = false;
    static constexpr bool keystream =
        false;  // true: decryption encrypts too, and the last block need not be whole
    static constexpr bool takes_previous = false;  // the ciphertext block before is the mask

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
