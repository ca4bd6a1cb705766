// Checks of ML-KEM's arithmetic on single coefficients, in every lane of one target's vectors.
// Built once for each target, as the library is.
#include "kem/mlkem.h"

#include WARPSEAL_TARGET_HEADER

#include "mlkem_coefficients.h"

namespace {

using Lanes = warpseal::cpu::WARPSEAL_TARGET::Lanes;
using Vector = Lanes::Vector;
using namespace warpseal::kem::mlkem;

// Calls function on vectors of consecutive numbers, and right(in, out) on each. Returns the number
// of wrong results.
template <class Function, class Right>
int each(int begin, int end, const Function& function, const Right& right) {
    int wrong = 0;
    for (int x = begin; x < end; ++x) {
        int16_t in[Lanes::lanes], out[Lanes::lanes];
        for (int lane = 0; lane < Lanes::lanes; ++lane) {
            const int y = begin + (x - begin + lane) % (end - begin);
            in[lane] = static_cast<int16_t>(y);
        }
        const Vector result = function(Lanes::load(in));
        Lanes::store(out, result);
        for (int lane = 0; lane < Lanes::lanes; ++lane) wrong += right(in[lane], out[lane]) ? 0 : 1;
    }
    return wrong;
}

int residue(long x) { return static_cast<int>((x % q + q) % q); }

template <int d>
int wrong_compressions() {
    return each(
               0, q, [](const Vector& v) { return compress<Lanes, d>(v); },
               [](int x, int y) { return y == (2 * (x << d) + q) / (2 * q) % (1 << d); }) +
           each(
               0, 1 << d, [](const Vector& v) { return decompress<Lanes, d>(v); },
               [](int y, int x) { return x == (2 * q * y + (1 << d)) / (2 << d); });
}

int wrong_reductions() {
    return each(
               -32768, 32768, [](const Vector& v) { return reduce<Lanes>(v); },
               [](int x, int y) { return residue(x) == residue(y) && y >= -1665 && y <= 1665; }) +
           each(
               -32768, 32768, [](const Vector& v) { return canonical<Lanes>(v); },
               [](int x, int y) { return y == residue(x); });
}

int wrong_products() {
    int wrong = 0;
    for (const int factor_value : {-1664, -1, 0, 1, 17, 1664, 3328, 4095}) {
        const Factor f = factor(static_cast<int16_t>(factor_value));
        wrong += each(
            -26632, 26633, [&](const Vector& v) { return montgomery<Lanes>(v, f); },
            [&](int x, int y) {
                return residue(long{x} * factor_value) == residue(long{y} * 65536) && y > -q &&
                       y < q;
            });
    }
    return wrong;
}

}  // namespace

extern "C" const MlKemCoefficients WARPSEAL_EXPORT;
const MlKemCoefficients WARPSEAL_EXPORT = {
    {wrong_compressions<1>, wrong_compressions<4>, wrong_compressions<5>, wrong_compressions<10>,
     wrong_compressions<11>},
    wrong_reductions,
    wrong_products};
