// Inverses of polynomials in constant time: modulo 3 and 2 by powers (Itoh and Tsujii), modulo q
// from modulo 2 by Newton steps.
//
// 2 and 3 have order n - 1 modulo n, so Phi_n is irreducible modulo both. S2 and S3 are therefore
// fields of p^(n - 1) elements. There a -> a^p is x -> x^p: coefficient i moves to position p i
// modulo n, a public permutation. The inverse of zero is zero.
#pragma once

#include "kem/poly.h"

namespace warpseal::kem {

// Addition chain for a^(1 + p + p^2 + ... + p^(count - 1)). The exponent for j + k terms is that
// for j times p^k, plus that for k. The bits of count are processed from the top: each doubles the
// terms, and a one adds another (Itoh and Tsujii, 1988).
template <int p, int n, int count>
struct PowerSteps {
    struct Step {
        // Position to which the power before the product moves coefficient 1.
        int position;
        bool twice;  // multiplies by the power itself, else by a
    };
    Step steps[32] = {};
    int step_count = 0;

    constexpr PowerSteps() {
        int have = 1, bit = 31;
        while ((count >> bit & 1) == 0) --bit;
        while (--bit >= 0) {
            steps[step_count++] = {position(have), true};
            have *= 2;
            if ((count >> bit & 1) == 0) continue;
            steps[step_count++] = {position(1), false};
            ++have;
        }
    }
    static constexpr int position(int k) {
        int out = 1;
        for (int i = 0; i < k; ++i) out = out * p % n;
        return out;
    }
};

// Computes to = from^(p^k) modulo p; `position` is p^k modulo n.
template <const Params& set>
WARPSEAL_INLINE void frobenius(Poly<set>& to, const Poly<set>& from, int position) {
    int at = 0;
    for (int i = 0; i < set.n; ++i) {
        to.at[at] = from.at[i];
        at += position;
        at -= at >= set.n ? set.n : 0;
    }
    clear_tail<set>(to);
}

// Scratch memory of an inversion.
template <const Params& set>
struct InvertWork {
    Poly<set> power, turned;
};

// Computes work.power = a^(1 + p + p^2 + ... + p^(n - 3)).
template <int p, const Params& set, class Multiply>
WARPSEAL_INLINE void power_sum(InvertWork<set>& work, const Poly<set>& a,
                               const Multiply& multiply) {
    static constexpr PowerSteps<p, set.n, set.n - 2> plan;
    work.power = a;
    for (int i = 0; i < plan.step_count; ++i) {
        frobenius<set>(work.turned, work.power, plan.steps[i].position);
        multiply(work.power, work.turned, plan.steps[i].twice ? work.power : a);
    }
}

// Computes out = 1 / a in S3. Both are ternary and have coefficient n - 1 zero. With U = a^(3 + 3^2
// + ... + 3^(n - 2)), a U is the norm of a, 1 or -1.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void invert_s3(Poly<set>& out, const Poly<set>& a, InvertWork<set>& work,
                               typename Arithmetic::Work& scratch) {
    const auto multiply = [&](Poly<set>& c, const Poly<set>& x, const Poly<set>& y) {
        Arithmetic::multiply_s3(c, x, y, scratch);
    };
    power_sum<3, set>(work, a, multiply);
    frobenius<set>(work.turned, work.power, 3);
    reduce_s3<set>(work.turned);
    Arithmetic::multiply_s3(work.power, work.turned, a, scratch);
    const uint16_t norm = work.power.at[0];
    out = work.turned;
    for (int i = 0; i < set.n; ++i) out.at[i] = low16(uint32_t{out.at[i]} * norm);
}

// Computes out = 1 / a in Sq. Modulo 2 the inverse is a^(2^(n - 1) - 2). Each Newton step out = out
// (2 - a out) doubles the number of correct bits, from 1 to 16.
template <class Arithmetic, const Params& set>
WARPSEAL_INLINE void invert_sq(Poly<set>& out, const Poly<set>& a, InvertWork<set>& work,
                               typename Arithmetic::Work& scratch) {
    const auto multiply = [&](Poly<set>& c, const Poly<set>& x, const Poly<set>& y) {
        Arithmetic::multiply_r2(c, x, y, scratch);
    };
    out = a;
    for (int i = 0; i < set.n; ++i) out.at[i] &= 1;
    power_sum<2, set>(work, out, multiply);
    frobenius<set>(out, work.power, 2);
    static_assert(set.log_q <= 16);
    for (int right = 1; right < set.log_q; right *= 2) {
        Arithmetic::multiply(work.turned, a, out, scratch);
        for (int i = 0; i < set.n; ++i) work.turned.at[i] = low16(0u - work.turned.at[i]);
        work.turned.at[0] = low16(work.turned.at[0] + 2u);
        Arithmetic::multiply(out, out, work.turned, scratch);
    }
}

}  // namespace warpseal::kem
