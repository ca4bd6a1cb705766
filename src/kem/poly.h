// NTRU polynomials and the operations on their coefficients (round-3 specification, sections 1.7,
// 1.8 and 1.9.3).
//
// A coefficient has 16 bits. Modulo q it is any 16-bit number of its class: the bits from log_q on
// are ignored. A ternary coefficient is -1, 0 or 1 in two's complement, which is valid for every
// modulus. An element of S = Z[x]/Phi_n may be any polynomial of its class modulo x^n - 1. When it
// is packed, coefficient n - 1 must be zero.
#pragma once

#include "core/word.h"
#include "kem/params.h"

namespace warpseal::kem {

// Coefficients from n on are always zero, so that vectors may read past the end.
template <const Params& set>
struct Poly {
    static constexpr int size = (set.n + 63) / 64 * 64;
    alignas(64) uint16_t at[size];
};

WARPSEAL_INLINE constexpr uint16_t low16(uint32_t x) { return static_cast<uint16_t>(x); }

// Returns v modulo 3 as -1, 0 or 1, for -mod3_reach <= v <= mod3_reach. v + mod3_reach is below
// 2^16, and mod3_reach is a multiple of 3. 43691 / 2^17 exceeds 1/3 by less than 2^-17 / 3, which
// is too small to change a 16-bit quotient.
inline constexpr uint32_t mod3_reach = 16386;
static_assert(mod3_reach % 3 == 0 && 2 * mod3_reach < 65536 && 3 * 43691 == (1 << 17) + 1);
WARPSEAL_INLINE constexpr uint16_t mod3(uint16_t v) {
    const uint16_t positive = low16(v + mod3_reach);
    // Upper half of a product: one vector instruction.
    const uint16_t high = low16(uint32_t{positive} * 43691 >> 16);
    const uint16_t rest = low16(positive - 3u * (high >> 1));
    return low16(rest - 3 * (rest >> 1));
}

// Returns the representative modulo q in [-q/2, q/2).
template <const Params& set>
WARPSEAL_INLINE constexpr uint16_t centred(uint16_t v) {
    const uint32_t half = static_cast<uint32_t>(set.q()) / 2,
                   mask = static_cast<uint32_t>(set.q()) - 1;
    return low16(((v + half) & mask) - half);
}

// Returns 1 if v is zero, else 0. v must be at most 2^31. The barrier hides from the compiler that
// the result is 0 or 1, which could otherwise lead to a branch.
WARPSEAL_INLINE uint32_t is_zero(uint32_t v) {
    uint32_t answer = (v - 1) >> 31;
    __asm__("" : "+r"(answer));
    return answer;
}

// Converts a ternary coefficient to its residue 0, 1 or 2, and back. For other coefficients `digit`
// returns a value below 4.
WARPSEAL_INLINE constexpr uint32_t digit(uint16_t trit) { return (trit + 3u * (trit >> 15)) & 3; }
WARPSEAL_INLINE constexpr uint16_t trit(uint32_t digit) { return low16(digit - 3 * (digit >> 1)); }

template <const Params& set>
WARPSEAL_INLINE void clear_tail(Poly<set>& a) {
    for (int i = set.n; i < Poly<set>::size; ++i) a.at[i] = 0;
}

// Replaces a by the representative modulo (q, Phi_n) with coefficient n - 1 zero, times `factor`.
template <const Params& set>
WARPSEAL_INLINE void reduce_phi(Poly<set>& a, uint16_t factor = 1) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = 0; i < set.n; ++i)
        a.at[i] = low16(uint32_t{factor} * low16(a.at[i] - uint32_t{last}));
}

// Replaces a by its ternary representative modulo (3, Phi_n) with coefficient n - 1 zero. The
// coefficients must be integers of magnitude at most mod3_reach / 2.
template <const Params& set>
WARPSEAL_INLINE void reduce_s3(Poly<set>& a) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = 0; i < set.n; ++i) a.at[i] = mod3(low16(a.at[i] - uint32_t{last}));
}

// The same for coefficients modulo q, with representatives in [-q/2, q/2).
template <const Params& set>
WARPSEAL_INLINE void reduce_q_to_s3(Poly<set>& a) {
    // The difference of two centred coefficients must be in range.
    static_assert(set.q() <= static_cast<int>(mod3_reach));
    const uint16_t last = centred<set>(a.at[set.n - 1]);
    for (int i = 0; i < set.n; ++i) a.at[i] = mod3(low16(centred<set>(a.at[i]) - uint32_t{last}));
}

// Computes a (x - 1) in place.
template <const Params& set>
WARPSEAL_INLINE void multiply_by_x_minus_1(Poly<set>& a) {
    const uint16_t last = a.at[set.n - 1];
    for (int i = set.n - 1; i > 0; --i) a.at[i] = low16(a.at[i - 1] - uint32_t{a.at[i]});
    a.at[0] = low16(last - uint32_t{a.at[0]});
}

// Replaces each coefficient by its prefix sum. Coefficients must be 0 to 2. Four are processed in a
// word; the sums stay below 2^16.
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

// Lifts a ternary m with coefficient n - 1 zero. HPS: m itself. HRSS: (x - 1) b with b = m / (x -
// 1) in S3.
// For b (x - 1) = m + t Phi_n, b[i - 1] - b[i] = m[i] + t. The sum of these around the circle is
// zero, so t = -(sum of m) / n modulo 3. With b[n - 1] = 0, the other coefficients are prefix sums.
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

// Maps a ternary v with coefficient n - 1 zero to T+. Negates its even coefficients if the sum of
// v[i] v[i + 1] is negative.
template <const Params& set>
WARPSEAL_INLINE void correlate(Poly<set>& v) {
    uint32_t sum = 0;
    for (int i = 0; i + 1 < set.n; ++i) sum += uint32_t{v.at[i]} * v.at[i + 1];
    const uint32_t sign = 1 - 2 * (low16(sum) >> 15);
    for (int i = 0; i < set.n; i += 2) v.at[i] = low16(v.at[i] * sign);
}

// Returns 1 if the ternary m has as many coefficients 1 and -1 as HPS requires, else 0.
template <const Params& set>
WARPSEAL_INLINE uint32_t has_weight(const Poly<set>& m) {
    uint32_t nonzero = 0, negative = 0;
    for (int i = 0; i < set.n; ++i) {
        negative += m.at[i] >> 15;
        nonzero += m.at[i] & 1u;
    }
    return is_zero((nonzero ^ 2 * set.weight()) | (negative ^ set.weight()));
}

// Returns 1 if all coefficients modulo q are -1, 0 or 1, else 0. They are then stored as ternary
// ones.
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

// Returns 1 if all coefficients are zero, else 0.
template <const Params& set>
WARPSEAL_INLINE uint32_t is_zero(const Poly<set>& a) {
    uint32_t any = 0;
    for (int i = 0; i < set.n; ++i) any |= a.at[i];
    return is_zero(any);
}

// Replaces a by the polynomial 1 if `replace` is 1; no effect if it is 0.
template <const Params& set>
WARPSEAL_INLINE void replace_by_one(Poly<set>& a, uint32_t replace) {
    for (int i = 0; i < set.n; ++i) a.at[i] = low16(a.at[i] & (replace - 1));
    a.at[0] = low16(a.at[0] | replace);
}

}  // namespace warpseal::kem
