// Products modulo (2^16, x^n - 1) on vectors of 16-bit lanes: Karatsuba down to a leaf, which is
// schoolbook multiplication.
#pragma once

#include "backends/cpu/representations/vector.h"
#include "kem/poly.h"

namespace warpseal::cpu {
namespace {

template <const kem::Params& set, size_t vector_bytes>
class Product {
    static constexpr int size = kem::Poly<set>::size;
    static constexpr int lanes = vector_bytes / 2;
    typedef uint16_t Lanes __attribute__((vector_size(vector_bytes)));

    // Halved to at most 64 coefficients; another halving would cost more than it saves.
    static constexpr int leaf = [] {
        int length = size;
        while (length > 64) length /= 2;
        return length;
    }();
    static constexpr int at_once = 4;  // vectors of a product accumulated side by side
    static constexpr int up(int length) { return (length + lanes - 1) / lanes * lanes; }

public:
    struct Work {
        alignas(64) uint16_t product[2 * size];
        // For all levels: two sums of half the length and their product, (2 + 1 + ...) * size.
        alignas(64) uint16_t scratch[4 * size + 64];
        alignas(64) uint16_t spread[leaf][lanes];  // each coefficient of a leaf in all lanes
        // The other factor, with zeros on both sides.
        alignas(64) uint16_t padded[up(leaf) + leaf + at_once * lanes];
    };

    static void multiply(kem::Poly<set>& c, const kem::Poly<set>& a, const kem::Poly<set>& b,
                         Work& work) {
        karatsuba<size>(work.product, a.at, b.at, work.scratch, work);
        for (int i = 0; i < set.n; ++i)
            c.at[i] = kem::low16(work.product[i] + uint32_t{work.product[set.n + i]});
        kem::clear_tail<set>(c);
    }

private:
    // Computes c[0, 2 length) = a b.
    template <int length>
    static __attribute__((noinline)) void karatsuba(uint16_t* c, const uint16_t* a,
                                                    const uint16_t* b, uint16_t* scratch,
                                                    Work& work) {
        if constexpr (length == leaf) {
            schoolbook(c, a, b, work);
        } else {
            static_assert(length % 2 == 0);
            constexpr int half = length / 2;
            uint16_t *const sum_a = scratch, *const sum_b = scratch + half,
                            *const middle = scratch + length;
            for (int i = 0; i < half; ++i) {
                sum_a[i] = kem::low16(a[i] + uint32_t{a[half + i]});
                sum_b[i] = kem::low16(b[i] + uint32_t{b[half + i]});
            }
            karatsuba<half>(middle, sum_a, sum_b, scratch + 2 * length, work);
            karatsuba<half>(c, a, b, scratch + 2 * length, work);
            karatsuba<half>(c + length, a + half, b + half, scratch + 2 * length, work);
            for (int i = 0; i < half; ++i) {
                const uint32_t low = c[half + i], high = c[length + i];
                // Enters both halves of the middle product, with opposite signs.
                const uint32_t both = low - high;
                c[half + i] = kem::low16(both + middle[i] - c[i]);
                c[length + i] = kem::low16(middle[half + i] - both - c[length + half + i]);
            }
        }
    }

    // Vector k of the product is a sum over i. Each term is a[i], in all lanes, times the lanes of
    // b from k * lanes - i on.
    static __attribute__((noinline)) void schoolbook(uint16_t* c, const uint16_t* a,
                                                     const uint16_t* b, Work& work) {
        constexpr int width = up(leaf);
        for (int i = 0; i < leaf; ++i)
            for (int j = 0; j < lanes; ++j) work.spread[i][j] = a[i];
        uint16_t* const zero = work.padded + width;
        for (int i = 0; i < width; ++i) work.padded[i] = 0;
        for (int i = 0; i < leaf; ++i) zero[i] = b[i];
        for (int i = leaf; i < leaf + at_once * lanes; ++i) zero[i] = 0;
        for (int k = 0; k < 2 * leaf; k += at_once * lanes) {
            Lanes sum[at_once] = {};
            const int first = k - leaf + 1 > 0 ? k - leaf + 1 : 0,
                      end = k + at_once * lanes < leaf ? k + at_once * lanes : leaf;
            for (int i = first; i < end; ++i) {
                Lanes factor;
                memcpy(&factor, work.spread[i], vector_bytes);
                WARPSEAL_UNROLL for (int v = 0; v < at_once; ++v) {
                    Lanes part;
                    memcpy(&part, zero + k + v * lanes - i, vector_bytes);
                    sum[v] += factor * part;
                }
            }
            for (int v = 0; v < at_once; ++v)
                if (k + v * lanes < 2 * leaf)
                    memcpy(c + k + v * lanes, &sum[v],
                           k + (v + 1) * lanes <= 2 * leaf ? vector_bytes
                                                           : 2 * (2 * leaf - k - v * lanes));
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
