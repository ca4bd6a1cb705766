// The steps of hybrids beside those of their halves: X-Wing's expansion of a seed, its combiner,
// and the statuses of all hybrids.
#pragma once

#include "backends/cipher_backend.h"
#include "backends/cuda/kem/lanes.h"
#include "kem/hybrid_params.h"

namespace warpseal::cuda::hybrid {

// X-Wing's seeds, of 32 bytes, and their expansions: d and z of ML-KEM, then X25519's scalar.
struct ExpandJob {
    uint64_t count;
    Input seeds;
    Output expanded;
    Output copies;  // of the seeds; none if null
};

// The results of both halves, and where they go. Arrays that are not used are null.
struct CombineJob {
    uint64_t count;
    Input x25519_secrets;
    // ML-KEM's results. X-Wing reads its secrets from mlkem_secrets. Otherwise ML-KEM has written
    // them to the first half of `secrets`.
    const int32_t* mlkem_statuses;
    Input mlkem_secrets;
    // X-Wing hashes X25519's halves of the ciphertexts and public keys.
    Input x25519_ciphertexts, x25519_public_keys;
    Output secrets;
    Output ciphertexts;  // whole; zeroized for a refused item
    int32_t* statuses;
};

// Each queues its job on a stream of the current device.
warpseal_status expand(const ExpandJob& job, void* stream);
warpseal_status combine(kem::Combiner combiner, const CombineJob& job, void* stream);

}  // namespace warpseal::cuda::hybrid
