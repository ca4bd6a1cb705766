// Polynomials of NTRU, and what is done to them coefficient by coefficient (round-3 specification,
// sections 1.7, 1.8 and 1.9.3).
//
// A coefficient is 16 bits. Modulo q it is any 16-bit number of the right class: bits from log_q
// upward mean nothing. A ternary one is -1, 0 or 1 in two's complement, which lifts it to every
// modulus as it stands. An element of S = Z[x]/Phi_n is any polynomial of its class modulo x^n - 1
// until it is written down, which takes the one whose coefficient n - 1 is zero.
#pragma once

#include "core/word.h"
#include "kem/params.h"

namespace warpseal::kem {

// Coefficients from n on are zero, always: vectors may run over the end.
template <const Params& set>
struct Poly {
    static constexpr int size = (set.n + 63) / 64 * 64;
    alignas(64) uint16_t at[size];
};

WARPSEAL_INLINE constexpr uint16_t low16(uint32_t x) { return static_cast<uint16_t>(x); }

// v modulo 3 as -1, 0 or 1, for -mod3_reach <= v <= mod3_reach: with that added (a multiple of 3)
// it is below 2^16, and 43691 / 2^17 exceeds 1/3 by less than 2^-17 / 3, too little to move the
// quotient of 16 bits.
inline constexpr uint32_t mod3_reach = 16386;
static_assert(mod3_reach % 3 == 0 && 2 * mod3_reach < 65536 && 3 * 43691 == (1 << 17) + 1);
WARPSEAL_INLINE constexpr uint16_t mod3(uint16_t v) {
    const uint16_t positive = low16(v + mod3_reach);
    const uint16_t high = low16(uint32_t{positive} * 43691 >>
                                16);  // the upper half of a product: one instruction for vectors
    const uint16_t rest = low16(positive - 3u * (high >> 1));
    return low16(rest - 3 * (rest >> 1));
}

// The representative of a class modulo q in [-q/2, q/2).
template <const Params& set>
WARPSEAL_INLINE constexpr uint16_t centred(uint16_t v) {
    const uint32_t half = static_cast<uint32_t>(set.q()) / 2,
                   mask = static_cast<uint32_t>(set.q()) - 1;
    return low16(((v + half) & mask) - half);
}

// 1 if v is zero, else 0, for v <= 2^31. The compiler does not learn that it is one of two, or it
// would branch where a mask is meant.
WARPSEAL_INLINE uint32_t is_zero(uint32_t v) {
    uint32_t answer = (v - 1) >> 31;
    __asm__("" : "+r"(answer));
    return answer;
}

// A ternary coefficient as its residue 0, 1 or 2, and the other way. Of any other coefficient
// `digit` is still below 4.
WARPSEAL_INLINE constexpr uint32_t digit(uint16_t trit) { return (trit + 3u * (trit >> 15)) & 3; }
WARPSEAL_INLINE constexpr uint16_t trit(uint32_t digit) { return low16(digit - 3 * (digit >> 1)); }

template <const Params& set>
WARPSEAL_INLINE void clear_tail(Poly<set>& a) {
    for (int i = set.n; i < Poly<set>::size; ++i) a.at[i] = 0;
}

// The one of the class modulo (q, Phi_n) without coefficient n - 1, which is the same times
// `factor`.
template <const Params& set>
WARPSEAL_INLINE void reduce_phi(Poly<set>& a, uint16_t factor = 1) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = 0; i < set.n; ++i)
        a.at[i] = low16(uint32_t{factor} * low16(a.at[i] - uint32_t{last}));
}

// The class modulo (3, Phi_n), ternary and without coefficient n - 1, of integer coefficients of at
// most mod3_reach / 2.
template <const Params& set>
WARPSEAL_INLINE void reduce_s3(Poly<set>& a) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = 0; i < set.n; ++i) a.at[i] = mod3(low16(a.at[i] - uint32_t{last}));
}

// The same of coefficients modulo q, each taken in [-q/2, q/2).
template <const Params& set>
WARPSEAL_INLINE void reduce_q_to_s3(Poly<set>& a) {
    static_assert(set.q() <=
                  static_cast<int>(mod3_reach));  // the difference of two that are centred
    const uint16_t last = centred<set>(a.at[set.n - 1]);
    for (int i = 0; i < set.n; ++i) a.at[i] = mod3(low16(centred<set>(a.at[i]) - uint32_t{last}));
}

// a (x - 1), in place.
template <const Params& set>
WARPSEAL_INLINE void multiply_by_x_minus_1(Poly<set>& a) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = set.n - 1; i > 0; --i) a.at[i] = low16(a.at[i - 1] - uint32_t{a.at[i]});
    a.at[0] = low16(last - uint32_t{a.at[0]});
}

// Each coefficient becomes its sum with all those below: of coefficients 0 to 2, four to a word,
// whose sums stay below 2^16.
template <const Params& set>
WARPSEAL_INLINE void running_sums(Poly<set>& a) {
    static_assert(Poly<set>::size % 4 == 0 && 2 * set.n < 65536);
    constexpr uint64_t ones = 0x0001000100010001;
    uint64_t below = 0;
    for (int i = 0; i < Poly<set>::size; i += 4) {
        uint64_t four = a.at[i] | uint64_t{a.at[i + 1]} << 16 | uint64_t{a.at[i + 2]} << 32 |
                        uint64_t{a.at[i + 3]} << 48;
        four *= ones;
        const uint64_t sums = four + below * ones;
        below += four >> 48;
        for (int j = 0; j < 4; ++j) a.at[i + j] = low16(static_cast<uint32_t>(sums >> (16 * j)));
    }
    clear_tail<set>(a);
}

// Lift of a ternary m without coefficient n - 1. HPS: m itself. HRSS: (x - 1) times m / (x - 1) in
// S3. b (x - 1) = m + t Phi_n asks for b[i - 1] - b[i] = m[i] + t, all sums around the circle being
// zero: t = -(sum of m) / n modulo 3, and with b[n - 1] = 0 the others are sums.
template <const Params& set>
WARPSEAL_INLINE void lift(Poly<set>& m) {
    if constexpr (set.family == Family::hrss) {
        static_assert(set.n % 3 == 2 && 2 * set.n <= static_cast<int>(mod3_reach));  // -1/n = 1
        uint32_t sum = 0;
        for (int i = 0; i < set.n; ++i) sum += m.at[i];
        const uint16_t t = mod3(low16(sum));
        for (int i = 0; i < set.n; ++i) m.at[i] = low16(digit(mod3(low16(0u - m.at[i] - t))));
        running_sums<set>(m);
        for (int i = 0; i < set.n; ++i) m.at[i] = mod3(m.at[i]);
        multiply_by_x_minus_1<set>(m);
    }
}

// Into T+: v of the ternary v without coefficient n - 1, with the signs of its even coefficients
// turned if sum v[i] v[i + 1] is negative.
template <const Params& set>
WARPSEAL_INLINE void correlate(Poly<set>& v) {
    uint32_t sum = 0;
    for (int i = 0; i + 1 < set.n; ++i) sum += uint32_t{v.at[i]} * v.at[i + 1];
    const uint32_t sign = 1 - 2 * (low16(sum) >> 15);
    for (int i = 0; i < set.n; i += 2) v.at[i] = low16(v.at[i] * sign);
}

// 1 if m (ternary) has as many coefficients 1 and -1 as HPS prescribes, else 0.
template <const Params& set>
WARPSEAL_INLINE uint32_t has_weight(const Poly<set>& m) {
    uint32_t nonzero = 0, negative = 0;
    for (int i = 0; i < set.n; ++i) {
        negative += m.at[i] >> 15;
        nonzero += m.at[i] & 1u;
    }
    return is_zero((nonzero ^ 2 * set.weight()) | (negative ^ set.weight()));
}

// 1 if all coefficients modulo q are -1, 0 or 1, else 0; they then stand as ternary ones.
template <const Params& set>
WARPSEAL_INLINE uint32_t to_ternary(Poly<set>& r) {
    uint32_t others = 0;
    for (int i = 0; i < set.n; ++i) {
        r.at[i] = centred<set>(r.at[i]);
        const uint32_t digit = low16(r.at[i] + 1u);
        others |= (digit & ~3u) | (digit & digit >> 1 & 1u);
    }
    return is_zero(others);
}

// 1 if all coefficients are zero, else 0.
template <const Params& set>
WARPSEAL_INLINE uint32_t is_zero(const Poly<set>& a) {
    uint32_t any = 0;
    for (int i = 0; i < set.n; ++i) any |= a.at[i];
    return is_zero(any);
}

// a becomes the polynomial 1 if `replace` is 1, and stays if that is 0.
template <const Params& set>
WARPSEAL_INLINE void replace_by_one(Poly<set>& a, uint32_t replace) {
    for (int i = 0; i < set.n; ++i) a.at[i] = low16(a.at[i] & (replace - 1));
    a.at[0] = low16(a.at[0] | replace);
}

}  // namespace warpseal::kem
