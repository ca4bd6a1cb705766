// Linear layers as programs: the XORs that compute several sums of the same inputs, determined at
// compile time.
#pragma once

#include "core/word.h"

namespace warpseal {

// sum[r] is the set of inputs (as bits) whose sum is result r. The pair of signals that most sums
// share becomes a new signal, until every sum is a single signal: C. Paar, "Optimized arithmetic
// for Reed-Solomon encoders" (1997).
template <int inputs, int sums>
struct LinearProgram {
    static constexpr int most = 96;
    int count = 0;
    int a[most] = {}, b[most] = {};  // step i computes signal inputs + i
    int result[sums] = {};           // index of the signal that is each sum

    constexpr explicit LinearProgram(const uint32_t (&sum)[sums]) {
        uint32_t column[inputs + most] = {};  // bit set of the sums that still contain each signal
        for (int i = 0; i < inputs; ++i)
            for (int r = 0; r < sums; ++r) column[i] |= (sum[r] >> i & 1) << r;
        for (;;) {
            int best = 0, first = 0, second = 0;
            for (int i = 0; i < inputs + count; ++i)
                for (int j = i + 1; column[i] != 0 && j < inputs + count; ++j) {
                    const uint32_t both = column[i] & column[j];
                    const int shared = both == 0 ? 0 : __builtin_popcount(both);
                    if (shared > best) best = shared, first = i, second = j;
                }
            if (best == 0) break;
            const uint32_t both = column[first] & column[second];
            column[first] ^= both;
            column[second] ^= both;
            column[inputs + count] = both;
            a[count] = first;
            b[count] = second;
            ++count;
        }
        for (int i = 0; i < inputs + count; ++i)
            for (int r = 0; r < sums; ++r)
                if (column[i] >> r & 1) result[r] = i;
    }
};

// Runs Owner::program on `signal`, which starts with the inputs and has room for all signals. All
// indices are compile-time constants: nvcc rejects a constexpr array read with a run-time index in
// device code.
template <class Owner, int step = 0, class Word>
WARPSEAL_INLINE constexpr void run_steps(Word* signal) {
    constexpr int count = Owner::program.count, at = Owner::inputs + step,
                  a = Owner::program.a[step], b = Owner::program.b[step];
    if constexpr (step < count) {
        signal[at] = signal[a] ^ signal[b];
        run_steps<Owner, step + 1>(signal);
    }
}

template <class Owner, int i = 0, class Word>
WARPSEAL_INLINE constexpr void take_results(Word* sum, const Word* signal) {
    if constexpr (i < Owner::sums) {
        constexpr int from = Owner::program.result[i];
        sum[i] = signal[from];
        take_results<Owner, i + 1>(sum, signal);
    }
}

}  // namespace warpseal
