// A batch with contiguous items and one array for each field, which the caller sets.
#pragma once

#include "warpseal/kem.h"

namespace tests {

// set: a KemSet, or the parameters of a scheme.
template <class Set>
warpseal_kem_batch contiguous_batch(const Set& set, uint64_t count) {
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_key_stride = set.public_key_bytes();
    batch.secret_key_stride = set.secret_key_bytes();
    batch.ciphertext_stride = set.ciphertext_bytes();
    if constexpr (requires { set.shared_secret_bytes(); })
        batch.shared_secret_stride = set.shared_secret_bytes();
    else
        batch.shared_secret_stride = Set::shared_secret_bytes;
    return batch;
}

}  // namespace tests
