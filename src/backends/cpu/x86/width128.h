// Vector width of AES-NI and PCLMULQDQ: one block to a vector.
#pragma once

#include <immintrin.h>

#include "backends/cpu/x86/partial_block.h"

namespace warpseal::cpu {
namespace {

struct Width128 {
    using V = __m128i;
    static constexpr int lanes = 1;
    static constexpr size_t bytes = 16;
    static constexpr int vectors_at_once = 8;  // covers the latency of AESENC
    static constexpr size_t blocks_per_reduction = 16;

    WARPSEAL_INLINE static V zero() { return _mm_setzero_si128(); }
    WARPSEAL_INLINE static V load(const uint8_t* p) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    }
    WARPSEAL_INLINE static void store(uint8_t* p, V v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
    }
    WARPSEAL_INLINE static V load_partial(const uint8_t* p, size_t count) {
        return cpu::load_partial<Width128>(p, count);
    }
    WARPSEAL_INLINE static void store_partial(uint8_t* p, V v, size_t count) {
        cpu::store_partial<Width128>(p, v, count);
    }
    WARPSEAL_INLINE static V broadcast(__m128i x) { return x; }
    WARPSEAL_INLINE static V lowest_lane(__m128i x) { return x; }
    WARPSEAL_INLINE static __m128i lowest(V v) { return v; }
    WARPSEAL_INLINE static V join(const __m128i (&lane)[lanes]) { return lane[0]; }
    WARPSEAL_INLINE static void transpose(V (&)[lanes]) {}
    WARPSEAL_INLINE static V one_lane_up(__m128i before, V) { return before; }
    WARPSEAL_INLINE static __m128i sum_of_lanes(V v) { return v; }

    WARPSEAL_INLINE static V encrypt(V v, V key) { return _mm_aesenc_si128(v, key); }
    WARPSEAL_INLINE static V encrypt_last(V v, V key) { return _mm_aesenclast_si128(v, key); }
    WARPSEAL_INLINE static V decrypt(V v, V key) { return _mm_aesdec_si128(v, key); }
    WARPSEAL_INLINE static V decrypt_last(V v, V key) { return _mm_aesdeclast_si128(v, key); }

    template <int halves>
    WARPSEAL_INLINE static V multiply(V a, V b) {
        return _mm_clmulepi64_si128(a, b, halves);
    }
    WARPSEAL_INLINE static V add3(V a, V b, V c) { return a ^ b ^ c; }
    WARPSEAL_INLINE static V add32(V a, V b) { return _mm_add_epi32(a, b); }
    WARPSEAL_INLINE static V byte_up(V v) { return _mm_slli_si128(v, 1); }
    WARPSEAL_INLINE static V top_byte(V v) { return _mm_srli_si128(v, 15); }
    WARPSEAL_INLINE static V halves_up(V v) { return _mm_slli_si128(v, 8); }
    WARPSEAL_INLINE static V halves_down(V v) { return _mm_srli_si128(v, 8); }
    WARPSEAL_INLINE static V swap_halves(V v) { return _mm_shuffle_epi32(v, 0x4e); }
    WARPSEAL_INLINE static V shuffle(V v, __m128i order) { return _mm_shuffle_epi8(v, order); }
};

}  // namespace
}  // namespace warpseal::cpu
