// Boolean functions of three words: one instruction if the machine has it, else a short sequence of
// operators derived from the truth table.
#pragma once

#include "core/word.h"

namespace warpseal {

// Evaluates a function of two words: its value is bit 2 a + b of the table.
template <int table, class Word>
WARPSEAL_INLINE constexpr Word lut2(const Word& a, const Word& b) {
    static_assert(table >= 0 && table < 16);
    if constexpr (table == 0) return Word{};
    if constexpr (table == 1) return ~(a | b);
    if constexpr (table == 2) return ~a & b;
    if constexpr (table == 3) return ~a;
    if constexpr (table == 4) return a & ~b;
    if constexpr (table == 5) return ~b;
    if constexpr (table == 6) return a ^ b;
    if constexpr (table == 7) return ~(a & b);
    if constexpr (table == 8) return a & b;
    if constexpr (table == 9) return ~(a ^ b);
    if constexpr (table == 10) return b;
    if constexpr (table == 11) return ~a | b;
    if constexpr (table == 12) return a;
    if constexpr (table == 13) return a | ~b;
    if constexpr (table == 14) return a | b;
    if constexpr (table == 15) return ~Word{};
}

constexpr int lut2_cost(int table) {
    constexpr int cost[16] = {0, 2, 1, 1, 1, 1, 1, 2, 1, 2, 0, 2, 0, 2, 1, 0};
    return cost[table];
}

// Cost and code of a selection by a word p: function `zero` where p is 0, and function `one` where
// p is 1.
constexpr int decided_cost(int zero, int one) {
    if (zero == one) return lut2_cost(zero);
    if (zero == 0 || one == 0 || one == 15 || (zero ^ one) == 15)
        return lut2_cost(zero == 0 ? one : zero) + 1;
    if (zero == 15) return lut2_cost(one) + 2;
    return lut2_cost(zero) + lut2_cost(zero ^ one) + 2;
}

template <int zero, int one, class Word>
WARPSEAL_INLINE constexpr Word decided(const Word& p, const Word& a, const Word& b) {
    if constexpr (zero == one)
        return lut2<zero>(a, b);
    else if constexpr (zero == 0)
        return p & lut2<one>(a, b);
    else if constexpr (one == 0)
        return ~p & lut2<zero>(a, b);
    else if constexpr (one == 15)
        return p | lut2<zero>(a, b);
    else if constexpr (zero == 15)
        return ~p | lut2<one>(a, b);
    else if constexpr ((zero ^ one) == 15)
        return p ^ lut2<zero>(a, b);
    else
        return lut2<zero>(a, b) ^ (p & lut2<zero ^ one>(a, b));
}

// Returns the four entries of a truth table for which bit `bit` of the index is `set`, in order.
constexpr int half_of(int table, int bit, int set) {
    int half = 0;
    for (int i = 0, n = 0; i < 8; ++i)
        if ((i >> bit & 1) == set) half |= (table >> i & 1) << n++;
    return half;
}

// Returns the selecting word with the lowest cost, as its bit of the index: a is 2, b is 1, c is 0.
constexpr int decider(int table) {
    int best = 2;
    for (int bit = 1; bit >= 0; --bit)
        if (decided_cost(half_of(table, bit, 0), half_of(table, bit, 1)) <
            decided_cost(half_of(table, best, 0), half_of(table, best, 1)))
            best = bit;
    return best;
}

// Generic implementation with operators. A target with a ternary logic instruction specializes it
// for its words.
template <class Word>
struct Ternary {
    static constexpr bool one_instruction = false;
    template <int table>
    WARPSEAL_INLINE static constexpr Word of(const Word& a, const Word& b, const Word& c) {
        constexpr int bit = decider(table), zero = half_of(table, bit, 0),
                      one = half_of(table, bit, 1);
        if constexpr (bit == 2)
            return decided<zero, one>(a, b, c);
        else if constexpr (bit == 1)
            return decided<zero, one>(b, a, c);
        else
            return decided<zero, one>(c, a, b);
    }
};

// True if any function of three words is one instruction.
template <class Word>
constexpr bool has_ternary_instruction() {
#if defined(__CUDA_ARCH__)
    return sizeof(Word) == 4;
#else
    return Ternary<Word>::one_instruction;
#endif
}

// Evaluates a function of three words: its value is bit 4 a + 2 b + c of the table, as for
// VPTERNLOG and LOP3.
template <int table, class Word>
WARPSEAL_INLINE constexpr Word lut(const Word& a, const Word& b, const Word& c) {
#if defined(__CUDA_ARCH__)
    if constexpr (has_ternary_instruction<Word>()) {
        if (!__builtin_is_constant_evaluated()) {
            Word result;
            asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
            return result;
        }
    }
#endif
    return Ternary<Word>::template of<table>(a, b, c);
}

template <int first = 0, int count = 256>
constexpr bool tables_are_met() {
    if constexpr (count == 1)
        return (lut<first, uint32_t>(0xf0, 0xcc, 0xaa) & 0xff) == first;
    else
        return tables_are_met<first, count / 2>() && tables_are_met<first + count / 2, count / 2>();
}
static_assert(tables_are_met(), "a truth table is not what its operators compute");

}  // namespace warpseal
