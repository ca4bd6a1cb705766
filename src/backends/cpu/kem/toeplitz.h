// Products modulo x^n - 1 as a Toeplitz matrix times a vector: row k is the sum of b[k - j] a[j].
// Halving the matrix leaves three of four products. Leaves use dot products of a few coefficients
// in each lane.
#pragma once

#include <utility>

#include "kem/poly.h"

namespace warpseal::cpu {
namespace {

// `Unit` is the multiplication of a target. A word is `group` coefficients, of type Element, of one
// row of the matrix; a vector has `lanes` words.
//   multiply_add(sums, words, factors)  adds the dot product of each lane's words and factors
//                                       to its sum, at least modulo 2^16
//   all(factors)                        the same word in all lanes
//   low(sums)                           the sums modulo 2^16
//   join(b)                             vector whose word i is b[i], b[i - 1], ...
// Each halving of a product adds two coefficients of the matrix, and subtracts two factors.
// `most_levels` is the largest number of halvings allowed. `largest_leaf`, `registers` and
// `in_flight` (multiplications that keep the unit busy) are chosen for speed.
template <const kem::Params& set, class Unit>
class Toeplitz {
    using Element = typename Unit::Element;
    using Word = typename Unit::Word;
    using Vector = typename Unit::Vector;
    static constexpr int lanes = Unit::lanes, group = Unit::group, vector_elements = lanes * group;
    static constexpr int up(int count, int unit) { return (count + unit - 1) / unit * unit; }

    // Number of halvings until a leaf is at most Unit::largest_leaf.
    static constexpr int levels = [] {
        int count = 0;
        while (set.n > Unit::largest_leaf << count) ++count;
        return count;
    }();
    static_assert(levels <= Unit::most_levels);
    static constexpr int leaf = up((set.n + (1 << levels) - 1) >> levels, group);
    static constexpr int rows = leaf << levels;
    static_assert(rows <= kem::Poly<set>::size);

    // Sizes for all levels together: 3 rows (1/2 + 1/4 + ...) and rows (1/2 + 1/4 + ...). Each
    // level has space to run past its end by less than a vector.
    static constexpr int sum_words = 3 * rows + 2 * levels * lanes,
                         half_elements = rows + 2 * levels * vector_elements;

public:
    struct Work {
        // Word d, of b[d], b[d - 1], ... with indices modulo n, is at rows + d.
        alignas(64) Word matrix[2 * rows + 2 * lanes];
        alignas(64) Word sums[sum_words];
        alignas(64) Element differences[half_elements];
        alignas(64) uint16_t product[rows + vector_elements];
        alignas(64) uint16_t products[half_elements];
    };

    // Computes c[0, n) modulo 2^16 from coefficients 0 to n - 1 of a and b, as elements of the
    // unit. a must be filled with zeros to `rows`.
    WARPSEAL_INLINE static void multiply(kem::Poly<set>& c, const Element* a, const Element* b,
                                         Work& work) {
        fill(work.matrix + rows, b);
        times<levels>(work.product, work.matrix + rows, a, work.sums, work.differences,
                      work.products);
        for (int i = 0; i < kem::Poly<set>::size; ++i) c.at[i] = i < set.n ? work.product[i] : 0;
    }

private:
    // Writes words 0 to n - 1, and the same words n positions before. Rows from n on would need
    // further words, but their results are discarded.
    WARPSEAL_INLINE static void fill(Word* zero, const Element* b) {
        for (int d = lanes; d < set.n; d += lanes) {
            const Words words = (Words)Unit::join(b + d);
            memcpy(zero + d, &words, sizeof words);
            // The last store runs past the end, where the first words follow.
            memcpy(zero + d - set.n, &words, sizeof words);
        }
        Element first[group + lanes];
        memcpy(first, b + set.n - group, group * sizeof(Element));
        memcpy(first + group, b, lanes * sizeof(Element));
        const Words words = (Words)Unit::join(first + group);
        memcpy(zero, &words, sizeof words);
        memcpy(zero - set.n, &words, sizeof words);
    }
    typedef Word Words __attribute__((vector_size(sizeof(Vector))));

    // Computes out = matrix * factors, for leaf << level rows. The matrix has quarters (T1 T0 / T2
    // T1), the factors halves a0 and a1. The upper half is (T0 + T1) a1 + T1 (a0 - a1), the lower
    // half (T1 + T2) a0 - T1 (a0 - a1). Runs past the end of out by less than a vector.
    // The product without sums comes first: the stores of the sums are then complete when loads
    // straddle their vectors.
    template <int level>
    WARPSEAL_INLINE static void times(uint16_t* out, const Word* matrix, const Element* factors,
                                      Word* sums, Element* differences, uint16_t* products) {
        constexpr int half = leaf << (level - 1);
        constexpr int used = up(3 * half + lanes, lanes),
                      halved = up(half, vector_elements) + vector_elements;
        for (int i = 0; i < 3 * half; i += lanes) {
            Elements x, y;
            memcpy(&x, matrix - 2 * half + i, sizeof x);
            memcpy(&y, matrix - half + i, sizeof y);
            x += y;
            memcpy(sums + i, &x, sizeof x);
        }
        for (int i = 0; i < half; ++i)
            differences[i] = static_cast<Element>(factors[i] - factors[half + i]);
        const Word *const above = sums + half, *const below = sums + 2 * half;
        if constexpr (level == 1) {
            times_leaf<0>(products, matrix, differences, nullptr);
            times_leaf<1>(out, above, factors + half, products);
            times_leaf<-1>(out + half, below, factors, products);
        } else {
            part<level>(products, matrix, differences, sums + used, differences + halved,
                        products + halved);
            part<level>(out, above, factors + half, sums + used, differences + halved,
                        products + halved);
            part<level>(out + half, below, factors, sums + used, differences + halved,
                        products + halved);
            for (int i = 0; i < half; ++i) {
                out[i] = kem::low16(out[i] + uint32_t{products[i]});
                out[half + i] = kem::low16(out[half + i] - uint32_t{products[i]});
            }
        }
    }
    template <int level>
    __attribute__((noinline)) static void part(uint16_t* out, const Word* matrix,
                                               const Element* factors, Word* sums,
                                               Element* differences, uint16_t* products) {
        times<level - 1>(out, matrix, factors, sums, differences, products);
    }

    typedef Element Elements __attribute__((vector_size(sizeof(Vector))));
    typedef uint16_t Narrow __attribute__((vector_size(2 * lanes)));
    // Number of factor words after which the matrix has moved by a whole vector.
    static constexpr int steps = lanes / group;
    static constexpr int sum_vectors = (leaf + lanes - 1) / lanes;
    static constexpr int factor_words = leaf / group;
    static constexpr int held = (factor_words + steps - 1) / steps;  // factors in registers
    // Number of accumulators of each row, because an addition waits for the one before: as many as
    // the unit keeps in flight, if the registers hold them.
    static constexpr int wanted = (Unit::in_flight + sum_vectors - 1) / sum_vectors,
                         most_chains = (Unit::registers - 2 - held) / sum_vectors;
    static constexpr int chains = wanted < most_chains ? wanted : most_chains > 1 ? most_chains : 1;

    // Computes out = sign * other + matrix * factors. Factor words step, step + steps, ... use the
    // same vectors of the matrix, each shifted by whole vectors. If registers hold these factors,
    // few vectors are loaded.
    template <int sign>
    __attribute__((noinline)) static void times_leaf(uint16_t* out, const Word* matrix,
                                                     const Element* factors,
                                                     const uint16_t* other) {
        Vector sum[chains][sum_vectors] = {};
        if constexpr (Unit::registers >= 32) {
            constexpr int whole = factor_words / steps, rest = factor_words % steps;
            for (int step = 0; step < rest; ++step)
                times_step<whole + 1>(sum, matrix - group * step, factors + group * step);
            for (int step = rest; step < steps; ++step)
                times_step<whole>(sum, matrix - group * step, factors + group * step);
        } else {
            for (int i = 0; i < factor_words; ++i)
                times_step<1>(sum, matrix - group * i, factors + group * i);
        }
        WARPSEAL_UNROLL for (int v = 0; v < sum_vectors; ++v) {
            WARPSEAL_UNROLL for (int chain = 1; chain < chains; ++chain) sum[0][v] =
                Unit::add(sum[0][v], sum[chain][v]);
            Narrow low = Unit::low(sum[0][v]), x;
            if constexpr (sign != 0) {
                memcpy(&x, other + v * lanes, sizeof x);
                low = sign > 0 ? low + x : low - x;
            }
            memcpy(out + v * lanes, &low, sizeof low);
        }
    }
    template <int count>
    WARPSEAL_INLINE static void times_step(Vector (&sum)[chains][sum_vectors], const Word* matrix,
                                           const Element* factors) {
        Vector factor[count];
        WARPSEAL_UNROLL for (int i = 0; i < count; ++i) {
            Word word;
            memcpy(&word, factors + i * vector_elements / group, sizeof word);
            factor[i] = Unit::all(word);
        }
        shifted<count>(sum, matrix, factor,
                       std::make_integer_sequence<int, sum_vectors + count - 1>{});
    }
    template <int count, int... i>
    WARPSEAL_INLINE static void shifted(Vector (&sum)[chains][sum_vectors], const Word* matrix,
                                        const Vector (&factor)[count],
                                        std::integer_sequence<int, i...>) {
        (times_vector<count, i + 1 - count>(sum, matrix, factor), ...);
    }
    template <int count, int shift>
    WARPSEAL_INLINE static void times_vector(Vector (&sum)[chains][sum_vectors], const Word* matrix,
                                             const Vector (&factor)[count]) {
        Vector words;
        memcpy(&words, matrix + shift * lanes, sizeof words);
        WARPSEAL_UNROLL for (int i = 0; i < count;
                             ++i) if (shift + i >= 0 && shift + i < sum_vectors)
            sum[i % chains][shift + i] =
                Unit::multiply_add(sum[i % chains][shift + i], words, factor[i]);
    }
};

}  // namespace
}  // namespace warpseal::cpu
