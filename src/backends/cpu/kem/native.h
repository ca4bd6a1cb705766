// NTRU arithmetic of the AVX2 and VAES-512 targets: products by dot-product instructions, and
// vectors for sorting and hashing.
#pragma once

#include "backends/cpu/kem/sort_columns.h"
#include "backends/cpu/kem/strings.h"
#include "backends/cpu/kem/toeplitz.h"
#include "backends/cpu/representations/vector.h"
#include "kem/ntru.h"

namespace warpseal::cpu {
namespace {

// Vectors: see Strings. Wide and Small: units of Toeplitz, for coefficients of 16 bits and for
// ternary ones.
template <const kem::Params& set, class Vectors, class Wide, class Small>
struct VectorArithmetic : Strings<set, Vectors> {
    using Poly = kem::Poly<set>;
    using Products = Toeplitz<set, Wide>;
    using SmallProducts = Toeplitz<set, Small>;
    struct SmallWork {
        typename SmallProducts::Work work;
        alignas(64) uint8_t a[Poly::size], b[Poly::size];
    };
    using Sort = ColumnSort<VectorOf<int32_t, Vectors::bytes>, kem::sort_capacity<set>>;
    union Work {
        typename Sort::Work sort;
        typename Products::Work products;
        SmallWork small;
    };

    static __attribute__((noinline)) void multiply(Poly& c, const Poly& a, const Poly& b,
                                                   Work& work) {
        Products::multiply(c, a.at, b.at, work.products);
    }
    static void multiply_ternary(Poly& c, const Poly& a, const Poly& t, Work& work) {
        multiply(c, a, t, work);
    }
    // Multiplies ternary a and b. Coefficients of the product are at most 2 n in magnitude, since
    // b's residues are 0, 1 and 2. A vector holds twice as many bytes as 16-bit numbers.
    static __attribute__((noinline)) void multiply_small(Poly& c, const Poly& a, const Poly& b,
                                                         Work& work) {
        for (int i = 0; i < Poly::size; ++i) {
            work.small.a[i] = static_cast<uint8_t>(a.at[i]);
            work.small.b[i] = static_cast<uint8_t>(kem::digit(b.at[i]));
        }
        SmallProducts::multiply(c, work.small.a, work.small.b, work.small.work);
    }
    static void multiply_s3(Poly& c, const Poly& a, const Poly& b, Work& work) {
        // reduce_s3 subtracts one coefficient from another.
        static_assert(4 * set.n <= static_cast<int>(kem::mod3_reach));
        multiply_small(c, a, b, work);
        kem::reduce_s3<set>(c);
    }
    static void multiply_r2(Poly& c, const Poly& a, const Poly& b, Work& work) {
        multiply_small(c, a, b, work);
        for (int i = 0; i < set.n; ++i) c.at[i] &= 1;
    }
    static void sort(int32_t* keys, Work& work) { Sort::sort(keys, set.n - 1, work.sort); }
};

// A target, as a parameter of Operations: see KemPortable.
template <class Vectors, class Wide, class Small>
struct VectorKemTarget {
    using KeccakWord = VectorOf<uint64_t, Vectors::bytes>;
    static constexpr int keypair_group = 32;
    template <const kem::Params& set>
    using Arithmetic = VectorArithmetic<set, Vectors, Wide, Small>;
};

}  // namespace
}  // namespace warpseal::cpu
