// CFB with segments of a whole block (SP 800-38A section 6.3): decryption is a sweep, encryption is
// a chain.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode, see ecb.h. The cipher encrypts the previous ciphertext block.
struct CfbDecryption {
    static constexpr bool has_iv = true;
    static constexpr bool keystream = true;
    static constexpr bool takes_previous = true;
    static constexpr bool whole_blocks = false;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B&, const B& previous) {
        return previous;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B& data, const B&, const B& out) {
        return data ^ out;
    }
};

// A chain mode, see cbc.h.
struct CfbEncryption {
    static constexpr bool whole_blocks = false;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B&, const B& state) {
        return state;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B& data, const B& out) {
        return data ^ out;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B& data, const B& out) {
        return data ^ out;
    }
};

}  // namespace warpseal::modes
