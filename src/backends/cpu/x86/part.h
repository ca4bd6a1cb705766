// Part of a vector, by way of the stack: no byte outside the given ones is read or written, and
// what is not there reads as zero.
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
