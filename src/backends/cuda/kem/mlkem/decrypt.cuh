// ML-KEM decryption, with half a warp for each item (FIPS 203, algorithm 15).
#pragma once

#include "backends/cuda/kem/mlkem/vector.cuh"

namespace warpseal::cuda::mlkem {

// Shared memory of a half warp: a matrix, s, and the ciphertext.
template <int k>
struct Decryption {
    static constexpr int key = matrix_bytes,
                         ciphertext = key + round16(4 * staged_words(Set<k>::vector)),
                         half_bytes =
                             skewed(ciphertext + round16(4 * staged_words(Set<k>::ciphertext))),
                         shared_bytes = 2 * half_bytes;
};

// Returns column t of v - s u, at most q / 2 in magnitude.
template <int k>
__device__ __forceinline__ void subtract_product(Coefficients& c, const StagedString& s,
                                                 const StagedString& ciphertext, int16_t* matrix) {
    Coefficients sum = {};
    {
        const LaneFactors forward(forward_factors);
#pragma unroll 1
        for (int j = 0; j < k; ++j) {
            Coefficients u, row;
            int32_t by[8];
            decompress_column<Set<k>::du>(u, ciphertext, 8 * 32 * Set<k>::du * j);
            ntt(u, matrix, forward);
            times_gamma(by, u, forward);
            decode_row(row, s, j);
#pragma unroll
            for (int p = 0; p < 8; ++p)
                multiply_add_pair(sum, p, row[2 * p], row[2 * p + 1], u, by);
        }
    }
    reduce_all(sum);
    inverse_ntt(sum, matrix, LaneFactors(backward_factors));
    decompress_column<Set<k>::dv>(c, ciphertext, 8 * Set<k>::u);
#pragma unroll
    for (int j = 0; j < 16; ++j) {
        c[j] -= sum[j];
        c[j] -= (q / 2 - c[j]) >> 31 & q;
    }
}

template <int k>
__global__ void __launch_bounds__(tuning::mlkem_threads, tuning::mlkem_blocks)
    decrypt(const Job job) {
    using Shared = Decryption<k>;
    uint8_t* memory = warp_shared<Shared::shared_bytes>();
    const warpseal_kem_batch& batch = job.batch;
    const HalfItems items(batch.count);
    if (items.none()) return;
    const StagedString s = load_both<Set<k>::vector>(memory + Shared::key, Shared::half_bytes,
                                                     items, batch.secret_keys,
                                                     batch.secret_key_stride),
                       ciphertext = load_both<Set<k>::ciphertext>(
                           memory + Shared::ciphertext, Shared::half_bytes, items,
                           batch.ciphertexts, batch.ciphertext_stride);
    Coefficients c;
    subtract_product<k>(c, s, ciphertext,
                        reinterpret_cast<int16_t*>(memory + items.half * Shared::half_bytes));
    // The bits of row j are in the 16 lanes; lane j keeps them.
    uint32_t mine = 0;
#pragma unroll
    for (uint32_t j = 0; j < 16; ++j) {
        const uint32_t bits = __ballot_sync(0xffffffffu, compress<1>(c[j]) != 0);
        mine = j == half_lane() ? bits : mine;
    }
    if (items.has(items.half))
        reinterpret_cast<uint16_t*>(job.message + 32 * items.mine())[half_lane()] =
            static_cast<uint16_t>(mine >> (16 * items.half));
    wipe_shared<Shared::shared_bytes>(memory);
}

}  // namespace warpseal::cuda::mlkem
