// ML-KEM on AVX2: one polynomial at a time, and four Keccak states.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kem/mlkem_vectors.h"
#include "kem/mlkem_bytes.h"

namespace warpseal::cpu {
namespace {

struct High256 {
    WARPSEAL_INLINE static VectorOf<int16_t, 32> multiply_high(const VectorOf<int16_t, 32>& a,
                                                               const VectorOf<int16_t, 32>& b) {
        return (VectorOf<int16_t, 32>)_mm256_mulhi_epi16((__m256i)a, (__m256i)b);
    }
};

// For each set of eight numbers to keep, the shuffle that moves them to the front.
struct Compressions {
    alignas(16) uint8_t of[256][16];
};
constexpr Compressions make_compressions() {
    Compressions out{};
    for (int kept = 0; kept < 256; ++kept) {
        int at = 0;
        for (int i = 0; i < 8; ++i)
            if (kept >> i & 1) {
                out.of[kept][at++] = static_cast<uint8_t>(2 * i);
                out.of[kept][at++] = static_cast<uint8_t>(2 * i + 1);
            }
    }
    return out;
}
constexpr Compressions compressions = make_compressions();

struct MlKemAvx2 {
    using Lanes = MlKemLanes<32, High256>;
    using KeccakWord = VectorOf<uint64_t, 32>;

    template <int d>
    static void encode(uint8_t* out, const int16_t* at) {
        kem::mlkem::encode<d>(out, at);
    }
    template <int d>
    static void decode(int16_t* at, const uint8_t* in) {
        if constexpr (d == 12) {
            int i = 0;
            for (; i + 8 < kem::mlkem::n; i += 8, in += 12) store(at + i, split(load(in)));
            store(at + i, split(_mm_srli_si128(load(in - 4), 4)));  // reads nothing past the end
        } else {
            kem::mlkem::decode<d>(at, in);
        }
    }
    static void add_message(kem::mlkem::Poly& a, const uint8_t* message) {
        kem::mlkem::add_message(a, message);
    }
    // Reads up to four bytes past the end. The kept numbers are public.
    static int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
        int i = 0;
        for (; i < bytes && have <= kem::mlkem::n - 8; i += 12) {
            const __m128i numbers = split(load(in + i)),
                          below = _mm_cmpgt_epi16(_mm_set1_epi16(kem::mlkem::q), numbers);
            const int kept = _mm_movemask_epi8(_mm_packs_epi16(below, _mm_setzero_si128()));
            store(at + have, _mm_shuffle_epi8(numbers, load(compressions.of[kept])));
            have += __builtin_popcount(static_cast<unsigned>(kept));
        }
        return kem::mlkem::append_below_q(at, have, in + i, bytes - i);
    }

private:
    WARPSEAL_INLINE static __m128i load(const uint8_t* in) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    }
    WARPSEAL_INLINE static void store(int16_t* at, __m128i v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at), v);
    }
    // Eight numbers of 12 bits.
    WARPSEAL_INLINE static __m128i split(__m128i bytes) {
        const __m128i pairs = _mm_shuffle_epi8(
            bytes, _mm_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11));
        return _mm_blend_epi16(_mm_and_si128(pairs, _mm_set1_epi16(0xfff)),
                               _mm_srli_epi16(pairs, 4), 0xaa);
    }
};

}  // namespace
}  // namespace warpseal::cpu
