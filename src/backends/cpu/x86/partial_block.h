// Loads and stores of partial vectors through the stack. They access no other byte, and missing
// bytes read as zero.
#pragma once

#include "core/secret.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

template <class W>
WARPSEAL_INLINE typename W::V load_partial(const uint8_t* in, size_t bytes) {
    Secret<W::bytes> part;
    memcpy(part.data(), in, bytes);
    return W::load(part.data());
}

template <class W>
WARPSEAL_INLINE void store_partial(uint8_t* out, typename W::V v, size_t bytes) {
    SecretOf<uint8_t[W::bytes]> part;
    W::store(part.value, v);
    memcpy(out, part.value, bytes);
}

}  // namespace
}  // namespace warpseal::cpu
