// OFB (SP 800-38A section 6.4) as a chain, the same in both directions.
#pragma once

#include "modes/cfb.h"

namespace warpseal::modes {

// A chain mode, see cbc.h. Like CFB, but the next state is the output of the cipher.
struct Ofb : CfbEncryption {
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B&, const B& out) {
        return out;
    }
};

}  // namespace warpseal::modes
