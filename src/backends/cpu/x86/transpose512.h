// Conversion between blocks and bit planes of 512 lanes with GFNI and AVX-512: one instruction
// transposes 8 x 8 bits, and exchanges between registers move bytes.
#pragma once

#include <immintrin.h>

#include "core/bit_planes.h"

namespace warpseal {

// For each 8 bytes of a block, 64 vectors hold an array of bits with three indices: the vector v,
// the quadword within it, and the bit. Bit planes require that bit and v change roles. Lanes
// therefore have their own order: first the quadword, then the high three bits of v, then the low
// three reversed.
template <>
struct BitPlanes<uint64_t __attribute__((vector_size(64)))> {
    using Word = uint64_t __attribute__((vector_size(64)));
    static constexpr int blocks = 512;

    template <int block_bytes>
    static constexpr int block_of_lane(int lane) {
        const int quadword = lane / 64, v = 8 * (lane / 8 % 8) + (7 - lane % 8);
        return block_bytes == 8 ? 8 * v + quadword : 4 * (v + 64 * (quadword % 2)) + quadword / 2;
    }

    template <int block_bytes>
    WARPSEAL_INLINE static void from_blocks(Word (&plane)[8 * block_bytes], const uint8_t* in) {
        static_assert(block_bytes == 8 || block_bytes == 16);
        __m512i r[8];
        for (int part = 0; part < 8 * block_bytes; part += 64) {
            for (int high = 0; high < 8; ++high) {
                WARPSEAL_UNROLL
                for (int low = 0; low < 8; ++low) {
                    r[low] = _mm512_loadu_si512(in + 64 * (8 * high + low));
                    if constexpr (block_bytes == 16) {
                        const __m512i later = _mm512_loadu_si512(in + 4096 + 64 * (8 * high + low));
                        r[low] = part == 0 ? _mm512_unpacklo_epi64(r[low], later)
                                           : _mm512_unpackhi_epi64(r[low], later);
                    }
                }
                exchange_bytes<true>(r);
                WARPSEAL_UNROLL
                for (int byte = 0; byte < 8; ++byte)  // byte b becomes bit 7 - b
                    plane[part + 8 * byte + high] = (Word)_mm512_gf2p8affine_epi64_epi8(
                        _mm512_set1_epi64(0x8040201008040201), r[byte], 0);
            }
            for (int byte = 0; byte < 8; ++byte) {
                WARPSEAL_UNROLL
                for (int high = 0; high < 8; ++high)
                    r[high] = (__m512i)plane[part + 8 * byte + high];
                exchange_bytes<false>(r);
                WARPSEAL_UNROLL
                for (int bit = 0; bit < 8; ++bit) plane[part + 8 * byte + bit] = (Word)r[bit];
            }
        }
    }

    template <int block_bytes>
    WARPSEAL_INLINE static void to_blocks(uint8_t* out, Word (&plane)[8 * block_bytes]) {
        static_assert(block_bytes == 8 || block_bytes == 16);
        __m512i r[8];
        for (int part = 0; part < 8 * block_bytes; part += 64) {
            for (int byte = 0; byte < 8; ++byte) {
                WARPSEAL_UNROLL
                for (int bit = 0; bit < 8; ++bit)
                    r[7 - bit] = (__m512i)plane[part + 8 * byte + bit];
                exchange_bytes<false>(r);
                WARPSEAL_UNROLL
                for (int high = 0; high < 8; ++high)  // bit 7 - b becomes byte b again
                    plane[part + 8 * byte + high] = (Word)_mm512_gf2p8affine_epi64_epi8(
                        _mm512_set1_epi64(0x0102040810204080), r[high], 0);
            }
            for (int high = 0; high < 8; ++high) {
                WARPSEAL_UNROLL
                for (int byte = 0; byte < 8; ++byte)
                    r[byte] = (__m512i)plane[part + 8 * byte + high];
                exchange_bytes<true>(r);
                WARPSEAL_UNROLL
                for (int low = 0; low < 8; ++low) {
                    uint8_t* const to = out + 64 * (8 * high + low);
                    if constexpr (block_bytes == 8) {
                        _mm512_storeu_si512(to, r[low]);
                    } else if (part == 0) {
                        plane[8 * low + high] = (Word)r[low];
                    } else {
                        const __m512i first = (__m512i)plane[8 * low + high];
                        _mm512_storeu_si512(to, _mm512_unpacklo_epi64(first, r[low]));
                        _mm512_storeu_si512(to + 4096, _mm512_unpackhi_epi64(first, r[low]));
                    }
                }
            }
        }
    }

private:
    // In each quadword, exchanges byte i of register j with byte j of register i.
    template <bool beside_bits>
    WARPSEAL_INLINE static void exchange_bytes(__m512i (&r)[8]) {
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i) exchange<4, true>(r[i], r[i + 4]);
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i) exchange<2, beside_bits>(r[i + (i & 2)], r[i + (i & 2) + 2]);
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i) exchange<1, false>(r[2 * i], r[2 * i + 1]);
    }

    // Exchanges the odd units of n bytes in a with the even units in b. Shuffles have only one
    // port. The alternative takes one more instruction but can use both ports, so a mix of the two
    // is fastest.
    template <int n, bool by_shuffles>
    WARPSEAL_INLINE static void exchange(__m512i& a, __m512i& b) {
        constexpr __mmask64 odd = n == 4   ? 0xf0f0f0f0f0f0f0f0
                                  : n == 2 ? 0xcccccccccccccccc
                                           : 0xaaaaaaaaaaaaaaaa;
        constexpr long long even_units = n == 4   ? 0x0302010003020100
                                         : n == 2 ? 0x0504050401000100
                                                  : 0x0606040402020000;
        const __m512i quadwords = _mm512_set4_epi64(0x0808080808080808, 0, 0x0808080808080808, 0);
        const __m512i even = _mm512_add_epi8(quadwords, _mm512_set1_epi64(even_units));
        const __m512i old = a;
        a = _mm512_mask_shuffle_epi8(a, odd, b, even);
        if constexpr (by_shuffles)
            b = _mm512_mask_shuffle_epi8(b, ~odd, old, _mm512_add_epi8(even, _mm512_set1_epi8(n)));
        else
            b = _mm512_mask_blend_epi8(odd, _mm512_ror_epi64(old, 8 * n), b);
    }
};

}  // namespace warpseal
