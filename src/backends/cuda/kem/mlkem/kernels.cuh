// The kernels of each operation of ML-KEM, in order.
#pragma once

#include "backends/cuda/kem/mlkem/decrypt.cuh"
#include "backends/cuda/kem/mlkem/encrypt.cuh"
#include "backends/cuda/kem/mlkem/expand.cuh"
#include "backends/cuda/kem/mlkem/hash.cuh"
#include "backends/cuda/kem/mlkem/keypair.cuh"
#include "backends/cuda/kem/mlkem/workspace.cuh"

namespace warpseal::cuda::mlkem {

// Calls queue(kernel, warps, shared bytes of a warp, threads of a block) for each kernel.
template <int k, KemOperation operation, class Queue>
void queue_kernels(uint64_t count, Queue&& queue) {
    constexpr bool makes_keys = operation == KemOperation::keypair;
    // A lane for each item or polynomial, and half a warp for each item.
    const auto lanes = [&](void (*kernel)(Job), uint64_t states, int shared_bytes) {
        queue(kernel, (states + 31) / 32, shared_bytes, tuning::kem_hash_threads);
    };
    const auto halves = [&](void (*kernel)(Job), int shared_bytes) {
        queue(kernel, (count + 1) / 2, shared_bytes, tuning::mlkem_threads);
    };
    constexpr int staging = sponge::staging_bytes;
    if constexpr (makes_keys) lanes(keypair_seeds<k>, count, staging);
    if constexpr (operation == KemOperation::encapsulate)
        lanes(encapsulation_seeds<k>, count, staging);
    if constexpr (operation == KemOperation::decapsulate) {
        halves(decrypt<k>, Decryption<k>::shared_bytes);
        lanes(decapsulation_seeds<k>, count, staging);
    }
    lanes(draw_noise<k, makes_keys>, count * noise_polys<k, makes_keys>, 0);
    queue(expand_matrix<k, !makes_keys>, (count * (k * k) + 31) / 32, matrix_shared_bytes,
          tuning::mlkem_matrix_threads);
    if constexpr (makes_keys) {
        halves(keypair<k>, KeyGeneration<k>::shared_bytes);
        lanes(keypair_hash<k>, count, staging);
    }
    if constexpr (operation == KemOperation::encapsulate)
        halves(encapsulate<k>, Encryption<k>::shared_bytes);
    if constexpr (operation == KemOperation::decapsulate)
        halves(decapsulate<k>, Encryption<k>::shared_bytes);
}

}  // namespace warpseal::cuda::mlkem
