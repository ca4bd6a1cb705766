// Exports of mlkem_coefficients.cpp: each function returns the number of wrong results.
#pragma once

struct MlKemCoefficients {
    int (*compressions[5])();  // to 1, 4, 5, 10 and 11 bits, and back
    int (*reductions)();
    int (*products)();
};

extern "C" {
extern const MlKemCoefficients mlkem_coefficients_portable, mlkem_coefficients_avx2,
    mlkem_coefficients_vaes512;
}
