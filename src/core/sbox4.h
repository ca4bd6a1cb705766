// S-boxes of four bits over words: bit i of the input is in word i. The circuit is found at compile
// time from the table.
#pragma once

#include "core/gates.h"

namespace warpseal {

// A table is one number, whose digits are the entries in the order in which standards print them:
// 0x38f1a65bed42709c maps 0 to 3, 1 to 8 and 15 to 12.
constexpr unsigned entry4(uint64_t table, int x) { return table >> (60 - 4 * x) & 15; }

// Returns the table of the inverse permutation.
constexpr uint64_t inverse4(uint64_t table) {
    uint64_t inverse = 0;
    for (int x = 0; x < 16; ++x)
        inverse |= static_cast<uint64_t>(x) << (60 - 4 * static_cast<int>(entry4(table, x)));
    return inverse;
}

// Boolean functions of the four input bits as truth tables: bit x is the value for input x.
namespace circuit4 {

using Truth = uint32_t;
constexpr Truth all = 0xffff;
constexpr Truth input[4] = {0xaaaa, 0xcccc, 0xf0f0, 0xff00};

constexpr Truth output(uint64_t table, int bit) {
    Truth truth = 0;
    for (int x = 0; x < 16; ++x) truth |= (entry4(table, x) >> bit & 1) << x;
    return truth;
}

// At most three gates and their cost. `gates` is 0 where nothing was found.
struct Step {
    Gate gate[3];
    int gates = 0, operators = 0;
    constexpr bool better_than(const Step& other) const {
        return other.gates == 0 || gates < other.gates ||
               (gates == other.gates && operators < other.operators);
    }
};

// Operators of each gate on a machine without three-input logic.
struct Operators {
    int of[256] = {};
    constexpr Operators() {
        for (int table = 0; table < 256; ++table) {
            const int bit = decider(table);
            of[table] = decided_cost(half_of(table, bit, 0), half_of(table, bit, 1));
        }
    }
};
inline constexpr Operators operators;

// Returns the table of a gate that computes f from a, b and c for the inputs in `care`, or -1. Of
// the entries that no such input reaches it takes those that cost fewest operators.
constexpr int table_of(Truth f, Truth care, Truth a, Truth b, Truth c) {
    int table = 0, free = 0;
    for (int k = 0; k < 8; ++k) {
        const Truth here = care & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        if (here == 0)
            free |= 1 << k;
        else if ((f & here) == here)
            table |= 1 << k;
        else if ((f & here) != 0)
            return -1;
    }
    int best = table;
    for (int some = free; some != 0; some = (some - 1) & free)
        if (operators.of[table | some] < operators.of[best]) best = table | some;
    return best;
}

constexpr Truth value_of(int table, Truth a, Truth b, Truth c) {
    Truth value = 0;
    for (int k = 0; k < 8; ++k)
        if (table >> k & 1) value |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c) & all;
    return value;
}

// The circuit of a table: each output in turn, the one that takes fewest gates first. Results are
// signals for the next output.
struct Circuit {
    static constexpr int most_gates = 12;
    Gate gate[most_gates];
    int gates = 0;
    int result[4] = {};  // signal of each output; signals 0 to 3 are the inputs

    constexpr explicit Circuit(uint64_t table) {
        for (int i = 0; i < 4; ++i) signal[i] = input[i];
        int left = 15;
        while (left != 0) {
            Step best;
            int bit = 0;
            for (int i = 0; i < 4; ++i) {
                if ((left >> i & 1) == 0) continue;
                const Step step = best_step(output(table, i));
                if (step.better_than(best)) best = step, bit = i;
            }
            for (int i = 0; i < best.gates; ++i) append(best.gate[i]);
            result[bit] = 3 + gates;
            left ^= 1 << bit;
        }
    }

private:
    Truth signal[4 + most_gates] = {};

    constexpr void append(const Gate& g) {
        signal[4 + gates] = value_of(g.table, signal[g.a], signal[g.b], signal[g.c]);
        gate[gates++] = g;
    }

    constexpr Step best_step(Truth f) const {
        Step best = one_gate(f);
        if (best.gates == 0) best = two_gates(f);
        return best.gates == 0 ? three_gates(f) : best;
    }

    constexpr Step one_gate(Truth f) const {
        Step best;
        for (int a = 2; a < 4 + gates; ++a)
            for (int b = 1; b < a; ++b)
                for (int c = 0; c < b; ++c) {
                    const int table = table_of(f, all, signal[a], signal[b], signal[c]);
                    if (table < 0) continue;
                    const Step step = {{{table, a, b, c}}, 1, operators.of[table]};
                    if (step.better_than(best)) best = step;
                }
        return best;
    }

    // Two signals, and the inputs for which they leave f undecided.
    struct Pair {
        int a, b, cells = 0;
        Truth undecided[4] = {}, care = 0;
    };
    constexpr Pair pair(Truth f, int a, int b) const {
        Pair p{a, b};
        for (int k = 0; k < 4; ++k) {
            const Truth here =
                all & (k & 2 ? signal[a] : ~signal[a]) & (k & 1 ? signal[b] : ~signal[b]);
            if ((f & here) == 0 || (f & here) == here) continue;
            p.undecided[p.cells++] = here;
            p.care |= here;
        }
        return p;
    }

    // A gate of two signals and of another gate. In each cell that the two leave undecided, the
    // other gate is f or its complement. Few gates cost fewer operators than `cheap`, so the search
    // ends there; it keeps compilation short.
    static constexpr int cheap = 4;
    constexpr Step two_gates(Truth f) const {
        Step best;
        for (int a = 1; a < 4 + gates; ++a)
            for (int b = 0; b < a; ++b) {
                const Pair p = pair(f, a, b);
                for (int x = 2; x < 4 + gates; ++x)
                    for (int y = 1; y < x; ++y)
                        for (int z = 0; z < y; ++z) {
                            if (best.gates != 0 && best.operators <= cheap) return best;
                            if (decides(f, p, signal[x], signal[y], signal[z]))
                                add_gate(best, f, p, x, y, z);
                        }
            }
        return best;
    }
    // True if f is constant wherever x, y and z are, within each undecided cell.
    static constexpr bool decides(Truth f, const Pair& p, Truth x, Truth y, Truth z) {
        for (int k = 0; k < 8; ++k) {
            const Truth cell = (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
            for (int i = 0; i < p.cells; ++i) {
                const Truth here = cell & p.undecided[i], ones = f & here;
                if (ones != 0 && ones != here) return false;
            }
        }
        return true;
    }
    constexpr void add_gate(Step& best, Truth f, const Pair& p, int x, int y, int z) const {
        for (int flip = 0; flip < 1 << (p.cells - 1); ++flip) {
            Truth wanted = f;
            for (int k = 1; k < p.cells; ++k)
                if (flip >> (k - 1) & 1) wanted ^= p.undecided[k];
            const int first = table_of(wanted, p.care, signal[x], signal[y], signal[z]);
            if (first < 0) continue;
            const Truth h = value_of(first, signal[x], signal[y], signal[z]);
            const int second = table_of(f, all, h, signal[p.a], signal[p.b]);
            const Step step = {{{first, x, y, z}, {second, 4 + gates, p.a, p.b}},
                               2,
                               operators.of[first] + operators.of[second]};
            if (step.better_than(best)) best = step;
        }
    }

    // A choice by one input between two functions of the other three: this always exists.
    constexpr Step three_gates(Truth f) const {
        Step best;
        for (int p = 0; p < 4; ++p) {
            const int a = p == 3 ? 2 : 3, b = p >= 2 ? 1 : 2, c = p == 0 ? 1 : 0;
            const int one = table_of(f, input[p], input[a], input[b], input[c]),
                      zero = table_of(f, ~input[p] & all, input[a], input[b], input[c]);
            const Step step = {{{one, a, b, c}, {zero, a, b, c}, {0xca, p, 4 + gates, 5 + gates}},
                               3,
                               operators.of[one] + operators.of[zero] + operators.of[0xca]};
            if (step.better_than(best)) best = step;
        }
        return best;
    }
};

template <uint64_t table>
inline constexpr Circuit circuit{table};

// The circuit as a type, for core/gates.h.
template <uint64_t table>
struct Gates {
    static constexpr int inputs = 4, outputs = 4, gates = circuit<table>.gates;
    static constexpr const Gate* gate = circuit<table>.gate;
    static constexpr const int* result = circuit<table>.result;
};

template <uint64_t table, class Word>
WARPSEAL_INLINE constexpr void apply(Word& a, Word& b, Word& c, Word& d) {
    Word word[4] = {a, b, c, d};
    apply_gates<Gates<table>>(word, word);
    a = word[0], b = word[1], c = word[2], d = word[3];
}

}  // namespace circuit4

// True if circuit(a, b, c, d) computes the table in place. Use it in a static_assert for a circuit
// that a header spells out.
template <uint64_t table, class F>
constexpr bool is_sbox4(const F& circuit) {
    uint32_t word[4] = {};
    for (int i = 0; i < 4; ++i) word[i] = circuit4::input[i];
    circuit(word[0], word[1], word[2], word[3]);
    for (int i = 0; i < 4; ++i)
        if ((word[i] & circuit4::all) != circuit4::output(table, i)) return false;
    return true;
}

// Applies the S-box to each lane: a holds bit 0 of the inputs and of the outputs, d bit 3.
template <uint64_t table, class Word>
WARPSEAL_INLINE constexpr void substitute4(Word& a, Word& b, Word& c, Word& d) {
    static_assert(is_sbox4<table>(circuit4::apply<table, uint32_t>), "a gate is wrong");
    circuit4::apply<table>(a, b, c, d);
}

}  // namespace warpseal
