// VAES-512 target: four blocks to a vector, with AVX-512 F, BW, VL, DQ and VBMI, VAES, VPCLMULQDQ
// and GFNI.
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

#include "backends/cpu/x86/rows_gfni.h"
#include "backends/cpu/x86/target.h"
#include "backends/cpu/x86/transpose512.h"
#include "backends/cpu/x86/transpose_bytes512.h"

namespace warpseal {

// Three-input logic on words of 512 blocks in one instruction.
template <>
struct Ternary<uint64_t __attribute__((vector_size(64)))> {
    using Word = uint64_t __attribute__((vector_size(64)));
    static constexpr bool one_instruction = true;
    template <int table>
    WARPSEAL_INLINE static Word of(const Word& a, const Word& b, const Word& c) {
        return (Word)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, table);
    }
};

namespace cpu {
namespace {

struct Width512 {
    using V = __m512i;
    static constexpr int lanes = 4;
    static constexpr size_t bytes = 64;
    static constexpr int vectors_at_once = 8;  // covers the latency of VAESENC
    static constexpr size_t blocks_per_reduction = 64;

    WARPSEAL_INLINE static V zero() { return _mm512_setzero_si512(); }
    WARPSEAL_INLINE static V load(const uint8_t* p) { return _mm512_loadu_si512(p); }
    WARPSEAL_INLINE static void store(uint8_t* p, V v) { _mm512_storeu_si512(p, v); }
    WARPSEAL_INLINE static V load_partial(const uint8_t* p, size_t count) {
        return _mm512_maskz_loadu_epi8(first(count), p);
    }
    WARPSEAL_INLINE static void store_partial(uint8_t* p, V v, size_t count) {
        _mm512_mask_storeu_epi8(p, first(count), v);
    }
    WARPSEAL_INLINE static __mmask64 first(size_t count) {
        return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(count));
    }
    WARPSEAL_INLINE static V broadcast(__m128i x) { return _mm512_broadcast_i32x4(x); }
    WARPSEAL_INLINE static V lowest_lane(__m128i x) { return _mm512_zextsi128_si512(x); }
    WARPSEAL_INLINE static __m128i lowest(V v) { return _mm512_castsi512_si128(v); }
    WARPSEAL_INLINE static V join(const __m128i (&lane)[lanes]) {
        const __m256i low = _mm256_set_m128i(lane[1], lane[0]),
                      high = _mm256_set_m128i(lane[3], lane[2]);
        return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    // Exchanges lane i of vector k with lane k of vector i.
    WARPSEAL_INLINE static void transpose(V (&v)[lanes]) {
        const V a = _mm512_shuffle_i32x4(v[0], v[1], 0x44),
                b = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
        const V c = _mm512_shuffle_i32x4(v[0], v[1], 0xee),
                d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
        v[0] = _mm512_shuffle_i32x4(a, b, 0x88);
        v[1] = _mm512_shuffle_i32x4(a, b, 0xdd);
        v[2] = _mm512_shuffle_i32x4(c, d, 0x88);
        v[3] = _mm512_shuffle_i32x4(c, d, 0xdd);
    }
    WARPSEAL_INLINE static V one_lane_up(__m128i before, V v) {
        return _mm512_alignr_epi64(v, broadcast(before), 6);
    }
    WARPSEAL_INLINE static __m128i sum_of_lanes(V v) {
        const __m256i half = _mm512_castsi512_si256(v) ^ _mm512_extracti64x4_epi64(v, 1);
        return _mm256_castsi256_si128(half) ^ _mm256_extracti128_si256(half, 1);
    }

    WARPSEAL_INLINE static V encrypt(V v, V key) { return _mm512_aesenc_epi128(v, key); }
    WARPSEAL_INLINE static V encrypt_last(V v, V key) { return _mm512_aesenclast_epi128(v, key); }
    WARPSEAL_INLINE static V decrypt(V v, V key) { return _mm512_aesdec_epi128(v, key); }
    WARPSEAL_INLINE static V decrypt_last(V v, V key) { return _mm512_aesdeclast_epi128(v, key); }

    template <int halves>
    WARPSEAL_INLINE static V multiply(V a, V b) {
        return _mm512_clmulepi64_epi128(a, b, halves);
    }
    WARPSEAL_INLINE static V add3(V a, V b, V c) {
        return _mm512_ternarylogic_epi64(a, b, c, 0x96);
    }
    WARPSEAL_INLINE static V add32(V a, V b) { return _mm512_add_epi32(a, b); }
    WARPSEAL_INLINE static V byte_up(V v) { return _mm512_bslli_epi128(v, 1); }
    WARPSEAL_INLINE static V top_byte(V v) { return _mm512_bsrli_epi128(v, 15); }
    WARPSEAL_INLINE static V halves_up(V v) { return _mm512_bslli_epi128(v, 8); }
    WARPSEAL_INLINE static V halves_down(V v) { return _mm512_bsrli_epi128(v, 8); }
    WARPSEAL_INLINE static V swap_halves(V v) {
        return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(0x4e));
    }
    WARPSEAL_INLINE static V shuffle(V v, __m128i order) {
        return _mm512_shuffle_epi8(v, broadcast(order));
    }
};

struct Vaes512 : X86Target<Width512, 64, ByteSlicedByGfni> {};

}  // namespace
}  // namespace cpu
}  // namespace warpseal
