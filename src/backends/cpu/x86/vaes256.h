// VAES-256 target: two blocks to a vector, with AVX2, BMI2, VAES, VPCLMULQDQ and GFNI.
#pragma once

#include <immintrin.h>

#include "backends/cpu/x86/partial_block.h"
#include "backends/cpu/x86/rows_gfni.h"
#include "backends/cpu/x86/target.h"

namespace warpseal::cpu {
namespace {

struct Width256 {
    using V = __m256i;
    static constexpr int lanes = 2;
    static constexpr size_t bytes = 32;
    static constexpr int vectors_at_once = 8;  // covers the latency of VAESENC
    static constexpr size_t blocks_per_reduction = 32;

    WARPSEAL_INLINE static V zero() { return _mm256_setzero_si256(); }
    WARPSEAL_INLINE static V load(const uint8_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    WARPSEAL_INLINE static void store(uint8_t* p, V v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
    }
    WARPSEAL_INLINE static V load_partial(const uint8_t* p, size_t count) {
        return cpu::load_partial<Width256>(p, count);
    }
    WARPSEAL_INLINE static void store_partial(uint8_t* p, V v, size_t count) {
        cpu::store_partial<Width256>(p, v, count);
    }
    WARPSEAL_INLINE static V broadcast(__m128i x) { return _mm256_broadcastsi128_si256(x); }
    WARPSEAL_INLINE static V lowest_lane(__m128i x) { return _mm256_zextsi128_si256(x); }
    WARPSEAL_INLINE static __m128i lowest(V v) { return _mm256_castsi256_si128(v); }
    WARPSEAL_INLINE static V join(const __m128i (&lane)[lanes]) {
        return _mm256_set_m128i(lane[1], lane[0]);
    }
    WARPSEAL_INLINE static void transpose(V (&v)[lanes]) {
        const V low = _mm256_permute2x128_si256(v[0], v[1], 0x20);
        v[1] = _mm256_permute2x128_si256(v[0], v[1], 0x31);
        v[0] = low;
    }
    WARPSEAL_INLINE static V one_lane_up(__m128i before, V v) {
        return _mm256_inserti128_si256(broadcast(lowest(v)), before, 0);
    }
    WARPSEAL_INLINE static __m128i sum_of_lanes(V v) {
        return _mm256_castsi256_si128(v) ^ _mm256_extracti128_si256(v, 1);
    }

    WARPSEAL_INLINE static V encrypt(V v, V key) { return _mm256_aesenc_epi128(v, key); }
    WARPSEAL_INLINE static V encrypt_last(V v, V key) { return _mm256_aesenclast_epi128(v, key); }
    WARPSEAL_INLINE static V decrypt(V v, V key) { return _mm256_aesdec_epi128(v, key); }
    WARPSEAL_INLINE static V decrypt_last(V v, V key) { return _mm256_aesdeclast_epi128(v, key); }

    template <int halves>
    WARPSEAL_INLINE static V multiply(V a, V b) {
        return _mm256_clmulepi64_epi128(a, b, halves);
    }
    WARPSEAL_INLINE static V add3(V a, V b, V c) { return a ^ b ^ c; }
    WARPSEAL_INLINE static V add32(V a, V b) { return _mm256_add_epi32(a, b); }
    WARPSEAL_INLINE static V byte_up(V v) { return _mm256_bslli_epi128(v, 1); }
    WARPSEAL_INLINE static V top_byte(V v) { return _mm256_bsrli_epi128(v, 15); }
    WARPSEAL_INLINE static V halves_up(V v) { return _mm256_bslli_epi128(v, 8); }
    WARPSEAL_INLINE static V halves_down(V v) { return _mm256_bsrli_epi128(v, 8); }
    WARPSEAL_INLINE static V swap_halves(V v) { return _mm256_shuffle_epi32(v, 0x4e); }
    WARPSEAL_INLINE static V shuffle(V v, __m128i order) {
        return _mm256_shuffle_epi8(v, broadcast(order));
    }
};

struct Vaes256 : X86Target<Width256, 32, ByteSlicedByGfni> {};

}  // namespace
}  // namespace warpseal::cpu
