// The S-boxes of DES (FIPS 46-3, Appendix 1): the standard's tables, and circuits of three-input gates that are proved equal to them.
#pragma once

#include "core/lut.h"

namespace warpseal::ciphers::des {

// Rows of 16, as printed. The outer two of six input bits choose the row, the inner four the column; the first bit is the highest.
struct SBoxes {
    uint8_t printed[8][64] = {
        {14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8,
         4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13},
        {15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5,
         0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9},
        {10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1,
         13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12},
        {7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9,
         10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14},
        {2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6,
         4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3},
        {12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8,
         9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13},
        {4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6,
         1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12},
        {13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2,
         7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11},
    };
    constexpr int operator()(int box, int input) const { return printed[box][16 * ((input >> 4 & 2) | (input & 1)) + (input >> 1 & 15)]; }
};

// Each circuit takes the six input bits from the first to the last, and gives the four output bits alike. They were found by a search for
// few gates: gates are what an AVX-512 core and a GPU count, as each is one instruction there.
template <class Word>
WARPSEAL_INLINE constexpr void substitute1(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x85>(f, d, c), g2 = lut<0x61>(a, d, c), g3 = lut<0xe8>(b, g2, f), g4 = lut<0xe9>(g1, b, g2);
    const Word g5 = lut<0x63>(d, b, a), g6 = lut<0x52>(g5, f, g3), g7 = lut<0xe4>(g6, g3, c), g8 = lut<0x69>(e, g3, g7);
    const Word g9 = lut<0x74>(d, g8, g3), g10 = lut<0xd3>(g6, a, g9), g11 = lut<0x94>(g10, f, g3), g12 = lut<0x84>(g8, g4, g11);
    const Word g13 = lut<0x16>(g12, g2, g8), g14 = lut<0x78>(g13, g2, g9), g15 = lut<0xe5>(d, g14, b), g16 = lut<0xe2>(g8, g15, g2);
    const Word g17 = lut<0x2d>(g16, g11, g15), g18 = lut<0x78>(g13, g17, b), g19 = lut<0x94>(g18, g4, g6), g20 = lut<0xba>(g12, g15, g19);
    const Word g21 = lut<0x69>(e, g15, g6), g22 = lut<0xca>(g2, g21, g20), g23 = lut<0x8c>(g18, g4, f), g24 = lut<0xb8>(g23, e, g7);
    const Word g25 = lut<0xe6>(e, g14, g24), g26 = lut<0x69>(g25, b, g22), g27 = lut<0xca>(f, g17, g26);
    y[0] = g22, y[1] = g14, y[2] = g24, y[3] = g27;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute2(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x69>(a, f, c), g2 = lut<0xd3>(g1, a, f), g3 = lut<0x3c>(g2, d, g1), g4 = lut<0x6d>(f, e, b);
    const Word g5 = lut<0x18>(g1, e, f), g6 = lut<0x16>(a, c, e), g7 = lut<0x29>(g6, b, g2), g8 = lut<0xf1>(g6, d, b);
    const Word g9 = lut<0xca>(f, g8, g7), g10 = lut<0x49>(b, g1, g5), g11 = lut<0xe2>(g10, g2, g4), g12 = lut<0xca>(g3, g11, g9);
    const Word g13 = lut<0xe1>(g7, g3, g5), g14 = lut<0x15>(g10, c, f), g15 = lut<0xbc>(g14, g13, b), g16 = lut<0xe4>(g3, g1, b);
    const Word g17 = lut<0x9e>(d, g14, g15), g18 = lut<0xb4>(g17, g3, g5), g19 = lut<0xca>(e, g18, g16), g20 = lut<0xe6>(g5, f, g3);
    const Word g21 = lut<0x94>(g20, g1, g15), g22 = lut<0xb5>(g21, d, g19), g23 = lut<0x6a>(g22, g10, g13), g24 = lut<0xca>(g8, g23, g21);
    const Word g25 = lut<0x81>(d, g10, g11), g26 = lut<0x39>(g25, g14, g20), g27 = lut<0xca>(g8, g15, g26);
    y[0] = g19, y[1] = g27, y[2] = g12, y[3] = g24;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute3(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0xc9>(c, b, e), g2 = lut<0x96>(g1, e, f), g3 = lut<0x31>(g1, g2, b), g4 = lut<0xca>(a, g2, g3);
    const Word g5 = lut<0xe9>(e, c, g2), g6 = lut<0x97>(g5, a, c), g7 = lut<0xd5>(e, g6, g2), g8 = lut<0x68>(g7, a, d);
    const Word g9 = lut<0x9b>(g5, d, g4), g10 = lut<0xd3>(g9, c, g8), g11 = lut<0xca>(g1, g10, g8), g12 = lut<0x4a>(g10, g8, a);
    const Word g13 = lut<0xa9>(g12, b, g6), g14 = lut<0xca>(d, g13, g4), g15 = lut<0x52>(g6, b, a), g16 = lut<0x64>(g3, e, g10);
    const Word g17 = lut<0xca>(g5, g16, g15), g18 = lut<0x47>(c, g2, g15), g19 = lut<0x79>(g10, b, g13), g20 = lut<0xca>(f, g19, g18);
    const Word g21 = lut<0xca>(d, g17, g20), g22 = lut<0x8b>(g6, g17, g9), g23 = lut<0x74>(g22, g12, g20), g24 = lut<0x38>(g14, a, f);
    const Word g25 = lut<0x86>(g24, g8, g23), g26 = lut<0xca>(g11, g25, g23);
    y[0] = g11, y[1] = g14, y[2] = g26, y[3] = g21;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute4(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x17>(f, b, a), g2 = lut<0x58>(g1, b, e), g3 = lut<0x16>(a, b, g2), g4 = lut<0x79>(g3, f, g2);
    const Word g5 = lut<0xca>(c, g4, g2), g6 = lut<0x2d>(g3, g1, e), g7 = lut<0x4d>(f, c, a), g8 = lut<0x43>(g7, e, g6);
    const Word g9 = lut<0xca>(g5, g8, g6), g10 = lut<0x69>(a, g5, g7), g11 = lut<0x96>(g10, c, f), g12 = lut<0x1d>(g10, g1, c);
    const Word g13 = lut<0xca>(g9, g12, g11), g14 = lut<0x06>(g11, g5, g6), g15 = lut<0xb5>(g4, f, c), g16 = lut<0xca>(g8, g15, g14);
    const Word g17 = lut<0xca>(d, g16, g13), g18 = lut<0xe4>(g5, g9, d), g19 = lut<0x5e>(d, g14, g6), g20 = lut<0xe1>(g19, g5, g7);
    const Word g21 = lut<0x92>(g20, g1, g17), g22 = lut<0xca>(f, g21, g20), g23 = lut<0x16>(d, g15, c), g24 = lut<0x96>(g23, g6, g11);
    const Word g25 = lut<0x68>(b, g22, g18), g26 = lut<0x7d>(g25, g7, g15), g27 = lut<0xca>(g17, g26, g24), g28 = lut<0xba>(g2, g25, g17);
    const Word g29 = lut<0x69>(g28, g13, g24), g30 = lut<0xca>(e, g22, g29);
    y[0] = g18, y[1] = g30, y[2] = g27, y[3] = g17;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute5(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0xb6>(c, d, f), g2 = lut<0x3c>(g1, a, c), g3 = lut<0xad>(a, d, c), g4 = lut<0x58>(g3, f, g2);
    const Word g5 = lut<0xca>(e, g4, g2), g6 = lut<0x68>(g4, f, a), g7 = lut<0x56>(g6, d, g5), g8 = lut<0x6b>(f, d, b);
    const Word g9 = lut<0xad>(g8, e, g5), g10 = lut<0x7c>(g9, e, f), g11 = lut<0xca>(g7, g10, g9), g12 = lut<0x8a>(g11, e, a);
    const Word g13 = lut<0x96>(g12, b, f), g14 = lut<0x4d>(g13, f, g5), g15 = lut<0xca>(g4, g14, g13), g16 = lut<0x7d>(g8, e, f);
    const Word g17 = lut<0x70>(g16, g10, g13), g18 = lut<0xca>(c, g17, g15), g19 = lut<0xb1>(g15, g12, d), g20 = lut<0x96>(g19, c, g17);
    const Word g21 = lut<0xca>(g1, g11, g20), g22 = lut<0xe4>(g7, g5, b), g23 = lut<0xe4>(b, a, g21), g24 = lut<0x96>(g23, g18, g22);
    const Word g25 = lut<0xdb>(g20, g5, f), g26 = lut<0x9c>(g25, g21, g24), g27 = lut<0xca>(e, g24, g26);
    y[0] = g27, y[1] = g22, y[2] = g18, y[3] = g21;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute6(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x69>(d, e, a), g2 = lut<0x69>(c, e, g1), g3 = lut<0x59>(g2, e, b), g4 = lut<0xe4>(g1, g3, c);
    const Word g5 = lut<0x7e>(e, g4, f), g6 = lut<0xd2>(g5, a, g2), g7 = lut<0x56>(g6, b, g1), g8 = lut<0xe9>(g7, c, d);
    const Word g9 = lut<0x75>(g8, g7, f), g10 = lut<0xae>(g2, g7, g4), g11 = lut<0x87>(g1, c, g10), g12 = lut<0x69>(f, b, g11);
    const Word g13 = lut<0x5b>(g12, g3, b), g14 = lut<0xa2>(g2, b, f), g15 = lut<0xe2>(g9, g4, g14), g16 = lut<0x7e>(g7, g6, a);
    const Word g17 = lut<0xe0>(g16, d, g11), g18 = lut<0xac>(g12, g7, g17), g19 = lut<0xa6>(g18, c, g13), g20 = lut<0xab>(g6, g9, g19);
    const Word g21 = lut<0xca>(d, g20, g12), g22 = lut<0xe9>(b, g2, g8), g23 = lut<0x97>(g18, g15, g21), g24 = lut<0x52>(g23, g9, g13);
    const Word g25 = lut<0xca>(g12, g22, g24);
    y[0] = g15, y[1] = g21, y[2] = g25, y[3] = g18;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute7(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x96>(b, f, d), g2 = lut<0x36>(c, g1, f), g3 = lut<0x8e>(c, d, g1), g4 = lut<0x6c>(b, c, g2);
    const Word g5 = lut<0x96>(g1, e, g4), g6 = lut<0x17>(g2, g5, b), g7 = lut<0x6a>(g4, b, g5), g8 = lut<0x4e>(g7, f, d);
    const Word g9 = lut<0x38>(d, g6, g8), g10 = lut<0x4e>(g9, g5, d), g11 = lut<0xb2>(g1, b, g10), g12 = lut<0x96>(g9, g5, g8);
    const Word g13 = lut<0x79>(g11, g7, g12), g14 = lut<0x75>(g3, g1, g13), g15 = lut<0xd2>(g14, g10, g12), g16 = lut<0xb8>(g15, a, g13);
    const Word g17 = lut<0x69>(c, g16, g9), g18 = lut<0xb8>(g17, a, g12), g19 = lut<0xca>(e, g3, g2), g20 = lut<0xe2>(g19, a, g10);
    const Word g21 = lut<0x4a>(g3, g19, g20), g22 = lut<0xd6>(g21, g17, g18), g23 = lut<0x6a>(a, g22, g2), g24 = lut<0xf4>(g23, d, g20);
    const Word g25 = lut<0xca>(g8, g24, g22);
    y[0] = g20, y[1] = g18, y[2] = g25, y[3] = g16;
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute8(const Word (&x)[6], Word (&y)[4]) {
    const auto& [a, b, c, d, e, f] = x;
    const Word g1 = lut<0x79>(a, e, d), g2 = lut<0x49>(e, c, a), g3 = lut<0x51>(e, f, c), g4 = lut<0x59>(d, g1, g2);
    const Word g5 = lut<0xe8>(g4, e, b), g6 = lut<0x8a>(g5, d, f), g7 = lut<0x66>(g6, g1, c), g8 = lut<0xca>(f, g7, g4);
    const Word g9 = lut<0x6a>(g4, g8, g3), g10 = lut<0x96>(g9, a, g2), g11 = lut<0xc4>(g4, f, a), g12 = lut<0x6d>(g11, g2, g1);
    const Word g13 = lut<0x91>(g11, g8, d), g14 = lut<0xe2>(g13, e, g12), g15 = lut<0xca>(b, g8, g14), g16 = lut<0x69>(g5, f, g1);
    const Word g17 = lut<0xc9>(b, g16, g10), g18 = lut<0x99>(g17, e, g16), g19 = lut<0xc1>(g6, b, g14), g20 = lut<0xac>(g12, g9, g10);
    const Word g21 = lut<0x23>(f, g20, g11), g22 = lut<0x5c>(b, g20, g19), g23 = lut<0x78>(g22, b, g7), g24 = lut<0x36>(g21, g5, g19);
    const Word g25 = lut<0xca>(a, g24, g18), g26 = lut<0x5b>(g18, g4, g15), g27 = lut<0x6a>(g26, g11, g17);
    y[0] = g15, y[1] = g25, y[2] = g27, y[3] = g23;
}

template <int box, class Word>
WARPSEAL_INLINE constexpr void substitute(const Word (&x)[6], Word (&y)[4]) {
    if constexpr (box == 0) substitute1(x, y);
    if constexpr (box == 1) substitute2(x, y);
    if constexpr (box == 2) substitute3(x, y);
    if constexpr (box == 3) substitute4(x, y);
    if constexpr (box == 4) substitute5(x, y);
    if constexpr (box == 5) substitute6(x, y);
    if constexpr (box == 6) substitute7(x, y);
    if constexpr (box == 7) substitute8(x, y);
}

// All 64 inputs at once, one to a lane.
template <int box = 0>
constexpr bool circuits_are_the_s_boxes() {
    uint64_t x[6] = {}, y[4] = {};
    for (int lane = 0; lane < 64; ++lane)
        for (int i = 0; i < 6; ++i) x[i] |= uint64_t{(lane >> (5 - i) & 1) != 0} << lane;
    substitute<box>(x, y);
    for (int lane = 0; lane < 64; ++lane)
        for (int i = 0; i < 4; ++i)
            if ((y[i] >> lane & 1) != (SBoxes{}(box, lane) >> (3 - i) & 1u)) return false;
    if constexpr (box == 7)
        return true;
    else
        return circuits_are_the_s_boxes<box + 1>();
}
static_assert(circuits_are_the_s_boxes(), "a gate is wrong");

}  // namespace warpseal::ciphers::des
