// CBC: SP 800-38A section 6.2: decryption as a sweep, encryption as a chain.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep as in ecb.h whose mask is the ciphertext block before; that of the first block is the IV.
struct CbcDecryption {
    static constexpr bool has_iv = true;
    static constexpr bool keystream = false;
    static constexpr bool takes_previous = true;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B&) {
        return data;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B&, const B& previous, const B& out) {
        return out ^ previous;
    }
};

// A chain mode is three functions over whole blocks: what enters the cipher (`before`), what leaves
// the chain (`after`) and the state that the next block meets (`next`); the first meets the IV.
struct CbcEncryption {
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
