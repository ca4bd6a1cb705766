// X25519 on AVX-512 with IFMA: eight items, one in each 64-bit lane, or a few one by one.
#pragma once

#include "backends/cpu/kem/x25519_ifma_one.h"

namespace warpseal::cpu {
namespace {

struct X25519Ifma {
    using Field = IfmaNumbers<64>;
    using OneByOne = X25519OneByOne<X25519FourLanes>;
    using Word = Field::Word;
    using KeccakWord = Word;
    using Words = kem::x25519::Bytes<Word>;
    using Fraction = kem::x25519::Fraction<Field>;
    // Its owner zeroizes it. On the stack the fraction would lie below the part that is zeroized.
    struct Work {
        union {
            Word digits[64];
            OneByOne::Work one_by_one;
        };
        Fraction fraction;
    };

    // Eight items at once take as long as three to five one by one.
    static constexpr int one_by_one_max_items = 3;
    static void multiply(X25519Input scalars, X25519Input points, X25519Output out, int count) {
        if (count <= one_by_one_max_items) return OneByOne::multiply(scalars, points, out, count);
        products(scalars, points, out, count);
    }
    static void multiply_base(X25519Input scalars, X25519Output out, int count, Work& work) {
        if (count <= one_by_one_max_items)
            return OneByOne::multiply_base(scalars, out, count, work.one_by_one);
        base_products(scalars, count, work);
        store(work.fraction, out, count);
    }

private:
    __attribute__((noinline)) static void products(X25519Input scalars, X25519Input points,
                                                   X25519Output out, int count) {
        store(kem::x25519::ladder<Field>(kem::x25519::clamped(load(scalars, count)),
                                         kem::x25519::decode(load(points, count))),
              out, count);
    }
    __attribute__((noinline)) static void base_products(X25519Input scalars, int count,
                                                        Work& work) {
        kem::x25519::signed_digits(work.digits, kem::x25519::clamped(load(scalars, count)));
        work.fraction = kem::x25519::multiply_base<Field>(work.digits, kem::x25519::base_table);
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
