// AVX2 vectors for NTRU: multiplications with pairwise sums, and four Keccak states at a time.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kem/native.h"
#include "backends/cpu/representations/vector.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

struct Avx2Vectors {
    static constexpr int bytes = 32;
    WARPSEAL_INLINE static VectorOf<int8_t, 32> load(const uint8_t* in, int stride) {
        return (VectorOf<int8_t, 32>)_mm256_loadu2_m128i(
            reinterpret_cast<const __m128i*>(in + stride), reinterpret_cast<const __m128i*>(in));
    }
    WARPSEAL_INLINE static VectorOf<int8_t, 32> shuffle(const VectorOf<int8_t, 32>& v,
                                                        const VectorOf<int8_t, 32>& order) {
        return (VectorOf<int8_t, 32>)_mm256_shuffle_epi8((__m256i)v, (__m256i)order);
    }
    WARPSEAL_INLINE static VectorOf<uint32_t, 32> join(const VectorOf<uint16_t, 32>& v,
                                                       const VectorOf<uint16_t, 32>& factors) {
        return (VectorOf<uint32_t, 32>)_mm256_madd_epi16((__m256i)v, (__m256i)factors);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 32> narrow(const VectorOf<uint32_t, 32>& low,
                                                         const VectorOf<uint32_t, 32>& high) {
        return (VectorOf<uint16_t, 32>)_mm256_packus_epi32((__m256i)low, (__m256i)high);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 32> high(const VectorOf<uint16_t, 32>& v,
                                                       const VectorOf<uint16_t, 32>& factors) {
        return (VectorOf<uint16_t, 32>)_mm256_mulhi_epu16((__m256i)v, (__m256i)factors);
    }
};

struct Avx2Wide {
    using Element = uint16_t;
    using Word = uint32_t;
    using Vector = VectorOf<uint32_t, 32>;
    static constexpr int group = 2, lanes = 8;
    // in_flight: an addition waits only one cycle for the previous one.
    static constexpr int most_levels = 16, largest_leaf = 96, registers = 16, in_flight = 1;

    WARPSEAL_INLINE static Vector all(uint32_t word) {
        return (Vector)_mm256_set1_epi32(static_cast<int>(word));
    }
    WARPSEAL_INLINE static Vector add(const Vector& a, const Vector& b) { return a + b; }
    WARPSEAL_INLINE static Vector multiply_add(const Vector& sums, const Vector& words,
                                               const Vector& factors) {
        return sums + (Vector)_mm256_madd_epi16((__m256i)words, (__m256i)factors);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 16> low(const Vector& sums) {
        const __m256i bytes =
            _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5,
                             8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
        const __m256i halves = _mm256_shuffle_epi8((__m256i)sums, bytes);
        return (VectorOf<uint16_t, 16>)_mm256_castsi256_si128(
            _mm256_permute4x64_epi64(halves, 0x08));
    }
    WARPSEAL_INLINE static Vector join(const uint16_t* b) {
        const __m256i low =
            _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
        const __m256i high =
            _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b - 1)));
        return (Vector)_mm256_or_si256(low, _mm256_slli_epi32(high, 16));
    }
};

// Multiplies residues below 3 by ternary factors. The instruction adds two products with
// saturation, which the assertion below excludes.
struct Avx2Small {
    using Element = uint8_t;
    using Word = uint16_t;
    using Vector = VectorOf<uint16_t, 32>;
    static constexpr int group = 2, lanes = 16;
    static constexpr int most_levels = 6, largest_leaf = 96, registers = 16, in_flight = 1;
    static_assert(2 << most_levels <= 255 && 1 << most_levels <= 127 &&
                  2 * (2 << most_levels) * (1 << most_levels) <= 32767);

    WARPSEAL_INLINE static Vector all(uint16_t word) {
        return (Vector)_mm256_set1_epi16(static_cast<short>(word));
    }
    WARPSEAL_INLINE static Vector add(const Vector& a, const Vector& b) { return a + b; }
    WARPSEAL_INLINE static Vector multiply_add(const Vector& sums, const Vector& words,
                                               const Vector& factors) {
        return sums + (Vector)_mm256_maddubs_epi16((__m256i)words, (__m256i)factors);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 32> low(const Vector& sums) {
        return (VectorOf<uint16_t, 32>)sums;
    }
    WARPSEAL_INLINE static Vector join(const uint8_t* b) {
        const __m256i low =
            _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
        const __m256i high =
            _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b - 1)));
        return (Vector)_mm256_or_si256(low, _mm256_slli_epi16(high, 8));
    }
};

struct KemAvx2 : VectorKemTarget<Avx2Vectors, Avx2Wide, Avx2Small> {};

}  // namespace
}  // namespace warpseal::cpu
