// OFB: SP 800-38A section 6.4, as a chain, the same both ways.
#pragma once

#include "modes/cfb.h"

namespace warpseal::modes {

// As CFB (cbc.h says what a chain is), but what the cipher makes is itself what it meets next.
struct Ofb : CfbEncryption {
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B&, const B& out) {
        return out;
    }
};

}  // namespace warpseal::modes
