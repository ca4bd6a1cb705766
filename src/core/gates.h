// Circuits of three-input gates as data. A gate is one instruction on a core with AVX-512 and on a
// GPU, and a few operators elsewhere. docs/design/circuits.md says how those of core/circuits were
// found.
#pragma once

#include "core/lut.h"

namespace warpseal {

// lut<table> of the signals a, b and c.
struct Gate {
    int table = 0, a = 0, b = 0, c = 0;
};

// A circuit is a type with the counts `inputs`, `outputs` and `gates` and the arrays `gate` and
// `result`. Signals 0 to inputs - 1 are the inputs, and signal inputs + i is gate i. Output i is
// signal result[i].

// All indices are compile-time constants: nvcc rejects a constexpr array read with a run-time index
// in device code.
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
    WARPSEAL_UNROLL
    for (int i = 0; i < Circuit::inputs; ++i) signal[i] = x[i];
    run_gates<Circuit>(signal);
    take_outputs<Circuit>(y, signal);
}

// True if run(y, x) computes the function for each value of the inputs x. Input i is bit i of the
// function's argument, and output i is bit i of its value.
template <int inputs, int outputs, class Run, class Function>
constexpr bool circuit_computes(const Run& run, const Function& function) {
    for (int base = 0; base < 1 << inputs; base += 64) {
        uint64_t x[inputs] = {}, y[outputs] = {};
        for (int i = 0; i < inputs; ++i)
            for (int lane = 0; lane < 64; ++lane)
                x[i] |= uint64_t{((base + lane) >> i & 1) != 0} << lane;
        run(y, x);
        for (int lane = 0; lane < 64; ++lane) {
            const auto wanted = static_cast<unsigned>(function(base + lane));
            for (int i = 0; i < outputs; ++i)
                if ((y[i] >> lane & 1) != (wanted >> i & 1)) return false;
        }
    }
    return true;
}

template <class Circuit, class Function>
constexpr bool gates_compute(const Function& function) {
    return circuit_computes<Circuit::inputs, Circuit::outputs>(
        [](uint64_t* y, const uint64_t* x) { apply_gates<Circuit>(y, x); }, function);
}

}  // namespace warpseal
