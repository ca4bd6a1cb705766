// Circuits of three-input gates as data: each gate is one instruction on a core with AVX-512 and on
// a GPU. scripts/find-circuits finds them (docs/design/circuits.md).
#pragma once

#include "core/lut.h"

namespace warpseal {

// lut<table> of the signals a, b and c.
struct Gate {
    uint8_t table, a, b, c;
};

// A circuit is a type with the counts `inputs`, `outputs` and `gates` and the arrays `gate` and
// `result`. Signals 0 to inputs - 1 are the inputs and signal inputs + i is gate i. Output i is
// signal result[i].

// Indices are compile-time constants, as nvcc requires of a constexpr array in device code.
template <class Circuit, int i = 0, class Word>
WARPSEAL_INLINE constexpr void run_gates(Word* signal) {
    if constexpr (i < Circuit::gates) {
        constexpr Gate gate = Circuit::gate[i];
        constexpr int table = gate.table, a = gate.a, b = gate.b, c = gate.c;
        signal[Circuit::inputs + i] = lut<table>(signal[a], signal[b], signal[c]);
        run_gates<Circuit, i + 1>(signal);
    }
}

template <class Circuit, int i = 0, class Word>
WARPSEAL_INLINE constexpr void take_outputs(Word* y, const Word* signal) {
    if constexpr (i < Circuit::outputs) {
        constexpr int from = Circuit::result[i];
        y[i] = signal[from];
        take_outputs<Circuit, i + 1>(y, signal);
    }
}

// Computes the outputs y of the inputs x. They may be the same array.
template <class Circuit, class Word>
WARPSEAL_INLINE constexpr void apply_gates(Word* y, const Word* x) {
    Word signal[Circuit::inputs + Circuit::gates] = {};
    for (int i = 0; i < Circuit::inputs; ++i) signal[i] = x[i];
    run_gates<Circuit>(signal);
    take_outputs<Circuit>(y, signal);
}

// True if the circuit computes the function, whose bit i is output i, for each value of the inputs.
template <class Circuit, class Function>
constexpr bool gates_compute(const Function& function) {
    for (int base = 0; base < 1 << Circuit::inputs; base += 64) {
        uint64_t x[Circuit::inputs] = {}, y[Circuit::outputs] = {};
        for (int i = 0; i < Circuit::inputs; ++i)
            for (int lane = 0; lane < 64; ++lane)
                x[i] |= uint64_t{((base + lane) >> i & 1) != 0} << lane;
        apply_gates<Circuit>(y, x);
        for (int lane = 0; lane < 64; ++lane)
            for (int i = 0; i < Circuit::outputs; ++i)
                if ((y[i] >> lane & 1) != (static_cast<unsigned>(function(base + lane)) >> i & 1u))
                    return false;
    }
    return true;
}

}  // namespace warpseal
