// CTR (SP 800-38A section 6.5) as a sweep. The counter is the whole block, big-endian, modulo
// 2^(block bits).
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode, see ecb.h.
struct Ctr {
    static constexpr bool has_iv = true;
    static constexpr bool keystream = true;
    static constexpr bool takes_previous = false;
    template <int n>
    static constexpr int counting_words = n;

    template <int n>
    WARPSEAL_INLINE static constexpr Block<n> mask(const Block<n>& iv, uint64_t i) {
        return add_big_endian<n>(iv, i);
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B&, const B& mask) {
        return mask;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B& data, const B&, const B& out) {
        return data ^ out;
    }
};

}  // namespace warpseal::modes
