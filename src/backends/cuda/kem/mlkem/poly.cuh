// Polynomials of ML-KEM in half a warp, 16 coefficients in each of its 16 lanes: arithmetic modulo
// q, the number-theoretic transform and products (FIPS 203, section 4.3).
#pragma once

#include "backends/cuda/kem/warp.cuh"
#include "kem/mlkem.h"

namespace warpseal::cuda::mlkem {

using kem::MlKemParams;
using kem::mlkem::n, kem::mlkem::q;

// The 256 coefficients are a matrix: coefficient 16 r + c is in row r and column c. Lane t of a
// half warp holds column t or row t of it. Four layers of the transform work within columns, and
// three and the products within rows.
using Coefficients = int32_t[16];
__device__ __forceinline__ uint32_t half_lane() { return threadIdx.x % 16; }

// --- arithmetic modulo q

// 1 / q modulo 2^32: each step doubles the number of right bits.
constexpr uint32_t inverse_of_q() {
    uint32_t x = q;
    for (int i = 0; i < 4; ++i) x *= 2 - x * uint32_t{q};
    return x;
}
inline constexpr uint32_t q_inverse = inverse_of_q();
static_assert(q_inverse * uint32_t{q} == 1);

// Returns the residue closest to zero.
constexpr int centred(int64_t x) {
    const int residue = static_cast<int>((x % q + q) % q);
    return residue > q / 2 ? residue - q : residue;
}
inline constexpr int minus_2_to_32 = centred(-(int64_t{1} << 32));

// Returns m with m 2^32 = p q - x, for p = x / q modulo 2^32: that is -x / 2^32 modulo q, at most
// 1665 in magnitude (Plantard's reduction, signed). With p = 2^16 high + low, high q / 2^16 exceeds
// m by (x - low q) / 2^32; adding 8 q before the shift keeps that in [0, 1) for all x from -1.5e9.
__device__ __forceinline__ int32_t reduce_quotient(uint32_t p) {
    return ((static_cast<int32_t>(p) >> 16) * q + 8 * q) >> 16;
}
inline constexpr int64_t least_product = -1500000000, most_product = INT32_MAX;
static_assert(least_product - int64_t{65535} * q + (int64_t{8 * q} << 16) >= 0 &&
              most_product + (int64_t{8 * q} << 16) < int64_t{1} << 32);

// Returns -x / 2^32 modulo q for least_product <= x, at most 1665 in magnitude.
__device__ __forceinline__ int32_t reduce(int32_t x) {
    return reduce_quotient(static_cast<uint32_t>(x) * q_inverse);
}
// A constant factor, in the form that multiply() takes.
constexpr uint32_t factor(int x) {
    return static_cast<uint32_t>(centred(int64_t{x} * minus_2_to_32)) * q_inverse;
}
// Returns a x modulo q for factor(x), at most 1665 in magnitude; |a| <= most_factor.
inline constexpr int32_t most_factor = 900000;
static_assert(int64_t{most_factor} * (q / 2) <= -least_product);
__device__ __forceinline__ int32_t multiply(int32_t a, uint32_t factor_of_x) {
    return reduce_quotient(static_cast<uint32_t>(a) * factor_of_x);
}
// Reduces a number from -q to q - 1 to [0, q).
__device__ __forceinline__ int32_t canonical(int32_t a) { return a + (a >> 31 & q); }

// Compress_d of any residue of at most 4095 in magnitude, exactly, by a product and no division
// (equation 4.7): bits 29 - d and up of 2^29 a / q, rounded.
inline constexpr int32_t compress_factor = 1321131424;  // 2^42 / q, rounded
static_assert(2 * ((int64_t{1} << 42) - int64_t{compress_factor} * q) < q &&
              2 * ((int64_t{1} << 42) - int64_t{compress_factor} * q) > -q);
template <int d>
__device__ __forceinline__ uint32_t compress(int32_t a) {
    const int32_t scaled = __mulhi(a * (1 << 19), compress_factor);
    return static_cast<uint32_t>((scaled + (1 << (28 - d))) >> (29 - d)) & ((1u << d) - 1);
}
// Decompress_d of [0, 2^d) (equation 4.8).
template <int d>
__device__ __forceinline__ int32_t decompress(uint32_t a) {
    return static_cast<int32_t>((a * q + (1u << (d - 1))) >> d);
}

// --- factors of the transform

struct RowFactors {
    uint32_t of[16];  // zeta, by the index in FIPS 203
};
constexpr int power_of_zeta(int i) { return kem::mlkem::power(17, kem::mlkem::reverse7(i)); }
constexpr RowFactors make_row_factors() {
    RowFactors out{};
    for (int i = 1; i < 16; ++i) out.of[i] = factor(power_of_zeta(i));
    return out;
}
__constant__ const RowFactors row_factors = make_row_factors();

// Factors of the layers within rows: of length 8, 4 and 2, for the groups of lane t.
inline constexpr int lane_factor_count = 7;
struct LaneFactorTable {
    uint32_t of[lane_factor_count][16];
};
constexpr LaneFactorTable make_lane_factors(bool inverse) {
    LaneFactorTable out{};
    for (int t = 0; t < 16; ++t)
        for (int i = 0; i < lane_factor_count; ++i) {
            const int groups = i == 0 ? 1 : i < 3 ? 2 : 4;  // in a row
            const int group = groups * t + i + 1 - groups;
            out.of[i][t] =
                factor(power_of_zeta(inverse ? 32 * groups - 1 - group : 16 * groups + group));
        }
    return out;
}
__device__ const LaneFactorTable forward_factors = make_lane_factors(false);
__device__ const LaneFactorTable backward_factors = make_lane_factors(true);

struct LaneFactors {
    uint32_t of[lane_factor_count];

    __device__ __forceinline__ explicit LaneFactors(const LaneFactorTable& table) {
#pragma unroll
        for (int i = 0; i < lane_factor_count; ++i) of[i] = table.of[i][half_lane()];
    }
};
// Index of the factor of column c in the layer between columns `apart` = 8, 4 or 2 apart.
constexpr int lane_factor(int apart, int c) { return 8 / apart - 1 + c / (2 * apart); }

// --- transforms

// Each forward layer adds at most 1665 to the magnitude, and each backward one doubles it.
__device__ __forceinline__ void forward(int32_t& a, int32_t& b, uint32_t zeta) {
    const int32_t product = multiply(b, zeta);
    b = a - product;
    a += product;
}
__device__ __forceinline__ void backward(int32_t& a, int32_t& b, uint32_t zeta) {
    const int32_t difference = b - a;
    a += b;
    b = multiply(difference, zeta);
}

// Layers of length 128 to 16, on a column.
__device__ __forceinline__ void forward_column(Coefficients& c) {
#pragma unroll
    for (int apart = 8; apart > 0; apart /= 2)
#pragma unroll
        for (int j = 0; j < 16; ++j)
            if ((j & apart) == 0)
                forward(c[j], c[j + apart], row_factors.of[8 / apart + j / (2 * apart)]);
}
// Layers of length 8 to 2, on a row.
__device__ __forceinline__ void forward_row(Coefficients& c, const LaneFactors& factors) {
#pragma unroll
    for (int apart = 8; apart > 1; apart /= 2)
#pragma unroll
        for (int j = 0; j < 16; ++j)
            if ((j & apart) == 0) forward(c[j], c[j + apart], factors.of[lane_factor(apart, j)]);
}
__device__ __forceinline__ void backward_row(Coefficients& c, const LaneFactors& factors) {
#pragma unroll
    for (int apart = 2; apart <= 8; apart *= 2)
#pragma unroll
        for (int j = 0; j < 16; ++j)
            if ((j & apart) == 0) backward(c[j], c[j + apart], factors.of[lane_factor(apart, j)]);
}
// The last layers, the factor 1 / 128, and the factor -2^32 by which reduce() has divided.
__device__ __forceinline__ void backward_column(Coefficients& c) {
#pragma unroll
    for (int apart = 1; apart <= 8; apart *= 2)
#pragma unroll
        for (int j = 0; j < 16; ++j)
            if ((j & apart) == 0)
                backward(c[j], c[j + apart], row_factors.of[16 / apart - 1 - j / (2 * apart)]);
    constexpr uint32_t scale = factor(kem::mlkem::power(128, q - 2) * minus_2_to_32);
#pragma unroll
    for (int32_t& coefficient : c) coefficient = multiply(coefficient, scale);
}

// --- polynomials in shared memory

// Numbers of 16 bits. Columns 0 to 7 and 8 to 15 are apart, so that lanes read and write rows
// without bank conflicts.
inline constexpr int plane = 136, matrix_numbers = 2 * plane - 8;
inline constexpr int matrix_bytes = 2 * matrix_numbers;
static_assert(matrix_bytes % 16 == 0);

__device__ __forceinline__ int16_t* column_of(int16_t* matrix) {
    return matrix + half_lane() / 8 * plane + half_lane() % 8;
}
__device__ __forceinline__ void put_column(int16_t* matrix, const Coefficients& c) {
    int16_t* column = column_of(matrix);
#pragma unroll
    for (int j = 0; j < 16; ++j) column[8 * j] = static_cast<int16_t>(c[j]);
}
__device__ __forceinline__ void get_column(Coefficients& c, int16_t* matrix) {
    const int16_t* column = column_of(matrix);
#pragma unroll
    for (int j = 0; j < 16; ++j) c[j] = column[8 * j];
}
__device__ __forceinline__ uint32_t two(int32_t low, int32_t high) {
    return __byte_perm(static_cast<uint32_t>(low), static_cast<uint32_t>(high), 0x5410);
}
// Eight consecutive numbers in 16 bytes.
__device__ __forceinline__ uint4 eight(const int32_t* c) {
    return {two(c[0], c[1]), two(c[2], c[3]), two(c[4], c[5]), two(c[6], c[7])};
}
__device__ __forceinline__ void put_eight(int16_t* to, const int32_t* c) {
    *reinterpret_cast<uint4*>(to) = eight(c);
}
__device__ __forceinline__ void get_eight(int32_t* c, const int16_t* from) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        c[2 * i] = static_cast<int16_t>(word[i]);
        c[2 * i + 1] = static_cast<int32_t>(word[i]) >> 16;
    }
}
__device__ __forceinline__ void put_row(int16_t* matrix, const Coefficients& c) {
    put_eight(matrix + 8 * half_lane(), c);
    put_eight(matrix + plane + 8 * half_lane(), c + 8);
}
__device__ __forceinline__ void get_row(Coefficients& c, const int16_t* matrix) {
    get_eight(c, matrix + 8 * half_lane());
    get_eight(c + 8, matrix + plane + 8 * half_lane());
}

// Transforms a column to a row (algorithm 9). Input of at most 4992 in magnitude; output 11655
// more.
__device__ __forceinline__ void ntt(Coefficients& c, int16_t* matrix, const LaneFactors& factors) {
    forward_column(c);
    __syncwarp();
    put_column(matrix, c);
    __syncwarp();
    get_row(c, matrix);
    forward_row(c, factors);
}
inline constexpr int most_input = 4992, most_transformed = most_input + 7 * 1665;
static_assert(most_transformed <= INT16_MAX && 8 * 1665 <= INT16_MAX);
static_assert(128 * 1665 <= most_factor);

// Transforms a row of numbers that reduce() returned to a column (algorithm 10), times -2^32.
// Output of at most 1665 in magnitude.
__device__ __forceinline__ void inverse_ntt(Coefficients& c, int16_t* matrix,
                                            const LaneFactors& factors) {
    backward_row(c, factors);
    __syncwarp();
    put_row(matrix, c);
    __syncwarp();
    get_column(c, matrix);
    backward_column(c);
}

// --- products

// A transformed polynomial as the right factor of products: its matrix, and the linear terms times
// gamma, the root that X^2 is congruent to.
inline constexpr int factor_bytes = matrix_bytes + 16 * 16;
inline constexpr int factor_numbers = factor_bytes / 2;
// gamma of pair p in the lane is zeta or -zeta of the layer of length 2.
__device__ __forceinline__ void times_gamma(int32_t (&products)[8], const Coefficients& b,
                                            const LaneFactors& factors) {
#pragma unroll
    for (int p = 0; p < 8; ++p) {
        const int32_t linear = b[2 * p + 1];
        products[p] = multiply(p % 2 == 0 ? linear : -linear, factors.of[3 + p / 2]);
    }
}
__device__ __forceinline__ void put_factor(int16_t* to, const Coefficients& b,
                                           const LaneFactors& factors) {
    int32_t products[8];
    times_gamma(products, b, factors);
    put_row(to, b);
    put_eight(to + matrix_numbers + 8 * half_lane(), products);
}
// Adds (a0 + a1 X)(b0 + b1 X) modulo X^2 - gamma to pair p of a sum, without a reduction.
__device__ __forceinline__ void multiply_add_pair(Coefficients& sum, int p, int32_t a0, int32_t a1,
                                                  const Coefficients& b, const int32_t (&by)[8]) {
    sum[2 * p] += a0 * b[2 * p] + a1 * by[p];
    sum[2 * p + 1] += a0 * b[2 * p + 1] + a1 * b[2 * p];
}
// A sum of k products of polynomials below 2^12 with transformed ones is a valid input of reduce().
static_assert(8 * int64_t{4095} * most_transformed <= -least_product);

// Adds the product of row a and the factor in shared memory.
__device__ __forceinline__ void multiply_add(Coefficients& sum, const Coefficients& a,
                                             const int16_t* b) {
    Coefficients row;
    int32_t by[8];
    get_row(row, b);
    get_eight(by, b + matrix_numbers + 8 * half_lane());
#pragma unroll
    for (int p = 0; p < 8; ++p) multiply_add_pair(sum, p, a[2 * p], a[2 * p + 1], row, by);
}

}  // namespace warpseal::cuda::mlkem
