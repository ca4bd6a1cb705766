// X25519 of many items on one core: products with given points and with the base point. A target
// computes items one by one with one inversion for all, or one in each lane of a vector.
#pragma once

#include "backends/cpu/representations/vector.h"
#include "core/secret.h"
#include "kem/x25519_base.h"

namespace warpseal::cpu {
namespace {

// 32 bytes of each item.
struct X25519Input {
    const uint8_t* at;
    uint64_t stride;
    const uint8_t* operator[](int i) const { return at + static_cast<uint64_t>(i) * stride; }
};
struct X25519Output {
    uint8_t* at;
    uint64_t stride;
    uint8_t* operator[](int i) const { return at + static_cast<uint64_t>(i) * stride; }
};

// Number of items in a call of the functions below, at most.
inline constexpr int x25519_group = 8;

// Computes products of one item, with arithmetic on one number at a time.
struct X25519SingleNumber {
    using Field = kem::x25519::Single;
    using Fraction = kem::x25519::Fraction<Field>;

    WARPSEAL_INLINE static Fraction product(const kem::x25519::Bytes<uint64_t>& scalar,
                                            const Field::Number& point) {
        return kem::x25519::ladder<Field>(scalar, point);
    }
    WARPSEAL_INLINE static Fraction base_product(const uint64_t (&digits)[64]) {
        return kem::x25519::multiply_base<Field>(digits, kem::x25519::base_table);
    }
};

// Computes items one by one, with the functions of Products. All inputs are read before the first
// result is written, so that outputs may overlap inputs.
template <class Products>
struct X25519OneByOne {
    using Field = kem::x25519::Single;
    using Number = Field::Number;
    using Words = kem::x25519::Bytes<uint64_t>;
    using Fraction = kem::x25519::Fraction<Field>;
    // Scalars of the base point as digits. Its owner zeroizes it.
    struct Work {
        uint64_t digits[64];
    };

    static void multiply(X25519Input scalars, X25519Input points, X25519Output out, int count) {
        Fraction results[x25519_group];
        for (int i = 0; i < count; ++i) one_product(results[i], scalars[i], points[i]);
        divide(results, out, count);
    }
    static void multiply_base(X25519Input scalars, X25519Output out, int count, Work& work) {
        Fraction results[x25519_group];
        for (int i = 0; i < count; ++i) one_base_product(results[i], scalars[i], work);
        divide(results, out, count);
    }

private:
    static Words load(const uint8_t* in) {
        Words out;
        memcpy(&out, in, sizeof out);
        return out;
    }
    __attribute__((noinline)) static void one_product(Fraction& out, const uint8_t* scalar,
                                                      const uint8_t* point) {
        out =
            Products::product(kem::x25519::clamped(load(scalar)), kem::x25519::decode(load(point)));
    }
    __attribute__((noinline)) static void one_base_product(Fraction& out, const uint8_t* scalar,
                                                           Work& work) {
        kem::x25519::signed_digits(work.digits, kem::x25519::clamped(load(scalar)));
        out = Products::base_product(work.digits);
    }
    // All ones if the number is 0 modulo p, else 0.
    static uint64_t is_zero(const Number& a) {
        const Words words = kem::x25519::encode(a);
        const uint64_t any = words.at[0] | words.at[1] | words.at[2] | words.at[3];
        return kem::x25519::hidden((~any & (any - 1)) >> 63) * ~uint64_t{0};
    }
    // Makes x / 0 the fraction 0 / 1, so that the other items keep their inverses.
    static void settle(Fraction& fraction) {
        const uint64_t zero = is_zero(fraction.under);
        for (uint64_t& limb : fraction.over.at) limb &= ~zero;
        for (uint64_t& limb : fraction.under.at) limb &= ~zero;
        fraction.under.at[0] |= zero & 1;
    }
    // One inversion for all (Montgomery's method).
    __attribute__((noinline)) static void divide(Fraction* results, X25519Output out, int count) {
        Number before[x25519_group];  // product of the denominators before each
        Number all = kem::x25519::small<uint64_t>(1);
        for (int i = 0; i < count; ++i) {
            settle(results[i]);
            before[i] = all;
            all = Field::multiply(all, results[i].under);
        }
        Number inverse = kem::x25519::invert<Field>(all);
        for (int i = count - 1; i >= 0; --i) {
            const Words words = kem::x25519::encode(
                Field::multiply(results[i].over, Field::multiply(inverse, before[i])));
            inverse = Field::multiply(inverse, results[i].under);
            memcpy(out[i], &words, sizeof words);
        }
    }
};

// Parameters of the operations below: the arithmetic, and the word of Keccak.
struct X25519Portable : X25519OneByOne<X25519SingleNumber> {
    using KeccakWord = uint64_t;
};
struct X25519Avx2 : X25519OneByOne<X25519SingleNumber> {
    using KeccakWord = VectorOf<uint64_t, 32>;
};

// Returns 1 if the 32 bytes are 0, else 0. Constant time.
inline uint32_t is_zero_secret(const uint8_t* secret) {
    uint32_t any = 0;
    for (int i = 0; i < 32; ++i) any |= secret[i];
    __asm__("" : "+r"(any));
    return (any - 1) >> 31;
}

}  // namespace
}  // namespace warpseal::cpu
