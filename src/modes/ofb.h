// OFB: SP 800-38A section 6.4, as a chain, the same both ways.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// See cbc.h.
struct Ofb {
    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B&, const B& state) {
        return state;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B& data, const B& out) {
        return data ^ out;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B&, const B& out) {
        return out;
    }
};

}  // namespace warpseal::modes
