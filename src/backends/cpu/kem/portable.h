// NTRU arithmetic of the portable target: products in 128-bit vectors, which every x86-64 CPU has,
// and one Keccak state at a time.
#pragma once

#include "backends/cpu/kem/product.h"
#include "backends/cpu/kem/sort.h"
#include "kem/ntru.h"

namespace warpseal::cpu {
namespace {

template <const kem::Params& set>
struct PortableArithmetic {
    using Poly = kem::Poly<set>;
    using Products = Product<set, 16>;
    using Work = typename Products::Work;

    static void multiply(Poly& c, const Poly& a, const Poly& b, Work& work) {
        Products::multiply(c, a, b, work);
    }
    static void multiply_ternary(Poly& c, const Poly& a, const Poly& t, Work& work) {
        Products::multiply(c, a, t, work);
    }
    static void multiply_s3(Poly& c, const Poly& a, const Poly& b, Work& work) {
        static_assert(2 * set.n <= static_cast<int>(kem::mod3_reach));
        Products::multiply(c, a, b, work);
        kem::reduce_s3<set>(c);
    }
    static void multiply_r2(Poly& c, const Poly& a, const Poly& b, Work& work) {
        Products::multiply(c, a, b, work);
        for (int i = 0; i < set.n; ++i) c.at[i] &= 1;
    }
    static void sort(int32_t* keys, Work&) { cpu::sort(keys, set.n - 1); }
    static void unpack_sq(Poly& a, const uint8_t* in) { kem::unpack_sq<set>(a, in); }
    static void pack_rq(uint8_t* out, const Poly& a) { kem::pack_rq<set>(out, a); }
    static void unpack_ternary(Poly& a, const uint8_t* in) { kem::unpack_ternary<set>(a, in); }
    static void sort_keys(int32_t* keys, const uint8_t* coins) { kem::sort_keys<set>(keys, coins); }
};

// A target, as a parameter of Operations: the word of Keccak, the number of keys inverted together,
// and the arithmetic of a parameter set.
struct KemPortable {
    using KeccakWord = uint64_t;
    static constexpr int keypair_group = 32;
    template <const kem::Params& set>
    using Arithmetic = PortableArithmetic<set>;
};

}  // namespace
}  // namespace warpseal::cpu
