// ShiftRows and MixColumns as P5 prints them (tables 2 and 3), with temporaries that all threads
// share.
//
// DATA RACE, on purpose: a thread may overwrite another's temporary between its write and its read,
// and the state is then wrong. These functions exist to count such blocks. Use them nowhere else.
//
// No compiler accepts the printed text. `omp for` takes neither a compound statement nor the
// clauses `shared` and an empty `reduction`. Table 3 also declares the temporaries inside the
// parallel region, where each thread has its own, and then lists them as shared. Here they are
// declared before the region, as its clause says.
#pragma once

#include <cstdint>

namespace warpseal::papers {

using ByteState = uint8_t[4][4];  // row, column

// `Build` tells copies with different compiler options apart.
template <class Build>
struct AsPrinted {
    static uint8_t xtime(uint8_t x) { return static_cast<uint8_t>(x << 1 ^ (x >> 7) * 0x1b); }

    [[gnu::noinline]] static void shift_rows(ByteState& state) {
        uint8_t temp;
#pragma omp parallel shared(temp)
        {
#pragma omp sections
            {
#pragma omp section
                {
                    temp = state[1][0];
                    state[1][0] = state[1][1];
                    state[1][1] = state[1][2];
                    state[1][2] = state[1][3];
                    state[1][3] = temp;
                    temp = state[2][0];
                    state[2][0] = state[2][2];
                    state[2][2] = temp;
                }
#pragma omp section
                {
                    temp = state[2][1];
                    state[2][1] = state[2][3];
                    state[2][3] = temp;
                    temp = state[3][0];
                    state[3][0] = state[3][3];
                    state[3][3] = state[3][2];
                    state[3][2] = state[3][1];
                    state[3][1] = temp;
                }
            }
        }
    }

    [[gnu::noinline]] static void mix_columns(ByteState& state) {
        int i;
        uint8_t Tmp, Tm, t;
#pragma omp parallel shared(Tmp, Tm, t)
        {
#pragma omp for private(i)
            for (i = 0; i < 4; i++) {
                t = state[0][i];
                Tmp = state[0][i] ^ state[1][i] ^ state[2][i] ^ state[3][i];
                Tm = state[0][i] ^ state[1][i];
                Tm = xtime(Tm);
                state[0][i] ^= Tm ^ Tmp;
                Tm = state[1][i] ^ state[2][i];
                Tm = xtime(Tm);
                state[1][i] ^= Tm ^ Tmp;
                Tm = state[2][i] ^ state[3][i];
                Tm = xtime(Tm);
                state[2][i] ^= Tm ^ Tmp;
                Tm = state[3][i] ^ t;
                Tm = xtime(Tm);
                state[3][i] ^= Tm ^ Tmp;
            }
        }
    }
};

struct Optimized;    // openmp_as_printed.cpp
struct Unoptimized;  // openmp_as_printed_unoptimized.cpp

}  // namespace warpseal::papers
