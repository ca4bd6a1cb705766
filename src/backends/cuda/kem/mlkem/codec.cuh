// ML-KEM polynomials of half a warp and bytes: encodings, noise and messages (FIPS 203, section
// 4.2).
#pragma once

#include "backends/cuda/kem/mlkem/poly.cuh"

namespace warpseal::cuda::mlkem {

// --- byte strings in shared memory

// Row t of a polynomial of 12 bits a coefficient, without reduction (algorithm 6).
__device__ __forceinline__ void decode_row(Coefficients& c, const StagedString& string, int poly) {
    const uint32_t begin = 12 * (n * static_cast<uint32_t>(poly) + 16 * half_lane());
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        const uint64_t four = string.bits64(begin + 12 * i);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            c[i + j] = static_cast<int32_t>(static_cast<uint32_t>(four >> (12 * j)) & 0xfff);
    }
}

// Column t of a polynomial of d bits a coefficient, decompressed, from bit `begin` of the string.
template <int d>
__device__ __forceinline__ void decompress_column(Coefficients& c, const StagedString& string,
                                                  uint32_t begin) {
#pragma unroll
    for (int j = 0; j < 16; ++j)
        c[j] = decompress<d>(string.bits(begin + d * (16 * j + half_lane())) & ((1u << d) - 1));
}

// Writes row t with d bits a coefficient from byte `begin` of a string, which starts at words[1]
// (algorithm 5). `begin` is a multiple of 32 bytes.
template <int d>
__device__ __forceinline__ void encode_row(uint32_t* words, uint32_t begin, const Coefficients& c) {
    uint32_t packed[(16 * d + 31) / 32] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int at = i * d;
        const auto number = static_cast<uint32_t>(c[i]);
        packed[at / 32] |= number << at % 32;
        if (at % 32 + d > 32) packed[at / 32 + 1] |= number >> (32 - at % 32);
    }
    uint32_t* to = words + 1 + begin / 4;
    if constexpr (d % 2 == 0) {
#pragma unroll
        for (int i = 0; i < d / 2; ++i) to[d / 2 * half_lane() + i] = packed[i];
    } else {
        auto* halves = reinterpret_cast<uint16_t*>(to) + d * half_lane();
#pragma unroll
        for (int i = 0; i < d; ++i)
            halves[i] = static_cast<uint16_t>(packed[i / 2] >> (16 * (i % 2)));
    }
}

// Compresses a column to d bits a coefficient and writes the polynomial to byte `begin` of a
// string.
template <int d>
__device__ __forceinline__ void compress_column(uint32_t* words, uint32_t begin, Coefficients& c,
                                                int16_t* matrix) {
#pragma unroll
    for (int32_t& coefficient : c) coefficient = static_cast<int32_t>(compress<d>(coefficient));
    __syncwarp();
    put_column(matrix, c);
    __syncwarp();
    get_row(c, matrix);
    encode_row<d>(words, begin, c);
}

// --- noise

// Noise is stored as four bits for each coefficient, with the width eta added.
inline constexpr size_t noise_bytes = n / 2;

// Sixteen coefficients of width 2 from as many bits of each of their sums (algorithm 8).
__device__ __forceinline__ uint64_t noise_of_width_2(uint64_t bits) {
    constexpr uint64_t ones = 0x5555555555555555, twos = 0x3333333333333333;
    const uint64_t sums = (bits & ones) + (bits >> 1 & ones);
    return (sums & twos) + (0x2222222222222222 - (sums >> 2 & twos));
}
// Four coefficients of width 3 from 24 bits, in the low 16 bits.
__device__ __forceinline__ uint32_t noise_of_width_3(uint32_t bits) {
    constexpr uint32_t ones = 0x249249, fields = 0x1c71c7;
    const uint32_t sums = (bits & ones) + (bits >> 1 & ones) + (bits >> 2 & ones);
    const uint32_t c = (sums & fields) + (0x0c30c3 - (sums >> 3 & fields));
    return (c & 0xf) | (c >> 2 & 0xf0) | (c >> 4 & 0xf00) | (c >> 6 & 0xf000);
}

// Reads column t, times `scale`.
template <int eta>
__device__ __forceinline__ void load_noise(Coefficients& c, const uint32_t* noise, int32_t scale) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
        const uint32_t number = noise[2 * j + half_lane() / 8] >> (4 * (half_lane() % 8)) & 0xf;
        c[j] = (static_cast<int32_t>(number) - eta) * scale;
    }
}
template <int eta>
__device__ __forceinline__ void add_noise(Coefficients& c, const uint32_t* noise) {
    Coefficients more;
    load_noise<eta>(more, noise, 1);
#pragma unroll
    for (int j = 0; j < 16; ++j) c[j] += more[j];
}

// --- messages

// Adds Decompress_1 of the message to a column: 1665 for a bit that is set, by a product.
__device__ __forceinline__ void add_message(Coefficients& c, const uint8_t* message) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
        const uint32_t bit = message[2 * j + half_lane() / 8] >> (half_lane() % 8) & 1;
        c[j] += static_cast<int32_t>(bit * ((q + 1) / 2));
    }
}

}  // namespace warpseal::cuda::mlkem
