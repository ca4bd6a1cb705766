// Arithmetic of ML-KEM (FIPS 203): polynomials modulo q = 3329 and x^256 + 1, one or two at a time
// in the lanes of vectors. A backend hashes.
//
// `Lanes` is the target's vector:
//   Vector                        signed 16-bit numbers, with the operators of arithmetic
//   lanes, row                    their number; and of those that belong to one polynomial
//   polys                         lanes / row, 1 or 2
//   multiply_high(a, b)           bits 16 to 31 of the products
//   load(at), store(at, v)        lanes consecutive numbers
//   load_rows(a, b)               `row` numbers of a, and of b if there are two polynomials
//   store_rows(a, b, v)
//   widen(in)                     lanes / 2 bytes as 32-bit numbers
//   transpose(v)                  row vectors as a matrix, each polynomial apart
// Numbers are secret unless said otherwise: no function branches on one or divides.
#pragma once

#include "core/word.h"
#include "kem/mlkem_params.h"

namespace warpseal::kem::mlkem {

inline constexpr int n = 256;
inline constexpr int16_t q = 3329, q_inverse = -3327;  // 1 / q modulo 2^16
static_assert(static_cast<uint16_t>(q * q_inverse) == 1);

// 256 coefficients; in order of degree, or after `ntt` in the order of `split_index`.
struct Poly {
    alignas(64) int16_t at[n];
};

// --- constants

constexpr int power(int base, int exponent) {
    int result = 1;
    for (int i = 0; i < exponent; ++i) result = result * base % q;
    return result;
}
// Returns x 2^16 modulo q, closest to zero: Montgomery form.
constexpr int16_t montgomery_form(int x) {
    const int residue = static_cast<int>(static_cast<uint32_t>(x) * 65536u % q);
    return static_cast<int16_t>(residue > q / 2 ? residue - q : residue);
}
constexpr int reverse7(int x) {
    int out = 0;
    for (int i = 0; i < 7; ++i) out |= (x >> i & 1) << (6 - i);
    return out;
}
constexpr int16_t zeta(int i) { return montgomery_form(power(17, reverse7(i))); }
constexpr int16_t gamma(int i) { return montgomery_form(power(17, 2 * reverse7(i) + 1)); }

// A factor with its product by 1 / q, for montgomery().
struct Factor {
    int16_t value, by_q_inverse;
};
constexpr Factor factor(int16_t value) {
    return {value, static_cast<int16_t>(static_cast<uint16_t>(value * q_inverse))};
}
struct Zetas {
    Factor of[128];
};
constexpr Zetas make_zetas() {
    Zetas out{};
    for (int i = 0; i < 128; ++i) out.of[i] = factor(zeta(i));
    return out;
}
inline constexpr Zetas zetas = make_zetas();
// From the inverse transform's factor 128 and the products' 2^-16.
inline constexpr Factor inverse_scale = factor(montgomery_form(65536 % q * power(128, q - 2) % q));
inline constexpr Factor montgomery_square = factor(montgomery_form(65536 % q));

// After `ntt`, residues with the same X^2 - gamma lie as 128 constant terms, then 128 linear terms.
// Polynomials are seen as blocks of row x row coefficients, which are transposed.
// Returns the degree (before the transform, the index in FIPS 203) of the number at `index`.
template <int row>
constexpr int split_degree(int index) {
    const int half = index / 128, vector = index % 128 / row, lane = index % row;
    const int block = vector / (row / 2), column = vector % (row / 2) * 2 + half;
    return row * (row * block + lane) + column;
}

// Factors of the layers within a row, as vectors over its rows, and gammas in the same order.
template <class Lanes>
struct Columns {
    static constexpr int lanes = Lanes::lanes, row = Lanes::row, blocks = n / row / row;
    struct Layer {
        alignas(64) int16_t value[blocks * row / 4][lanes], by_q_inverse[blocks * row / 4][lanes];
        constexpr void set(int i, int lane, const Factor& f) {
            value[i][lane] = f.value;
            by_q_inverse[i][lane] = f.by_q_inverse;
        }
    };
    struct Tables {
        Layer layer[4], inverse_layer[4];  // of length 1 << i
        alignas(64) int16_t gamma[n / 2], gamma_by_q_inverse[n / 2];
    };
    static constexpr Tables make() {
        Tables out{};
        for (int log = 1; 1 << log < row; ++log) {
            const int length = 1 << log, groups = row / (2 * length);
            for (int i = 0; i < blocks * groups; ++i)
                for (int lane = 0; lane < lanes; ++lane) {
                    const int degree = row * (row * (i / groups) + lane % row);
                    const int group = degree / (2 * length) + i % groups;
                    out.layer[log].set(i, lane, zetas.of[128 / length + group]);
                    out.inverse_layer[log].set(i, lane, zetas.of[256 / length - 1 - group]);
                }
        }
        for (int i = 0; i < n / 2; ++i) {
            const Factor f = factor(gamma(split_degree<row>(i) / 2));
            out.gamma[i] = f.value;
            out.gamma_by_q_inverse[i] = f.by_q_inverse;
        }
        return out;
    }
    static constexpr Tables tables = make();
};

// --- numbers in lanes

// Products modulo 2^16.
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector multiply_low(const Vector& a, const Vector& b) {
    using Unsigned = typename Lanes::Unsigned;
    return (Vector)((Unsigned)a * (Unsigned)b);
}

// Returns a f / 2^16 modulo q, below q / 2 + |a f| / 2^16 in magnitude.
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector montgomery(const Vector& a, const Vector& f, const Vector& f_by_q_inverse) {
    const Vector quotient = multiply_low<Lanes>(a, f_by_q_inverse);
    return Lanes::multiply_high(a, f) - Lanes::multiply_high(quotient, Vector{} + q);
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector montgomery(const Vector& a, const Factor& f) {
    return montgomery<Lanes>(a, Vector{} + f.value, Vector{} + f.by_q_inverse);
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector montgomery(const Vector& a, const Vector& b) {
    return montgomery<Lanes>(a, b, multiply_low<Lanes>(b, Vector{} + q_inverse));
}

// Reduces any number to at most 1665 in magnitude (Barrett).
inline constexpr int16_t barrett = 20159;  // 2^26 / q, rounded
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector reduce(const Vector& a) {
    const Vector quotient = (Lanes::multiply_high(a, Vector{} + barrett) + 512) >> 10;
    return a - multiply_low<Lanes>(quotient, Vector{} + q);
}
// Reduces any number to [0, q).
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector canonical(const Vector& a) {
    const Vector r = reduce<Lanes>(a);
    return r + ((r >> 15) & q);
}

// Compress_d of [0, q), exactly (equation 4.7). Bits 13 of the quotient are nearly right, and its
// remainder says by how much they are not.
template <class Lanes, int d, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector compress(const Vector& a) {
    static_assert(d >= 1 && d <= 11);
    Vector r = (Lanes::multiply_high(a << 3, Vector{} + barrett) + (1 << (12 - d))) >> (13 - d);
    using Unsigned = typename Lanes::Unsigned;
    const Vector rest = (Vector)((Unsigned)a << d) - multiply_low<Lanes>(r, Vector{} + q);
    r -= (q / 2 - rest) >> 15;
    r += (rest + q / 2) >> 15;
    return r & ((1 << d) - 1);
}

// Decompress_d of [0, 2^d) (equation 4.8): q a / 2^d, rounded.
template <class Lanes, int d, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector decompress(const Vector& a) {
    static_assert(d >= 1 && d <= 11);
    using Unsigned = typename Lanes::Unsigned;
    const Vector scaled = a << (15 - d);
    const Vector high = Lanes::multiply_high(scaled, Vector{} + q);
    const Unsigned low = (Unsigned)multiply_low<Lanes>(scaled, Vector{} + q);
    return (high << 1) + (Vector)(((low >> 14) + 1) >> 1);
}

// --- transforms

template <class Lanes>
constexpr int vectors = n / Lanes::row;

template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void load_split(Vector (&v)[vectors<Lanes>], const Poly& a, const Poly& b) {
    constexpr int row = Lanes::row;
    WARPSEAL_UNROLL for (int i = 0; i < n / row; ++i) {
        const int at = (i % 2) * (n / 2) + i / 2 * row;
        v[i] = Lanes::load_rows(a.at + at, b.at + at);
    }
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void store_split(Poly& a, Poly& b, const Vector (&v)[vectors<Lanes>]) {
    constexpr int row = Lanes::row;
    WARPSEAL_UNROLL for (int i = 0; i < n / row; ++i) {
        const int at = (i % 2) * (n / 2) + i / 2 * row;
        Lanes::store_rows(a.at + at, b.at + at, v[i]);
    }
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void load_ordered(Vector (&v)[vectors<Lanes>], const Poly& a, const Poly& b) {
    WARPSEAL_UNROLL for (int i = 0; i < vectors<Lanes>; ++i) v[i] =
        Lanes::load_rows(a.at + i * Lanes::row, b.at + i * Lanes::row);
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void store_ordered(Poly& a, Poly& b, const Vector (&v)[vectors<Lanes>]) {
    WARPSEAL_UNROLL for (int i = 0; i < vectors<Lanes>; ++i)
        Lanes::store_rows(a.at + i * Lanes::row, b.at + i * Lanes::row, v[i]);
}
template <class Lanes, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void transpose(Vector (&v)[vectors<Lanes>]) {
    WARPSEAL_UNROLL for (int block = 0; block < vectors<Lanes>; block += Lanes::row)
        Lanes::transpose(v + block);
}

// Each layer adds less than q / 2 + |a| / 39 to the magnitude: from q, seven reach less than 5 q.
template <class Vector, class Multiply>
WARPSEAL_INLINE void forward(Vector& a, Vector& b, const Multiply& by_zeta) {
    const Vector product = by_zeta(b);
    b = a - product;
    a += product;
}
// Doubles the magnitude.
template <class Vector, class Multiply>
WARPSEAL_INLINE void backward(Vector& a, Vector& b, const Multiply& by_zeta) {
    const Vector difference = b - a;
    a += b;
    b = by_zeta(difference);
}

template <class Lanes, int length, class Butterfly, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void layer(Vector (&v)[vectors<Lanes>], const Butterfly& butterfly) {
    constexpr int row = Lanes::row, count = vectors<Lanes>;
    if constexpr (length >= row) {
        constexpr int step = length / row;
        WARPSEAL_UNROLL for (int i = 0; i < count / 2; ++i) {
            const int group = i / step, at = group * 2 * step + i % step;
            butterfly(v[at], v[at + step], group);
        }
    } else {
        WARPSEAL_UNROLL for (int i = 0; i < count / 2; ++i)
            butterfly(v[i / length * 2 * length + i % length],
                      v[i / length * 2 * length + i % length + length], i / length);
    }
}
// Multiplies by the factor of a group: in layers within a row, the factors of its rows.
template <class Lanes, int length, bool inverse, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE Vector by_zeta(const Vector& a, int group) {
    if constexpr (length >= Lanes::row) {
        return montgomery<Lanes>(
            a, zetas.of[inverse ? 256 / length - 1 - group : 128 / length + group]);
    } else {
        constexpr int log = __builtin_ctz(length);
        constexpr auto& tables = Columns<Lanes>::tables;
        constexpr auto& factors = inverse ? tables.inverse_layer[log] : tables.layer[log];
        return montgomery<Lanes>(a, Lanes::load(factors.value[group]),
                                 Lanes::load(factors.by_q_inverse[group]));
    }
}

template <class Lanes, int length, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void forward_layers(Vector (&v)[vectors<Lanes>]) {
    layer<Lanes, length>(v, [](Vector& a, Vector& b, int group) {
        forward(a, b, [&](const Vector& x) { return by_zeta<Lanes, length, false>(x, group); });
    });
    if constexpr (length == Lanes::row) transpose<Lanes>(v);
    if constexpr (length > 2) forward_layers<Lanes, length / 2>(v);
}

template <class Lanes, int length, class Vector = typename Lanes::Vector>
WARPSEAL_INLINE void backward_layers(Vector (&v)[vectors<Lanes>]) {
    if constexpr (length == Lanes::row) transpose<Lanes>(v);
    // zeta(2 g - 1 - i) = -1 / zeta(g + i) for the g groups; `backward` subtracts b - a.
    layer<Lanes, length>(v, [](Vector& a, Vector& b, int group) {
        backward(a, b, [&](const Vector& x) { return by_zeta<Lanes, length, true>(x, group); });
    });
    if constexpr (length == 16) WARPSEAL_UNROLL for (auto& one : v) one = reduce<Lanes>(one);
    if constexpr (length < n / 2) backward_layers<Lanes, 2 * length>(v);
}

// Transforms a and b (the same one, or both if Lanes holds two): algorithm 9. Input below q in
// magnitude, output below 5 q.
template <class Lanes>
WARPSEAL_INLINE void ntt(Poly& a, Poly& b) {
    typename Lanes::Vector v[vectors<Lanes>];
    load_ordered<Lanes>(v, a, b);
    forward_layers<Lanes, n / 2>(v);
    store_split<Lanes>(a, b, v);
}

// Algorithm 10, for sums of products by multiply_add: the factor 2^-16 of these is undone. Any
// input; output below q in magnitude.
template <class Lanes>
WARPSEAL_INLINE void inverse_ntt(Poly& a, Poly& b) {
    typename Lanes::Vector v[vectors<Lanes>];
    load_split<Lanes>(v, a, b);
    WARPSEAL_UNROLL for (auto& one : v) one = reduce<Lanes>(one);
    backward_layers<Lanes, 2>(v);
    WARPSEAL_UNROLL for (auto& one : v) one = montgomery<Lanes>(one, inverse_scale);
    store_ordered<Lanes>(a, b, v);
}

// Reorder polynomials that are given in the transform's domain.
template <class Lanes>
WARPSEAL_INLINE void to_split(Poly& a, Poly& b) {
    typename Lanes::Vector v[vectors<Lanes>];
    load_ordered<Lanes>(v, a, b);
    transpose<Lanes>(v);
    store_split<Lanes>(a, b, v);
}
template <class Lanes>
WARPSEAL_INLINE void from_split(Poly& a, Poly& b) {
    typename Lanes::Vector v[vectors<Lanes>];
    load_split<Lanes>(v, a, b);
    transpose<Lanes>(v);
    store_ordered<Lanes>(a, b, v);
}

// Calls transform(a, b) until all of `count` polynomials are done.
template <class Lanes, class Transform>
WARPSEAL_INLINE void for_all(Poly* polys, int count, const Transform& transform) {
    for (int i = 0; i < count; i += Lanes::polys)
        transform(polys[i], polys[i + Lanes::polys <= count ? i + Lanes::polys - 1 : i]);
}

// Adds a b / 2^16 in the transform's domain (algorithms 11 and 12). `a` is below 2^12 and b below
// 5 q in magnitude; each call adds less than 1.7 q, so that four fit in 16 bits.
template <class Lanes>
WARPSEAL_INLINE void multiply_add(Poly& sum, const Poly& a, const Poly& b) {
    using Vector = typename Lanes::Vector;
    constexpr auto& tables = Columns<Lanes>::tables;
    for (int i = 0; i < n / 2; i += Lanes::lanes) {
        const Vector a0 = Lanes::load(a.at + i), a1 = Lanes::load(a.at + n / 2 + i),
                     b0 = Lanes::load(b.at + i), b1 = Lanes::load(b.at + n / 2 + i);
        const Vector q0 = multiply_low<Lanes>(b0, Vector{} + q_inverse),
                     q1 = multiply_low<Lanes>(b1, Vector{} + q_inverse);
        const Vector high = montgomery<Lanes>(a1, b1, q1);
        const Vector constant = montgomery<Lanes>(a0, b0, q0) +
                                montgomery<Lanes>(high, Lanes::load(tables.gamma + i),
                                                  Lanes::load(tables.gamma_by_q_inverse + i));
        const Vector linear = montgomery<Lanes>(a0, b1, q1) + montgomery<Lanes>(a1, b0, q0);
        Lanes::store(sum.at + i, Lanes::load(sum.at + i) + constant);
        Lanes::store(sum.at + n / 2 + i, Lanes::load(sum.at + n / 2 + i) + linear);
    }
}

// Calls each(v, i) for the numbers from i on, and stores what it leaves in v.
template <class Lanes, class Each>
WARPSEAL_INLINE void for_lanes(Poly& a, const Each& each) {
    for (int i = 0; i < n; i += Lanes::lanes) {
        typename Lanes::Vector v = Lanes::load(a.at + i);
        each(v, i);
        Lanes::store(a.at + i, v);
    }
}

}  // namespace warpseal::kem::mlkem
