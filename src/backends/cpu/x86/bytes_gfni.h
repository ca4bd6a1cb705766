// S-boxes over vectors of bytes by GFNI: one instruction inverts in the field of FIPS 197 and
// applies an affine map.
#pragma once

#include <immintrin.h>

#include "backends/cpu/x86/bytes_lookup.h"
#include "core/sbox.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

// Matrix operand of GF2P8AFFINEQB, which takes the row of bit i from byte 7 - i (Intel SDM volume
// 2).
constexpr long long matrix(const Affine& map) {
    uint64_t rows = 0;
    for (int i = 0; i < 8; ++i) rows |= uint64_t{map.row[i]} << (8 * (7 - i));
    return static_cast<long long>(rows);
}

constexpr Affine shifted_right(int n) {
    Affine map{};
    for (int i = 0; i + n < 8; ++i) map.row[i] = static_cast<uint8_t>(1 << (i + n));
    return map;
}

struct SubstitutionByGfni {
    static constexpr bool moves_lanes = false;

    template <class S, class V>
    WARPSEAL_INLINE static V substitute(V x) {
        if constexpr (InversionSBox<S>) {
            constexpr bool bare = matrix(S::in) == matrix(identity) && S::in.constant == 0;
            if constexpr (!bare) x = map<S::in.constant>(x, matrix(S::in));
            return map_inverse<S::out.constant>(x, matrix(S::out));
        } else {
            return lookup<S>(x);
        }
    }

    template <int n, class V>
    WARPSEAL_INLINE static V shift_right(V x) {
        return map<0>(x, matrix(shifted_right(n)));
    }

private:
    template <int constant>
    WARPSEAL_INLINE static __m128i map(__m128i x, long long m) {
        return _mm_gf2p8affine_epi64_epi8(x, _mm_set1_epi64x(m), constant);
    }
    template <int constant>
    WARPSEAL_INLINE static __m128i map_inverse(__m128i x, long long m) {
        return _mm_gf2p8affineinv_epi64_epi8(x, _mm_set1_epi64x(m), constant);
    }
    template <int constant>
    WARPSEAL_INLINE static __m256i map(__m256i x, long long m) {
        return _mm256_gf2p8affine_epi64_epi8(x, _mm256_set1_epi64x(m), constant);
    }
    template <int constant>
    WARPSEAL_INLINE static __m256i map_inverse(__m256i x, long long m) {
        return _mm256_gf2p8affineinv_epi64_epi8(x, _mm256_set1_epi64x(m), constant);
    }
#if defined(__AVX512BW__)
    template <int constant>
    WARPSEAL_INLINE static __m512i map(__m512i x, long long m) {
        return _mm512_gf2p8affine_epi64_epi8(x, in_register(m), constant);
    }
    template <int constant>
    WARPSEAL_INLINE static __m512i map_inverse(__m512i x, long long m) {
        return _mm512_gf2p8affineinv_epi64_epi8(x, in_register(m), constant);
    }
    // Keeps a matrix in a register. The compiler would make each instruction read a constant from
    // memory, and too many such reads lower the core's clock.
    WARPSEAL_INLINE static __m512i in_register(long long m) {
        __m512i v = _mm512_set1_epi64(m);
        __asm__("" : "+v"(v));
        return v;
    }
#endif
};

}  // namespace
}  // namespace warpseal::cpu
