// Two items of ML-KEM in a warp, one in each half, and products of their matrices and vectors.
#pragma once

#include "backends/cuda/kem/mlkem/codec.cuh"
#include "backends/cuda/kem/mlkem/job.cuh"

namespace warpseal::cuda::mlkem {

// The warp's items. A half without an item repeats the last one, and stores nothing.
struct HalfItems {
    uint64_t first, count;
    uint32_t half;  // of this lane

    __device__ __forceinline__ explicit HalfItems(uint64_t all)
        : first(2 * warp_item()), count(all), half(lane_id() / 16) {}
    __device__ __forceinline__ bool none() const { return first >= count; }
    __device__ __forceinline__ bool has(uint32_t i) const { return first + i < count; }
    __device__ __forceinline__ uint64_t of(uint32_t i) const {
        return has(i) ? first + i : count - 1;
    }
    __device__ __forceinline__ uint64_t mine() const { return of(half); }
};

// Rounds up so that the halves of a warp lie 16 banks apart.
constexpr int skewed(int bytes) { return (bytes + 63) / 128 * 128 + 64; }

// Loads a string of each item to `at` + i * apart bytes, with the whole warp, and returns the one
// of the lane's half.
template <int bytes>
__device__ __forceinline__ StagedString load_both(uint8_t* at, int apart, const HalfItems& items,
                                                  const uint8_t* from, uint64_t stride) {
    __syncwarp();
    for (uint32_t i = 0; i < 2; ++i)
        load_string<bytes>(reinterpret_cast<uint32_t*>(at + i * apart),
                           from + items.of(i) * stride);
    __syncwarp();
    const auto mine = reinterpret_cast<uintptr_t>(from + items.mine() * stride);
    return {reinterpret_cast<const uint32_t*>(at + items.half * apart),
            8 * static_cast<uint32_t>(mine % 4)};
}
// Calls store(i, words) for each item of the warp, with its string of `at` + i * apart bytes.
template <class Store>
__device__ __forceinline__ void store_both(const uint8_t* at, int apart, const HalfItems& items,
                                           const Store& store) {
    __syncwarp();
    for (uint32_t i = 0; i < 2; ++i)
        if (items.has(i)) store(i, reinterpret_cast<const uint32_t*>(at + i * apart));
    __syncwarp();
}

// Row t of a polynomial of the matrix, in device memory.
__device__ __forceinline__ void load_matrix_row(Coefficients& c, const int16_t* poly) {
    get_eight(c, poly + 16 * half_lane());
    get_eight(c + 8, poly + 16 * half_lane() + 8);
}
// Adds the product of a row of the matrix and a vector of factors in shared memory.
template <int k>
__device__ __forceinline__ void multiply_add_matrix(Coefficients& sum, const int16_t* row,
                                                    const int16_t* factors) {
#pragma unroll
    for (int j = 0; j < k; ++j) {
        Coefficients a;
        load_matrix_row(a, row + n * j);
        multiply_add(sum, a, factors + factor_numbers * j);
    }
}
// Adds the product of a vector of 12 bits a coefficient and a vector of factors. Returns all ones
// if a coefficient is q or more, else 0.
template <int k>
__device__ __forceinline__ int32_t multiply_add_string(Coefficients& sum,
                                                       const StagedString& string,
                                                       const int16_t* factors) {
    int32_t exceeds = 0;
#pragma unroll 1
    for (int j = 0; j < k; ++j) {
        Coefficients a;
        decode_row(a, string, j);
#pragma unroll
        for (const int32_t coefficient : a) exceeds |= (q - 1 - coefficient) >> 31;
        multiply_add(sum, a, factors + factor_numbers * j);
    }
    return exceeds;
}
__device__ __forceinline__ void reduce_all(Coefficients& c) {
#pragma unroll
    for (int32_t& coefficient : c) coefficient = reduce(coefficient);
}

}  // namespace warpseal::cuda::mlkem
