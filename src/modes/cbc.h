// CBC (SP 800-38A section 6.2): decryption is a sweep, encryption is a chain.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode, see ecb.h. `previous` is the previous ciphertext block, or the IV for the first
// block.
struct CbcDecryption {
    static constexpr bool has_iv = true;
    static constexpr bool keystream = false;
    static constexpr bool takes_previous = true;
    static constexpr bool whole_blocks = true;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B&) {
        return data;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B&, const B& previous, const B& out) {
        return out ^ previous;
    }
};

// A chain mode is three functions over whole blocks. `before` returns the input of the cipher,
// `after` the output of the mode, and `next` the state for the next block. The first state is the
// IV. whole_blocks: the text must not end with a partial block, which other modes truncate.
struct CbcEncryption {
    static constexpr bool whole_blocks = true;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B& state) {
        return data ^ state;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B&, const B& out) {
        return out;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B&, const B& out) {
        return out;
    }
};

}  // namespace warpseal::modes
