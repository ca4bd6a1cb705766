// S-boxes between the halves of a Feistel cipher in byte form.
#pragma once

#include "core/sbox.h"

namespace warpseal {

// Where the S-box instruction moves the blocks of a vector to other lanes, the halves of a cipher
// keep them in two orders: each S-box on the way to the right half moves them into its order and
// each one on the way back undoes that, and nobody pays for either. Vectors that know nothing of
// this have one order.
enum class Half { left, right };

template <class S, Half from, class V>
WARPSEAL_INLINE constexpr V substitute_across(const V& x) {
    if constexpr (requires { x.template across<S, from>(); })
        return x.template across<S, from>();
    else
        return substitute<S>(x);
}

// From the order that the blocks come in, which is that of the left half, to that of the right
// half; and back.
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
