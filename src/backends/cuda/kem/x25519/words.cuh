// Sums and products of 32-bit words with carries, which C++ does not express: PTX on a GPU, 64-bit
// arithmetic on the host, for tests. Every index is known when the code is compiled.
#pragma once

#include "core/word.h"

// For a loop that must stay one: its body is long.
#if defined(__CUDACC__)
#define WARPSEAL_ROLLED _Pragma("unroll 1")
#else
#define WARPSEAL_ROLLED
#endif

namespace warpseal::cuda::x25519 {

// Writes factor * of[2 i] to words 2 i and 2 i + 1, for each i below count.
template <int count>
WARPSEAL_INLINE void set_products(uint32_t* words, uint32_t factor, const uint32_t* of) {
    WARPSEAL_UNROLL for (int i = 0; i < count; ++i) {
        const uint64_t product = uint64_t{factor} * of[2 * i];
        words[2 * i] = static_cast<uint32_t>(product);
        words[2 * i + 1] = static_cast<uint32_t>(product >> 32);
    }
}

#if defined(__CUDA_ARCH__)

// Operands that are written before the last input is read are early clobbers (&). Otherwise the
// compiler may give such an operand the register of an input of equal value, such as zero.

// Adds factor * of[2 i] at word 2 i of `sum`, for each i below count. Returns the carry out of word
// 2 count - 1: 0 or 1. Each product and its addition is one IMAD.WIDE.
template <int count>
WARPSEAL_INLINE uint32_t add_products(uint32_t* sum, uint32_t factor, const uint32_t* of) {
    static_assert(1 <= count && count <= 4);
    uint32_t carry;
    if constexpr (count == 4)
        asm("mad.lo.cc.u32 %0, %9, %10, %0;\n\t"
            "madc.hi.cc.u32 %1, %9, %10, %1;\n\t"
            "madc.lo.cc.u32 %2, %9, %11, %2;\n\t"
            "madc.hi.cc.u32 %3, %9, %11, %3;\n\t"
            "madc.lo.cc.u32 %4, %9, %12, %4;\n\t"
            "madc.hi.cc.u32 %5, %9, %12, %5;\n\t"
            "madc.lo.cc.u32 %6, %9, %13, %6;\n\t"
            "madc.hi.cc.u32 %7, %9, %13, %7;\n\t"
            "addc.u32 %8, 0, 0;"
            : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "+&r"(sum[4]),
              "+&r"(sum[5]), "+&r"(sum[6]), "+&r"(sum[7]), "=r"(carry)
            : "r"(factor), "r"(of[0]), "r"(of[2]), "r"(of[4]), "r"(of[6]));
    if constexpr (count == 3)
        asm("mad.lo.cc.u32 %0, %7, %8, %0;\n\t"
            "madc.hi.cc.u32 %1, %7, %8, %1;\n\t"
            "madc.lo.cc.u32 %2, %7, %9, %2;\n\t"
            "madc.hi.cc.u32 %3, %7, %9, %3;\n\t"
            "madc.lo.cc.u32 %4, %7, %10, %4;\n\t"
            "madc.hi.cc.u32 %5, %7, %10, %5;\n\t"
            "addc.u32 %6, 0, 0;"
            : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "+&r"(sum[4]),
              "+&r"(sum[5]), "=r"(carry)
            : "r"(factor), "r"(of[0]), "r"(of[2]), "r"(of[4]));
    if constexpr (count == 2)
        asm("mad.lo.cc.u32 %0, %5, %6, %0;\n\t"
            "madc.hi.cc.u32 %1, %5, %6, %1;\n\t"
            "madc.lo.cc.u32 %2, %5, %7, %2;\n\t"
            "madc.hi.cc.u32 %3, %5, %7, %3;\n\t"
            "addc.u32 %4, 0, 0;"
            : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "=r"(carry)
            : "r"(factor), "r"(of[0]), "r"(of[2]));
    if constexpr (count == 1)
        asm("mad.lo.cc.u32 %0, %3, %4, %0;\n\t"
            "madc.hi.cc.u32 %1, %3, %4, %1;\n\t"
            "addc.u32 %2, 0, 0;"
            : "+&r"(sum[0]), "+&r"(sum[1]), "=r"(carry)
            : "r"(factor), "r"(of[0]));
    return carry;
}

// Adds of[i]^2 at word 2 i of `sum`, for each i below 4, and `carry`. Returns the carry out.
WARPSEAL_INLINE uint32_t add_squares(uint32_t* sum, const uint32_t* of, uint32_t carry) {
    asm("add.cc.u32 %8, %8, 0xffffffff;\n\t"
        "madc.lo.cc.u32 %0, %9, %9, %0;\n\t"
        "madc.hi.cc.u32 %1, %9, %9, %1;\n\t"
        "madc.lo.cc.u32 %2, %10, %10, %2;\n\t"
        "madc.hi.cc.u32 %3, %10, %10, %3;\n\t"
        "madc.lo.cc.u32 %4, %11, %11, %4;\n\t"
        "madc.hi.cc.u32 %5, %11, %11, %5;\n\t"
        "madc.lo.cc.u32 %6, %12, %12, %6;\n\t"
        "madc.hi.cc.u32 %7, %12, %12, %7;\n\t"
        "addc.u32 %8, 0, 0;"
        : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "+&r"(sum[4]), "+&r"(sum[5]),
          "+&r"(sum[6]), "+&r"(sum[7]), "+&r"(carry)
        : "r"(of[0]), "r"(of[1]), "r"(of[2]), "r"(of[3]));
    return carry;
}

// Adds eight words and `carry`. Returns the carry out.
WARPSEAL_INLINE uint32_t add_words(uint32_t* sum, const uint32_t* with, uint32_t carry) {
    asm("add.cc.u32 %8, %8, 0xffffffff;\n\t"
        "addc.cc.u32 %0, %0, %9;\n\t"
        "addc.cc.u32 %1, %1, %10;\n\t"
        "addc.cc.u32 %2, %2, %11;\n\t"
        "addc.cc.u32 %3, %3, %12;\n\t"
        "addc.cc.u32 %4, %4, %13;\n\t"
        "addc.cc.u32 %5, %5, %14;\n\t"
        "addc.cc.u32 %6, %6, %15;\n\t"
        "addc.cc.u32 %7, %7, %16;\n\t"
        "addc.u32 %8, 0, 0;"
        : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "+&r"(sum[4]), "+&r"(sum[5]),
          "+&r"(sum[6]), "+&r"(sum[7]), "+&r"(carry)
        : "r"(with[0]), "r"(with[1]), "r"(with[2]), "r"(with[3]), "r"(with[4]), "r"(with[5]),
          "r"(with[6]), "r"(with[7]));
    return carry;
}
WARPSEAL_INLINE uint32_t add_words(uint32_t* sum, const uint32_t* with) {
    uint32_t carry;
    asm("add.cc.u32 %0, %0, %9;\n\t"
        "addc.cc.u32 %1, %1, %10;\n\t"
        "addc.cc.u32 %2, %2, %11;\n\t"
        "addc.cc.u32 %3, %3, %12;\n\t"
        "addc.cc.u32 %4, %4, %13;\n\t"
        "addc.cc.u32 %5, %5, %14;\n\t"
        "addc.cc.u32 %6, %6, %15;\n\t"
        "addc.cc.u32 %7, %7, %16;\n\t"
        "addc.u32 %8, 0, 0;"
        : "+&r"(sum[0]), "+&r"(sum[1]), "+&r"(sum[2]), "+&r"(sum[3]), "+&r"(sum[4]), "+&r"(sum[5]),
          "+&r"(sum[6]), "+&r"(sum[7]), "=r"(carry)
        : "r"(with[0]), "r"(with[1]), "r"(with[2]), "r"(with[3]), "r"(with[4]), "r"(with[5]),
          "r"(with[6]), "r"(with[7]));
    return carry;
}

// Subtracts eight words. Returns all ones if that borrows, else 0.
WARPSEAL_INLINE uint32_t subtract_words(uint32_t* difference, const uint32_t* by) {
    uint32_t borrow;
    asm("sub.cc.u32 %0, %0, %9;\n\t"
        "subc.cc.u32 %1, %1, %10;\n\t"
        "subc.cc.u32 %2, %2, %11;\n\t"
        "subc.cc.u32 %3, %3, %12;\n\t"
        "subc.cc.u32 %4, %4, %13;\n\t"
        "subc.cc.u32 %5, %5, %14;\n\t"
        "subc.cc.u32 %6, %6, %15;\n\t"
        "subc.cc.u32 %7, %7, %16;\n\t"
        "subc.u32 %8, 0, 0;"
        : "+&r"(difference[0]), "+&r"(difference[1]), "+&r"(difference[2]), "+&r"(difference[3]),
          "+&r"(difference[4]), "+&r"(difference[5]), "+&r"(difference[6]), "+&r"(difference[7]),
          "=r"(borrow)
        : "r"(by[0]), "r"(by[1]), "r"(by[2]), "r"(by[3]), "r"(by[4]), "r"(by[5]), "r"(by[6]),
          "r"(by[7]));
    return borrow;
}

// Exchanges two words where the mask's bits are ones, in two operations: 0xd8 and 0xe4 are the
// truth tables of both choices. The compiler cannot make a branch of them.
WARPSEAL_INLINE void exchange(uint32_t& a, uint32_t& b, uint32_t mask) {
    uint32_t first, second;
    asm("lop3.b32 %0, %2, %3, %4, 0xd8;\n\tlop3.b32 %1, %2, %3, %4, 0xe4;"
        : "=&r"(first), "=r"(second)
        : "r"(a), "r"(b), "r"(mask));
    a = first;
    b = second;
}
// Hides a mask from the compiler, which could make a branch of it.
WARPSEAL_INLINE uint32_t hidden(uint32_t mask) {
    asm volatile("" : "+r"(mask));
    return mask;
}

#else

template <int count>
WARPSEAL_INLINE uint32_t add_products(uint32_t* sum, uint32_t factor, const uint32_t* of) {
    uint64_t carry = 0;
    for (int i = 0; i < count; ++i) {
        const uint64_t product = uint64_t{factor} * of[2 * i],
                       low = sum[2 * i] + (product & 0xffffffff) + carry,
                       high = sum[2 * i + 1] + (product >> 32) + (low >> 32);
        sum[2 * i] = static_cast<uint32_t>(low);
        sum[2 * i + 1] = static_cast<uint32_t>(high);
        carry = high >> 32;
    }
    return static_cast<uint32_t>(carry);
}
WARPSEAL_INLINE uint32_t add_words(uint32_t* sum, const uint32_t* with, uint32_t carry) {
    uint64_t all = carry;
    for (int i = 0; i < 8; ++i) {
        all += uint64_t{sum[i]} + with[i];
        sum[i] = static_cast<uint32_t>(all);
        all >>= 32;
    }
    return static_cast<uint32_t>(all);
}
WARPSEAL_INLINE uint32_t add_words(uint32_t* sum, const uint32_t* with) {
    return add_words(sum, with, 0);
}
WARPSEAL_INLINE uint32_t add_squares(uint32_t* sum, const uint32_t* of, uint32_t carry) {
    uint32_t squares[8];
    for (int i = 0; i < 4; ++i) set_products<1>(squares + 2 * i, of[i], of + i);
    return add_words(sum, squares, carry);
}
WARPSEAL_INLINE uint32_t subtract_words(uint32_t* difference, const uint32_t* by) {
    uint32_t inverted[8];
    for (int i = 0; i < 8; ++i) inverted[i] = ~by[i];
    return add_words(difference, inverted, 1) - 1;
}
WARPSEAL_INLINE void exchange(uint32_t& a, uint32_t& b, uint32_t mask) {
    const uint32_t both = (a ^ b) & mask;
    a ^= both;
    b ^= both;
}
WARPSEAL_INLINE uint32_t hidden(uint32_t mask) { return mask; }

#endif

// Adds one word to eight. Returns the carry out.
WARPSEAL_INLINE uint32_t add_word(uint32_t* sum, uint32_t word) {
    const uint32_t words[8] = {word};
    return add_words(sum, words);
}
// Subtracts one word from eight. Returns all ones if that borrows, else 0.
WARPSEAL_INLINE uint32_t subtract_word(uint32_t* difference, uint32_t word) {
    const uint32_t words[8] = {word};
    return subtract_words(difference, words);
}

}  // namespace warpseal::cuda::x25519
