// S-boxes between the halves of a byte-sliced Feistel cipher.
#pragma once

#include "core/sbox.h"

namespace warpseal {

// An S-box instruction may move the blocks of a vector to other lanes. The two halves of a cipher
// then keep their blocks in different orders. Each S-box toward the right half moves blocks into
// its order, and each S-box back undoes this, at no cost. Vectors without such an instruction use
// one order.
enum class Half { left, right };

template <class S, Half from, class V>
WARPSEAL_INLINE constexpr V substitute_across(const V& x) {
    if constexpr (requires { x.template across<S, from>(); })
        return x.template across<S, from>();
    else
        return substitute<S>(x);
}

// Convert from the order of the input, which is that of the left half, to the order of the right
// half, and back.
template <class V>
WARPSEAL_INLINE constexpr V enter_right(const V& x) {
    if constexpr (requires { x.enter_right(); })
        return x.enter_right();
    else
        return x;
}
template <class V>
WARPSEAL_INLINE constexpr V leave_right(const V& x) {
    if constexpr (requires { x.leave_right(); })
        return x.leave_right();
    else
        return x;
}

}  // namespace warpseal
