// S-boxes over vectors of bytes by the last round of AES, which inverts in the field of FIPS 197.
// Linear maps are lookups of half-bytes.
#pragma once

#include <immintrin.h>

#include "backends/cpu/representations/byte_sliced.h"
#include "backends/cpu/x86/bytes_lookup.h"
#include "core/feistel.h"
#include "core/sbox.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

constexpr bool is_identity(const Affine& map) {
    for (int i = 0; i < 8; ++i)
        if (map.row[i] != identity.row[i]) return false;
    return map.constant == 0;
}

// S is after[0](SubBytes(before[0](x))) and also after[1](InvSubBytes(before[1](x))).
// cipher_direction selects the one with fewer maps other than the identity.
template <class S>
struct Detour {
    static constexpr Affine before[2] = {S::in, compose(sub_bytes, S::in)};
    static constexpr Affine after[2] = {compose(S::out, inverse(sub_bytes)), S::out};
    static constexpr int maps(int i) { return !is_identity(before[i]) + !is_identity(after[i]); }
    static constexpr int cipher_direction = maps(1) < maps(0);
};

// Tables of an affine map: the contribution of each half of a byte.
struct HalfTables {
    alignas(16) uint8_t low[16] = {};
    alignas(16) uint8_t high[16] = {};
    explicit constexpr HalfTables(const Affine& map) {
        for (int x = 0; x < 16; ++x) {
            low[x] = apply(map, static_cast<uint8_t>(x));
            high[x] = static_cast<uint8_t>(apply(map, static_cast<uint8_t>(x << 4)) ^ map.constant);
        }
    }
};
template <class S, int cipher_direction>
constexpr HalfTables tables_before{Detour<S>::before[cipher_direction]};
template <class S, int cipher_direction>
constexpr HalfTables tables_after{Detour<S>::after[cipher_direction]};

struct SubstitutionByAes {
    static constexpr bool moves_lanes = true;

    // Applies the ShiftRows of the opposite direction first, so that the round's own ShiftRows
    // restores the position of each byte.
    template <class S, class V>
    WARPSEAL_INLINE static V substitute(V x) {
        if constexpr (InversionSBox<S>)
            return detour<S, Detour<S>::cipher_direction>(x, [](V y) {
                return Detour<S>::cipher_direction == 0 ? leave_right(y) : enter_right(y);
            });
        else
            return lookup<S>(x);
    }
    // Blocks of a cipher's right half are in the order that ShiftRows gives them.
    template <class S, Half from, class V>
    WARPSEAL_INLINE static V across(V x) {
        if constexpr (InversionSBox<S>)
            return detour<S, from == Half::right>(x, [](V y) { return y; });
        else
            return from == Half::left ? enter_right(lookup<S>(x)) : leave_right(lookup<S>(x));
    }
    WARPSEAL_INLINE static __m128i enter_right(__m128i x) { return _mm_shuffle_epi8(x, rows()); }
    WARPSEAL_INLINE static __m128i leave_right(__m128i x) {
        return _mm_shuffle_epi8(x, rows_back());
    }
#if defined(__AVX2__)
    WARPSEAL_INLINE static __m256i enter_right(__m256i x) {
        return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(rows()));
    }
    WARPSEAL_INLINE static __m256i leave_right(__m256i x) {
        return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(rows_back()));
    }
#endif

private:
    WARPSEAL_INLINE static __m128i rows() {
        return _mm_set_epi8(11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5, 0);
    }
    WARPSEAL_INLINE static __m128i rows_back() {
        return _mm_set_epi8(3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0);
    }

    template <class S, int cipher_direction, class V, class Move>
    WARPSEAL_INLINE static V detour(V x, const Move& move) {
        if constexpr (!is_identity(Detour<S>::before[cipher_direction]))
            x = map(x, tables_before<S, cipher_direction>);
        x = cipher_direction == 0 ? last_round(move(x)) : last_round_back(move(x));
        if constexpr (!is_identity(Detour<S>::after[cipher_direction]))
            x = map(x, tables_after<S, cipher_direction>);
        return x;
    }
    WARPSEAL_INLINE static __m128i last_round(__m128i x) {
        return _mm_aesenclast_si128(x, _mm_setzero_si128());
    }
    WARPSEAL_INLINE static __m128i last_round_back(__m128i x) {
        return _mm_aesdeclast_si128(x, _mm_setzero_si128());
    }
    WARPSEAL_INLINE static __m128i map(__m128i x, const HalfTables& tables) {
        const __m128i low_bits = _mm_set1_epi8(15), low = x & low_bits,
                      high = _mm_srli_epi16(x, 4) & low_bits;
        return _mm_shuffle_epi8(load(tables.low), low) ^ _mm_shuffle_epi8(load(tables.high), high);
    }
    WARPSEAL_INLINE static __m128i load(const uint8_t* p) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(p));
    }

#if defined(__AVX2__)
    WARPSEAL_INLINE static __m256i last_round(__m256i x) {
        return _mm256_set_m128i(last_round(_mm256_extracti128_si256(x, 1)),
                                last_round(_mm256_castsi256_si128(x)));
    }
    WARPSEAL_INLINE static __m256i last_round_back(__m256i x) {
        return _mm256_set_m128i(last_round_back(_mm256_extracti128_si256(x, 1)),
                                last_round_back(_mm256_castsi256_si128(x)));
    }
    WARPSEAL_INLINE static __m256i map(__m256i x, const HalfTables& tables) {
        const __m256i low_bits = _mm256_set1_epi8(15), low = x & low_bits,
                      high = _mm256_srli_epi16(x, 4) & low_bits;
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load(tables.low)), low) ^
               _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load(tables.high)), high);
    }
#endif
};

template <class Cipher, size_t vector_bytes>
using ByteSlicedByAes = ByteSliced<Cipher, vector_bytes, SubstitutionByAes>;

}  // namespace
}  // namespace warpseal::cpu
