// X25519 with a given point (RFC 7748, section 5), one product in each lane.
#pragma once

#include "backends/cuda/kem/x25519/field.cuh"

namespace warpseal::cuda::x25519 {

// A result as a fraction.
struct Fraction {
    Number over, under;
};

// Sets the bits of a scalar that RFC 7748, section 5, fixes.
WARPSEAL_INLINE Number clamped(Number scalar) {
    scalar.at[0] &= ~7u;
    scalar.at[7] = (scalar.at[7] & 0x7fffffff) | 0x40000000;
    return scalar;
}

// A coordinate without bit 255, which RFC 7748 ignores.
WARPSEAL_INLINE Number coordinate(Number point) {
    point.at[7] &= 0x7fffffff;
    return point;
}

// Points n P = (x2 : z2) and (n + 1) P = (x3 : z3).
struct LadderState {
    Number x2, z2, x3, z3;
};

WARPSEAL_INLINE void exchange(LadderState& state, uint32_t mask) {
    exchange(state.x2, state.x3, mask);
    exchange(state.z2, state.z3, mask);
}
// Doubles n P, and adds both points. point is the coordinate of P.
WARPSEAL_INLINE void double_and_add(LadderState& state, const Number& point) {
    const Number a = add(state.x2, state.z2), b = subtract(state.x2, state.z2);
    const Number da = multiply(subtract(state.x3, state.z3), a),
                 cb = multiply(add(state.x3, state.z3), b);
    state.x3 = square(add(da, cb));
    state.z3 = multiply(square(subtract(da, cb)), point);
    const Number aa = square(a), bb = square(b), e = subtract(aa, bb);
    state.x2 = multiply(aa, bb);
    state.z2 = multiply(e, add_a24(aa, e));
}

// Returns scalar * point, for a clamped scalar: 255 steps from bit 254 on. Words move through a
// fixed register, because registers have no run-time index.
WARPSEAL_INLINE Fraction ladder(Number scalar, const Number& point) {
    LadderState state{number(1), number(0), point, number(1)};
    uint32_t before = 0;
    WARPSEAL_ROLLED for (int word = 7; word >= 0; --word) {
        // The first word has bits 254 to 224.
        uint32_t bits = word == 7 ? scalar.at[7] << 1 : scalar.at[7];
        WARPSEAL_UNROLL for (int i = 7; i > 0; --i) scalar.at[i] = scalar.at[i - 1];
        WARPSEAL_ROLLED for (int left = word == 7 ? 31 : 32; left > 0; --left) {
            const uint32_t bit = bits >> 31;
            bits <<= 1;
            exchange(state, hidden(0 - (bit ^ before)));
            before = bit;
            double_and_add(state, point);
        }
    }
    exchange(state, hidden(0 - before));
    return {state.x2, state.z2};
}

// Returns over / under, or 0 if that is 0 / 0 or x / 0.
WARPSEAL_INLINE Number quotient(const Fraction& fraction) {
    return reduced(multiply(fraction.over, kem::x25519::invert<Field>(fraction.under)));
}

}  // namespace warpseal::cuda::x25519
