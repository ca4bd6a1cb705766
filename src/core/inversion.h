// S-boxes as boolean circuits over bit planes: the inversion of FIPS 197 between two linear layers,
// or any function by its polynomial.
#pragma once

#include "core/gates.h"
#include "core/linear.h"
#include "core/sbox.h"

namespace warpseal {

// Inversion in GF(((2^2)^2)^2) after J. Boyar and R. Peralta, "A depth-16 circuit for the AES
// S-box" (IACR ePrint 2011/332): products m of sums t of the input bits. Names and indices are the
// paper's; t[0] is its u7. LinearProgram computes the sums, which are linear.
namespace inversion {

constexpr int sum_count = 22, products = 18;
inline constexpr int used[sum_count] = {0,  1,  2,  3,  4,  6,  8,  9,  10, 13, 14,
                                        15, 16, 17, 19, 20, 22, 23, 24, 25, 26, 27};

// Computes the sums t of the input bits x. The paper numbers its inputs u from the top bit.
constexpr void sums_of_inputs(const uint32_t (&x)[8], uint32_t (&sum)[sum_count]) {
    uint32_t t[28] = {};
    const uint32_t u0 = x[7], u1 = x[6], u2 = x[5], u3 = x[4], u4 = x[3], u5 = x[2], u6 = x[1],
                   u7 = x[0];
    t[0] = u7, t[1] = u0 ^ u3, t[2] = u0 ^ u5, t[3] = u0 ^ u6, t[4] = u3 ^ u5, t[5] = u4 ^ u6,
    t[6] = t[1] ^ t[5], t[7] = u1 ^ u2;
    t[8] = u7 ^ t[6], t[9] = u7 ^ t[7], t[10] = t[6] ^ t[7], t[11] = u1 ^ u5, t[12] = u2 ^ u5,
    t[13] = t[3] ^ t[4], t[14] = t[6] ^ t[11];
    t[15] = t[5] ^ t[11], t[16] = t[5] ^ t[12], t[17] = t[9] ^ t[16], t[18] = u3 ^ u7,
    t[19] = t[7] ^ t[18], t[20] = t[1] ^ t[19];
    t[21] = u6 ^ u7, t[22] = t[7] ^ t[21], t[23] = t[2] ^ t[22], t[24] = t[2] ^ t[10],
    t[25] = t[20] ^ t[17], t[26] = t[3] ^ t[16];
    t[27] = t[1] ^ t[12];
    for (int i = 0; i < sum_count; ++i) sum[i] = t[used[i]];
}

// Computes the output bits of the FIPS 197 S-box, without its constant, from the products m46 to
// m63.
constexpr void sums_of_products(const uint32_t (&product)[products], uint32_t (&y)[8]) {
    uint32_t m[64] = {}, l[30] = {};
    for (int i = 0; i < products; ++i) m[46 + i] = product[i];
    l[0] = m[61] ^ m[62], l[1] = m[50] ^ m[56], l[2] = m[46] ^ m[48], l[3] = m[47] ^ m[55],
    l[4] = m[54] ^ m[58], l[5] = m[49] ^ m[61];
    l[6] = m[62] ^ l[5], l[7] = m[46] ^ l[3], l[8] = m[51] ^ m[59], l[9] = m[52] ^ m[53],
    l[10] = m[53] ^ l[4], l[11] = m[60] ^ l[2];
    l[12] = m[48] ^ m[51], l[13] = m[50] ^ l[0], l[14] = m[52] ^ m[61], l[15] = m[55] ^ l[1],
    l[16] = m[56] ^ l[0], l[17] = m[57] ^ l[1];
    l[18] = m[58] ^ l[8], l[19] = m[63] ^ l[4], l[20] = l[0] ^ l[1], l[21] = l[1] ^ l[7],
    l[22] = l[3] ^ l[12], l[23] = l[18] ^ l[2];
    l[24] = l[15] ^ l[9], l[25] = l[6] ^ l[10], l[26] = l[7] ^ l[9], l[27] = l[8] ^ l[10],
    l[28] = l[11] ^ l[14], l[29] = l[11] ^ l[17];
    y[7] = l[6] ^ l[24], y[6] = l[16] ^ l[26], y[5] = l[19] ^ l[28], y[4] = l[6] ^ l[21];
    y[3] = l[20] ^ l[22], y[2] = l[25] ^ l[29], y[1] = l[13] ^ l[27], y[0] = l[6] ^ l[23];
}

// The nonlinear middle layer. s holds the sums in the order of `used`.
template <class Word>
WARPSEAL_INLINE constexpr void multiply_sums(const Word* s, Word* product) {
    const Word d = s[0], t1 = s[1], t2 = s[2], t3 = s[3], t4 = s[4], t6 = s[5], t8 = s[6],
               t9 = s[7], t10 = s[8], t13 = s[9], t14 = s[10];
    const Word t15 = s[11], t16 = s[12], t17 = s[13], t19 = s[14], t20 = s[15], t22 = s[16],
               t23 = s[17], t24 = s[18], t25 = s[19];
    const Word t26 = s[20], t27 = s[21];
    const Word m1 = t13 & t6, m2 = t23 & t8, m3 = t14 ^ m1, m4 = t19 & d, m5 = m4 ^ m1,
               m6 = t3 & t16, m7 = t22 & t9, m8 = t26 ^ m6;
    const Word m9 = t20 & t17, m10 = m9 ^ m6, m11 = t1 & t15, m12 = t4 & t27, m13 = m12 ^ m11,
               m14 = t2 & t10, m15 = m14 ^ m11;
    const Word m16 = m3 ^ m2, m17 = m5 ^ t24, m18 = m8 ^ m7, m19 = m10 ^ m15, m20 = m16 ^ m13,
               m21 = m17 ^ m15, m22 = m18 ^ m13;
    const Word m23 = m19 ^ t25, m24 = m22 ^ m23, m25 = m22 & m20, m26 = m21 ^ m25, m27 = m20 ^ m21,
               m28 = m23 ^ m25, m29 = m28 & m27;
    const Word m30 = m26 & m24, m31 = m20 & m23, m32 = m27 & m31, m33 = m27 ^ m25, m34 = m21 & m22,
               m35 = m24 & m34, m36 = m24 ^ m25;
    const Word m37 = m21 ^ m29, m38 = m32 ^ m33, m39 = m23 ^ m30, m40 = m35 ^ m36, m41 = m38 ^ m40,
               m42 = m37 ^ m39, m43 = m37 ^ m38;
    const Word m44 = m39 ^ m40, m45 = m42 ^ m41;
    product[0] = m44 & t6, product[1] = m40 & t8, product[2] = m39 & d, product[3] = m43 & t16,
    product[4] = m38 & t9;
    product[5] = m37 & t17, product[6] = m42 & t15, product[7] = m45 & t27, product[8] = m41 & t10,
    product[9] = m44 & t13;
    product[10] = m40 & t23, product[11] = m39 & t19, product[12] = m43 & t3,
    product[13] = m38 & t22, product[14] = m37 & t20;
    product[15] = m42 & t1, product[16] = m45 & t4, product[17] = m41 & t2;
}

// The linear layers combined with the affine maps of S. An additional input is constant one.
template <class S>
struct Before {
    static constexpr int inputs = 9, sums = sum_count;
    static constexpr LinearProgram<inputs, sums> make() {
        uint32_t x[8] = {}, sum[sums] = {};
        for (int i = 0; i < 8; ++i) x[i] = S::in.row[i] | (S::in.constant >> i & 1u) << 8;
        sums_of_inputs(x, sum);
        return LinearProgram<inputs, sums>(sum);
    }
    static constexpr LinearProgram<inputs, sums> program = make();
};

template <class S>
struct After {
    static constexpr int inputs = products + 1, sums = 8;
    static constexpr LinearProgram<inputs, sums> make() {
        const Affine map = compose(S::out, inverse(plus(sub_bytes, sub_bytes.constant)));
        uint32_t m[products] = {}, y[8] = {}, sum[8] = {};
        for (int i = 0; i < products; ++i) m[i] = 1u << i;
        sums_of_products(m, y);
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < 8; ++j) sum[i] ^= (map.row[i] >> j & 1u) * y[j];
            sum[i] |= (map.constant >> i & 1u) << products;
        }
        return LinearProgram<inputs, sums>(sum);
    }
    static constexpr LinearProgram<inputs, sums> program = make();
};

}  // namespace inversion

// Any S-box by its polynomial over GF(2), a sum of products of input bits. For each product of the
// high four bits, it sums products of the low four bits.
namespace polynomial {

template <class S>
struct Coefficients {
    // [output bit][product of high bits], with one bit for each product of low bits.
    uint16_t of[8][16] = {};
    constexpr Coefficients() {
        uint8_t c[256] = {};
        for (int x = 0; x < 256; ++x) c[x] = value<S>(static_cast<uint8_t>(x));
        for (int bit = 1; bit < 256; bit *= 2)
            for (int x = bit; x < 256; x = (x + 1) | bit)
                c[x] = static_cast<uint8_t>(c[x] ^ c[x ^ bit]);
        for (int x = 0; x < 256; ++x)
            for (int i = 0; i < 8; ++i)
                of[i][x >> 4] = static_cast<uint16_t>(of[i][x >> 4] | (c[x] >> i & 1) << (x & 15));
    }
};

template <class S>
inline constexpr Coefficients<S> coefficients;

// Products of four bits: product[k] is the product of the bits that are set in k.
template <class Word>
WARPSEAL_INLINE constexpr void products_of(const Word* bit, Word* product) {
    product[0] = ~Word{};
    for (int k = 1; k < 16; ++k) {
        const int top = k >= 8 ? 3 : k >= 4 ? 2 : k >= 2 ? 1 : 0;
        product[k] = (k & (k - 1)) == 0 ? bit[top] : product[k & ~(1 << top)] & bit[top];
    }
}

template <class S, int i, int high, int low, class Word>
WARPSEAL_INLINE constexpr Word sum_of_low(const Word* product) {
    if constexpr (low == 16)
        return Word{};
    else if constexpr (coefficients<S>.of[i][high] >> low & 1)
        return product[low] ^ sum_of_low<S, i, high, low + 1>(product);
    else
        return sum_of_low<S, i, high, low + 1>(product);
}

template <class S, int i, int high, class Word>
WARPSEAL_INLINE constexpr Word sum(const Word* high_product, const Word* low_product) {
    if constexpr (high == 16)
        return Word{};
    else
        return (high_product[high] & sum_of_low<S, i, high, 0>(low_product)) ^
               sum<S, i, high + 1>(high_product, low_product);
}

template <class S, int i, class Word>
WARPSEAL_INLINE constexpr void all(Word* p, const Word* high_product, const Word* low_product) {
    if constexpr (i < 8) {
        p[i] = sum<S, i, 0>(high_product, low_product);
        all<S, i + 1>(p, high_product, low_product);
    }
}

}  // namespace polynomial

// An S-box may name its circuit of three-input gates: `using Gates = circuits::Aes`.
template <class S>
concept HasGates = requires {
    typename S::Gates;
};

// Applies the S-box S to a byte in every lane: p[i] is bit i.
template <class S, class Word>
WARPSEAL_INLINE constexpr void substitute_bitsliced(Word* p) {
    if constexpr (HasGates<S> && has_ternary_instruction<Word>()) {
        apply_gates<typename S::Gates>(p, p);
    } else if constexpr (InversionSBox<S>) {
        using Before = inversion::Before<S>;
        using After = inversion::After<S>;
        Word x[Before::inputs + Before::program.count] = {}, sum[Before::sums] = {};
        for (int i = 0; i < 8; ++i) x[i] = p[i];
        x[8] = ~Word{};
        run_steps<Before>(x);
        take_results<Before>(sum, x);
        Word m[After::inputs + After::program.count] = {};
        inversion::multiply_sums(sum, m);
        m[inversion::products] = ~Word{};
        run_steps<After>(m);
        take_results<After>(p, m);
    } else {
        Word high[16] = {}, low[16] = {};
        polynomial::products_of(p, low);
        polynomial::products_of(p + 4, high);
        polynomial::all<S, 0>(p, high, low);
    }
}

// True if the circuit computes S for all 256 inputs, and so do the gates that S may name. It is
// checked where the circuit is compiled, because nvcc does not allow the computed tables in device
// code.
template <class S>
constexpr bool circuit_is() {
    const auto function = [](int x) { return value<S>(static_cast<uint8_t>(x)); };
    if constexpr (HasGates<S>)
        if (!gates_compute<typename S::Gates>(function)) return false;
    return circuit_computes<8, 8>(
        [](uint64_t* y, const uint64_t* x) {
            for (int i = 0; i < 8; ++i) y[i] = x[i];
            substitute_bitsliced<S>(y);
        },
        function);
}

struct Inverse {
    static constexpr Affine in = identity, out = identity;
};
static_assert(circuit_is<Inverse>(), "a gate is wrong");

}  // namespace warpseal
