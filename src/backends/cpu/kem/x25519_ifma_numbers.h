// Numbers modulo 2^255 - 19 in the 64-bit lanes of a vector, on AVX-512 with IFMA.
#pragma once

#include <immintrin.h>

#include "backends/cpu/representations/vector.h"
#include "kem/x25519.h"

namespace warpseal::cpu {
namespace {

// The multiplier takes 52 bits of each limb and returns the product's halves of 52 bits. Limbs that
// multiply are below 2^51 + 2^14: every result here is carried once.
template <size_t bytes>
struct IfmaNumbers {
    static_assert(bytes == 32 || bytes == 64);
    using Word = VectorOf<uint64_t, bytes>;
    using Number = kem::x25519::Element<Word>;
    static constexpr int limbs = kem::x25519::limbs;

    WARPSEAL_INLINE static Number shortened(const Number& a) { return carry_once(a); }

    WARPSEAL_INLINE static Number multiply(const Number& a, const Number& b) {
        return multiply_add(a, b, Number{});
    }
    // Returns a * b + c; limbs of c are below 2^52. The high half of a column has the weight of the
    // next column, twice.
    WARPSEAL_INLINE static Number multiply_add(const Number& a, const Number& b, const Number& c) {
        Word low[2 * limbs - 1] = {}, high[2 * limbs - 1] = {};
        WARPSEAL_UNROLL for (int i = 0; i < limbs; ++i)
            WARPSEAL_UNROLL for (int j = 0; j < limbs; ++j) {
            low[i + j] = add_low(low[i + j], a.at[i], b.at[j]);
            high[i + j] = add_high(high[i + j], a.at[i], b.at[j]);
        }
        Word column[2 * limbs];
        WARPSEAL_UNROLL for (int k = 0; k < 2 * limbs; ++k) {
            column[k] = k < 2 * limbs - 1 ? low[k] : Word{};
            if (k > 0) column[k] += high[k - 1] << 1;
            if (k < limbs) column[k] += c.at[k];
        }
        return folded(column);
    }
    // Products of different limbs count twice: their low halves, and the high halves of squares of
    // limbs, are added first.
    WARPSEAL_INLINE static Number square(const Number& a) {
        Word once[2 * limbs] = {}, twice[2 * limbs] = {}, high[2 * limbs] = {};
        WARPSEAL_UNROLL for (int i = 0; i < limbs; ++i) {
            once[2 * i] = add_low(once[2 * i], a.at[i], a.at[i]);
            twice[2 * i + 1] = add_high(twice[2 * i + 1], a.at[i], a.at[i]);
            WARPSEAL_UNROLL for (int j = i + 1; j < limbs; ++j) {
                twice[i + j] = add_low(twice[i + j], a.at[i], a.at[j]);
                high[i + j + 1] = add_high(high[i + j + 1], a.at[i], a.at[j]);
            }
        }
        Word column[2 * limbs];
        WARPSEAL_UNROLL for (int k = 0; k < 2 * limbs; ++k) column[k] =
            once[k] + ((twice[k] + (high[k] << 1)) << 1);
        return folded(column);
    }
    WARPSEAL_INLINE static Number add_a24(const Number& a, const Number& b) {
        const Word factor = Word{} + kem::x25519::a24;
        Word high[limbs];
        Number sum = a;
        for (int i = 0; i < limbs; ++i) {
            sum.at[i] = add_low(sum.at[i], b.at[i], factor);
            high[i] = add_high(Word{}, b.at[i], factor) << 1;
        }
        sum.at[0] += times_19(high[limbs - 1]);
        for (int i = 1; i < limbs; ++i) sum.at[i] += high[i - 1];
        return carry_once(sum);
    }

private:
    WARPSEAL_INLINE static Word add_low(const Word& sum, const Word& a, const Word& b) {
        if constexpr (bytes == 64)
            return (Word)_mm512_madd52lo_epu64((__m512i)sum, (__m512i)a, (__m512i)b);
        else
            return (Word)_mm256_madd52lo_epu64((__m256i)sum, (__m256i)a, (__m256i)b);
    }
    WARPSEAL_INLINE static Word add_high(const Word& sum, const Word& a, const Word& b) {
        if constexpr (bytes == 64)
            return (Word)_mm512_madd52hi_epu64((__m512i)sum, (__m512i)a, (__m512i)b);
        else
            return (Word)_mm256_madd52hi_epu64((__m256i)sum, (__m256i)a, (__m256i)b);
    }
    WARPSEAL_INLINE static Word times_19(const Word& a) { return a + (a << 1) + (a << 4); }
    // Columns are below 8 * 2^52, so sums are below 2^60 and their carries below 2^9.
    WARPSEAL_INLINE static Number folded(const Word (&column)[2 * limbs]) {
        Number sum;
        WARPSEAL_UNROLL for (int k = 0; k < limbs; ++k) sum.at[k] =
            column[k] + times_19(column[k + limbs]);
        return carry_once(sum);
    }
};

}  // namespace
}  // namespace warpseal::cpu
