// Any S-box over vectors of bytes in constant time: shuffles look up tables in registers.
#pragma once

#include <immintrin.h>

#include "core/sbox.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

template <class S>
struct LookupTable {
    alignas(64) uint8_t entries[256] = {};
    constexpr LookupTable() {
        for (int x = 0; x < 256; ++x) entries[x] = value<S>(static_cast<uint8_t>(x));
    }
    WARPSEAL_INLINE __m128i part(int high) const {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(entries + 16 * high));
    }
};
template <class S>
constexpr LookupTable<S> lookup_table{};

// Uses 16 tables of 16 entries, one for each high half-byte. In the table of its high half-byte, an
// index keeps its low half-byte. In all other tables its top bit is set, for which PSHUFB returns
// zero. These are 49 instructions: they are one function, because a cipher has hundreds of S-boxes.
template <class S>
WARPSEAL_CALLED __m128i lookup(__m128i x) {
    __m128i y = _mm_setzero_si128();
    WARPSEAL_UNROLL
    for (int high = 0; high < 16; ++high) {
        const __m128i index =
            _mm_adds_epu8(x ^ _mm_set1_epi8(static_cast<char>(16 * high)), _mm_set1_epi8(0x70));
        y = y ^ _mm_shuffle_epi8(lookup_table<S>.part(high), index);
    }
    return y;
}

#if defined(__AVX2__)
template <class S>
WARPSEAL_CALLED __m256i lookup(__m256i x) {
    __m256i y = _mm256_setzero_si256();
    WARPSEAL_UNROLL
    for (int high = 0; high < 16; ++high) {
        const __m256i index = _mm256_adds_epu8(x ^ _mm256_set1_epi8(static_cast<char>(16 * high)),
                                               _mm256_set1_epi8(0x70));
        y = y ^ _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(lookup_table<S>.part(high)), index);
    }
    return y;
}
#endif

#if defined(__AVX512VBMI__)
// Looks up two tables of 128 entries, and selects one result by the top bit.
template <class S>
WARPSEAL_INLINE __m512i lookup(__m512i x) {
    const uint8_t* const t = lookup_table<S>.entries;
    const __m512i low =
        _mm512_permutex2var_epi8(_mm512_load_si512(t), x, _mm512_load_si512(t + 64));
    const __m512i high =
        _mm512_permutex2var_epi8(_mm512_load_si512(t + 128), x, _mm512_load_si512(t + 192));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}
#endif

}  // namespace
}  // namespace warpseal::cpu
