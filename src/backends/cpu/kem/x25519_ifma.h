// X25519 on AVX-512 with IFMA: eight items, one in each 64-bit lane.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kem/x25519_batch.h"

namespace warpseal::cpu {
namespace {

// The multiplier takes 52 bits of each limb and returns the product's halves of 52 bits. Limbs that
// multiply are below 2^51 + 2^14: every result here is carried once.
struct EightNumbers {
    using Word = VectorOf<uint64_t, 64>;
    using Number = kem::x25519::Element<Word>;
    static constexpr int limbs = kem::x25519::limbs;

    WARPSEAL_INLINE static Number shortened(const Number& a) { return carry_once(a); }

    // The high half of a column has the weight of the next column, twice.
    WARPSEAL_INLINE static Number multiply(const Number& a, const Number& b) {
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
        return (Word)_mm512_madd52lo_epu64((__m512i)sum, (__m512i)a, (__m512i)b);
    }
    WARPSEAL_INLINE static Word add_high(const Word& sum, const Word& a, const Word& b) {
        return (Word)_mm512_madd52hi_epu64((__m512i)sum, (__m512i)a, (__m512i)b);
    }
    WARPSEAL_INLINE static Word times_19(const Word& a) { return a + (a << 1) + (a << 4); }
    // Columns are below 15 * 2^52, so sums are below 2^61 and their carries below 2^10.
    WARPSEAL_INLINE static Number folded(const Word (&column)[2 * limbs]) {
        Number sum;
        WARPSEAL_UNROLL for (int k = 0; k < limbs; ++k) sum.at[k] =
            column[k] + times_19(column[k + limbs]);
        return carry_once(sum);
    }
};

struct X25519Ifma {
    using Field = EightNumbers;
    using Word = Field::Word;
    using KeccakWord = Word;
    using Words = kem::x25519::Bytes<Word>;
    using Fraction = kem::x25519::Fraction<Field>;
    union Work {
        Word digits[64];
        X25519Single::Work single;
    };

    // A single item takes less time alone.
    static void multiply(X25519Input scalars, X25519Input points, X25519Output out, int count) {
        if (count == 1) return X25519Single::multiply(scalars, points, out, count);
        products(scalars, points, out, count);
    }
    static void multiply_base(X25519Input scalars, X25519Output out, int count, Work& work) {
        if (count == 1) return X25519Single::multiply_base(scalars, out, count, work.single);
        base_products(scalars, out, count, work);
    }

private:
    __attribute__((noinline)) static void products(X25519Input scalars, X25519Input points,
                                                   X25519Output out, int count) {
        store(kem::x25519::ladder<Field>(kem::x25519::clamped(load(scalars, count)),
                                         kem::x25519::decode(load(points, count))),
              out, count);
    }
    __attribute__((noinline)) static void base_products(X25519Input scalars, X25519Output out,
                                                        int count, Work& work) {
        kem::x25519::signed_digits(work.digits, kem::x25519::clamped(load(scalars, count)));
        store(kem::x25519::multiply_base<Field>(work.digits, kem::x25519::base_table), out, count);
    }
    // Idle lanes repeat the first item.
    static Words load(X25519Input from, int count) {
        uint64_t lane[4][x25519_group];
        for (int i = 0; i < x25519_group; ++i)
            for (int word = 0; word < 4; ++word)
                memcpy(&lane[word][i], from[i < count ? i : 0] + 8 * word, 8);
        Words out;
        memcpy(&out, lane, sizeof out);
        return out;
    }
    __attribute__((noinline)) static void store(const Fraction& fraction, X25519Output out,
                                                int count) {
        const Words words = kem::x25519::encode(
            Field::multiply(fraction.over, kem::x25519::invert<Field>(fraction.under)));
        uint64_t lane[4][x25519_group];
        memcpy(lane, &words, sizeof lane);
        for (int i = 0; i < count; ++i)
            for (int word = 0; word < 4; ++word) memcpy(out[i] + 8 * word, &lane[word][i], 8);
    }
};

}  // namespace
}  // namespace warpseal::cpu
