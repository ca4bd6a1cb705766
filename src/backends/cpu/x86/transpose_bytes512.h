// Transposition of 16-byte blocks in 64-byte vectors, on both vector ports of AVX-512.
#pragma once

#include <immintrin.h>

#include "backends/cpu/representations/transpose.h"
#include "backends/cpu/representations/vector.h"

namespace warpseal::cpu {
namespace {

// Shuffles have only one port. Exchanging units by a shuffle, a rotation and a blend takes one
// instruction more than by two shuffles, but occupies that port half as long.
template <>
struct Transpose<VectorOf<uint8_t, 64>, 16> {
    using Vector = VectorOf<uint8_t, 64>;

    WARPSEAL_INLINE static void run(Vector (&v)[16]) {
        WARPSEAL_UNROLL
        for (int i = 0; i < 8; ++i) {
            const __m512i a = (__m512i)v[i], b = (__m512i)v[i + 8];
            v[i] = (Vector)_mm512_unpacklo_epi64(a, b);
            v[i + 8] = (Vector)_mm512_unpackhi_epi64(a, b);
        }
        exchange<4>(v);
        exchange<2>(v);
        exchange<1>(v);
    }

    // Returns the number of the block, in memory order, that a lane holds afterwards.
    static constexpr int block_of_lane(int lane) { return lane % 16 * 4 + lane / 16; }

private:
    // Exchanges the odd units of n bytes in vector i with the even units in vector i + n.
    template <int n>
    WARPSEAL_INLINE static void exchange(Vector (&v)[16]) {
        constexpr __mmask64 odd = n == 4   ? 0xf0f0f0f0f0f0f0f0
                                  : n == 2 ? 0xcccccccccccccccc
                                           : 0xaaaaaaaaaaaaaaaa;
        constexpr long long even_units = n == 4   ? 0x0302010003020100
                                         : n == 2 ? 0x0504050401000100
                                                  : 0x0606040402020000;
        __m512i even = _mm512_set4_epi64(even_units + 0x0808080808080808, even_units,
                                         even_units + 0x0808080808080808, even_units);
        __asm__("" : "+v"(even));  // otherwise read from memory each time
        WARPSEAL_UNROLL
        for (int i = 0; i < 16; ++i) {
            if (i & n) continue;
            const __m512i a = (__m512i)v[i], b = (__m512i)v[i + n];
            v[i] = (Vector)_mm512_mask_shuffle_epi8(a, odd, b, even);
            v[i + n] = (Vector)_mm512_mask_blend_epi8(odd, _mm512_ror_epi64(a, 8 * n), b);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
