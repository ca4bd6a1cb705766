// NTRU key pairs under construction, in device memory between kernels.
#pragma once

#include "backends/cuda/kem/ntru/item.cuh"
#include "backends/cuda/kem/ntru/poly.cuh"

namespace warpseal::cuda::ntru {

// Bands of n bytes: the digits of f, the signed bytes of G, and a = f G, which is to be inverted. G
// is 3 g or 3 (x - 1) g. For the pairs of a group up to this one, also the products of all f in S3
// and of all a. 1 / a finally replaces the latter.
enum PairBand {
    pair_f,
    pair_g,
    pair_a_low,
    pair_a_high,
    pair_s3_product,
    pair_product_low,
    pair_product_high,
    pair_band_count
};

// Parameters of the key generation kernels. `usable` is all ones for each pair that exists. `group`
// consecutive pairs are inverted together.
struct PairJob {
    warpseal_kem_batch batch;
    uint8_t* pairs;
    uint32_t* usable;
    uint32_t group;
};

template <class R>
inline constexpr size_t pair_band_bytes = round16(R::n + 3);

template <class R>
__device__ __forceinline__ uint8_t* pair_band(const PairJob& job, uint64_t item, PairBand which) {
    return job.pairs + (item * pair_band_count + which) * pair_band_bytes<R>;
}
template <class R>
__device__ __forceinline__ void load_band(uint8_t* band, const PairJob& job, uint64_t item,
                                          PairBand which) {
    const uint8_t* from = pair_band<R>(job, item, which);
#pragma unroll
    for (int first = 0; first < R::n; first += 128) {
        const int i = first + 4 * static_cast<int>(lane_id());
        if (i < R::n) put_word(band + i, word_at(from + i));
    }
}
template <class R>
__device__ __forceinline__ void store_band(const uint8_t* band, const PairJob& job, uint64_t item,
                                           PairBand which) {
    uint8_t* to = pair_band<R>(job, item, which);
#pragma unroll
    for (int first = 0; first < R::n; first += 128) {
        const int i = first + 4 * static_cast<int>(lane_id());
        if (i < R::n) put_word(to + i, word_at(band + i));
    }
}

}  // namespace warpseal::cuda::ntru
