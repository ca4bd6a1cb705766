// Parameters of ML-KEM's kernels: the batch, and scratch memory between the kernels.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "kem/mlkem_params.h"
#include "warpseal/kem.h"

namespace warpseal::cuda::mlkem {

using kem::MlKemParams;

constexpr const MlKemParams& set_of(int k) { return *kem::mlkem_sets[k - 2]; }

// The parameter set with this k. Kernels are templates over k, because nvcc cannot name a kernel
// with a reference parameter. Lengths are in bytes.
template <int k>
struct Set {
    static_assert(set_of(k).k == k);
    static constexpr int eta1 = set_of(k).eta1, eta2 = set_of(k).eta2, du = set_of(k).du,
                         dv = set_of(k).dv;
    static constexpr int vector = static_cast<int>(set_of(k).vector_bytes()),
                         public_key = static_cast<int>(set_of(k).public_key_bytes()),
                         ciphertext = static_cast<int>(set_of(k).ciphertext_bytes()),
                         u = static_cast<int>(set_of(k).u_bytes());
};

// Pointers to scratch are to item 0; each item has 32 bytes of the arrays of bytes.
struct Job {
    warpseal_kem_batch batch;
    // Seed of the matrix (rho), with its stride: in the public keys, or in scratch.
    const uint8_t* matrix_seed;
    uint64_t matrix_seed_stride;
    uint8_t* rho;       // of key generation
    uint8_t* seed;      // of the noise: sigma or r
    uint8_t* key;       // K, before the ciphertext is checked
    uint8_t* rejected;  // the secret of a rejected ciphertext
    uint8_t* message;   // m, decrypted
    uint32_t* refused;  // 1 for a decapsulation key with a wrong hash, else 0
    uint32_t* noise;    // see codec.cuh
    int16_t* matrix;    // k^2 polynomials of each item, by rows
};

// Polynomials of noise for each item: s and e, or y, e1 and e2.
template <int k, bool keypair>
inline constexpr uint32_t noise_polys = keypair ? 2 * k : 2 * k + 1;

}  // namespace warpseal::cuda::mlkem
