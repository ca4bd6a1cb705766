// AVX-512 vectors for NTRU on the VAES-512 target: dot products of AVX512_VNNI, and eight Keccak
// states at a time.
#pragma once

// gcc 12's own header warns about operands that it leaves undefined on purpose (GCC bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "backends/cpu/kem/native.h"
#include "backends/cpu/representations/vector.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

struct Vaes512Vectors {
    static constexpr int bytes = 64;
    WARPSEAL_INLINE static VectorOf<int8_t, 64> load(const uint8_t* in, int stride) {
        const auto two = [&](int i) {
            return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(in + (i + 1) * stride),
                                       reinterpret_cast<const __m128i*>(in + i * stride));
        };
        return (VectorOf<int8_t, 64>)_mm512_inserti64x4(_mm512_castsi256_si512(two(0)), two(2), 1);
    }
    WARPSEAL_INLINE static VectorOf<int8_t, 64> shuffle(const VectorOf<int8_t, 64>& v,
                                                        const VectorOf<int8_t, 64>& order) {
        return (VectorOf<int8_t, 64>)_mm512_shuffle_epi8((__m512i)v, (__m512i)order);
    }
    WARPSEAL_INLINE static VectorOf<uint32_t, 64> join(const VectorOf<uint16_t, 64>& v,
                                                       const VectorOf<uint16_t, 64>& factors) {
        return (VectorOf<uint32_t, 64>)_mm512_madd_epi16((__m512i)v, (__m512i)factors);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 64> narrow(const VectorOf<uint32_t, 64>& low,
                                                         const VectorOf<uint32_t, 64>& high) {
        return (VectorOf<uint16_t, 64>)_mm512_packus_epi32((__m512i)low, (__m512i)high);
    }
    WARPSEAL_INLINE static VectorOf<uint16_t, 64> high(const VectorOf<uint16_t, 64>& v,
                                                       const VectorOf<uint16_t, 64>& factors) {
        return (VectorOf<uint16_t, 64>)_mm512_mulhi_epu16((__m512i)v, (__m512i)factors);
    }
};

struct Unit512 {
    using Word = uint32_t;
    using Vector = VectorOf<uint32_t, 64>;
    static constexpr int lanes = 16, registers = 32;
    // Two dot products a cycle with a latency of five cycles, plus some that wait for the
    // matrix.
    static constexpr int in_flight = 14;
    // 13 vectors of sums, 13 factors and one vector of the matrix fill the registers.
    static constexpr int largest_leaf = 208;

    WARPSEAL_INLINE static Vector all(uint32_t word) {
        return (Vector)_mm512_set1_epi32(static_cast<int>(word));
    }
    WARPSEAL_INLINE static Vector add(const Vector& a, const Vector& b) { return a + b; }
    WARPSEAL_INLINE static VectorOf<uint16_t, 32> low(const Vector& sums) {
        return (VectorOf<uint16_t, 32>)_mm512_cvtepi32_epi16((__m512i)sums);
    }
};
struct Vaes512Wide : Unit512 {
    using Element = uint16_t;
    static constexpr int group = 2, most_levels = 16;
    WARPSEAL_INLINE static Vector join(const uint16_t* b) {
        const __m512i low =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
        const __m512i high =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b - 1)));
        return (Vector)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
    }
    WARPSEAL_INLINE static Vector multiply_add(const Vector& sums, const Vector& words,
                                               const Vector& factors) {
        return (Vector)_mm512_dpwssd_epi32((__m512i)sums, (__m512i)words, (__m512i)factors);
    }
};
// Multiplies residues below 3, which the instruction takes as unsigned, by ternary factors, which
// it takes as signed.
struct Vaes512Small : Unit512 {
    using Element = uint8_t;
    static constexpr int group = 4, most_levels = 6;
    static_assert(2 << most_levels <= 255 && 1 << most_levels <= 127);
    WARPSEAL_INLINE static Vector join(const uint8_t* b) {
        Vector words{};
        WARPSEAL_UNROLL for (int i = 0; i < 4; ++i) words |=
            (Vector)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b - i)))
            << (8 * i);
        return words;
    }
    WARPSEAL_INLINE static Vector multiply_add(const Vector& sums, const Vector& words,
                                               const Vector& factors) {
        return (Vector)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)words, (__m512i)factors);
    }
};

struct KemVaes512 : VectorKemTarget<Vaes512Vectors, Vaes512Wide, Vaes512Small> {};

}  // namespace
}  // namespace warpseal::cpu
