// X25519 of one item on AVX-512 with IFMA: independent products of a formula lie in the four lanes
// of a vector.
#pragma once

#include "backends/cpu/kem/x25519_batch.h"
#include "backends/cpu/kem/x25519_ifma_numbers.h"

namespace warpseal::cpu {
namespace {

// The base point's table by lanes: y + x, y - x, 2 (a factor of Z), 2 d x y.
struct X25519LaneTable {
    using Rows = kem::x25519::BaseTable;
    alignas(32) uint64_t at[Rows::rows][Rows::columns][kem::x25519::limbs][4];
};
constexpr X25519LaneTable make_x25519_lane_table() {
    X25519LaneTable out{};
    for (int row = 0; row < X25519LaneTable::Rows::rows; ++row)
        for (int column = 0; column < X25519LaneTable::Rows::columns; ++column)
            for (int i = 0; i < kem::x25519::limbs; ++i) {
                const auto& from = kem::x25519::base_table.at[row][column];
                uint64_t(&to)[4] = out.at[row][column][i];
                to[0] = from.sum.at[i];
                to[1] = from.difference.at[i];
                to[2] = i == 0 ? 2 : 0;
                to[3] = from.product.at[i];
            }
    return out;
}
constexpr X25519LaneTable x25519_lane_table = make_x25519_lane_table();

struct X25519FourLanes {
    using Field = IfmaNumbers<32>;
    using Word = Field::Word;
    using Number = Field::Number;
    using Single = kem::x25519::Single;
    using Fraction = kem::x25519::Fraction<Single>;
    static constexpr int limbs = kem::x25519::limbs;

    // The Montgomery ladder. Its variables have the names of RFC 7748, section 5. A step is three
    // products of vectors.
    static Fraction product(const kem::x25519::Bytes<uint64_t>& scalar,
                            const Single::Number& point) {
        Number coordinates, factors;  // x2, z2, x3, z3
        for (int i = 0; i < limbs; ++i) {
            const uint64_t one = i == 0;
            coordinates.at[i] = Word{one, 0, point.at[i], one};
            factors.at[i] = Word{one, 0, one, point.at[i]};
        }
        uint64_t before = 0;
        for (int t = 254; t >= 0; --t) {
            const uint64_t bit = (scalar.at[t / 64] >> (t % 64)) & 1;
            exchange_points(coordinates, bit ^ before);
            before = bit;
            coordinates = step(coordinates, factors);
        }
        // Bit 0 of a clamped scalar is 0, so no exchange is left.
        return {lane(coordinates, 0), lane(coordinates, 1)};
    }
    // Computes kem::x25519::multiply_base with 64 additions and four doublings.
    static Fraction base_product(const uint64_t (&digits)[64]) {
        Number point{};  // Y, X, Z, T
        point.at[0] = Word{1, 0, 1, 0};
        for (int odd = 1; odd >= 0; --odd) {
            for (int i = 0; i < X25519LaneTable::Rows::rows; ++i)
                point = add(point, chosen(x25519_lane_table.at[i], digits[2 * i + odd]));
            if (odd == 1) point = times_16(point);
        }
        const Single::Number y = lane(point, 0), z = lane(point, 2);
        return {kem::x25519::add<Single>(z, y), kem::x25519::subtract<Single>(z, y)};
    }

private:
    // Indices 0 to 3 select lanes of a, and 4 to 7 lanes of b.
    template <int lane0, int lane1, int lane2, int lane3>
    WARPSEAL_INLINE static Number lanes(const Number& a, const Number& b) {
        Number out;
        for (int i = 0; i < limbs; ++i)
            out.at[i] = __builtin_shufflevector(a.at[i], b.at[i], lane0, lane1, lane2, lane3);
        return out;
    }
    template <int lane0, int lane1, int lane2, int lane3>
    WARPSEAL_INLINE static Number lanes(const Number& a) {
        return lanes<lane0, lane1, lane2, lane3>(a, a);
    }
    static Single::Number lane(const Number& from, int number) {
        Single::Number out{};
        for (int i = 0; i < limbs; ++i) out.at[i] = from.at[i][number];
        return out;
    }
    // Returns a + b, or a - b in lanes where negative is all ones; there 4 p is added.
    WARPSEAL_INLINE static Number sum(const Number& a, const Number& b, const Word& negative) {
        Number out;
        for (int i = 0; i < limbs; ++i) {
            const uint64_t four_p = (kem::x25519::limb_mask << 2) - (i == 0 ? 72 : 0);
            out.at[i] = a.at[i] + (b.at[i] ^ negative) + (negative & (four_p + 1));
        }
        return carry_once(out);
    }
    // Returns the sum and the difference of lanes 0 and 1, and of lanes 2 and 3.
    WARPSEAL_INLINE static Number sums_and_differences(const Number& a) {
        return sum(lanes<0, 0, 2, 2>(a), lanes<1, 1, 3, 3>(a), Word{0, ~0ul, 0, ~0ul});
    }

    WARPSEAL_INLINE static void exchange_points(Number& coordinates, uint64_t bit) {
        const Word mask = Word{} + kem::x25519::hidden(0 - bit);
        const Number other = lanes<2, 3, 0, 1>(coordinates);
        for (int i = 0; i < limbs; ++i)
            coordinates.at[i] ^= (coordinates.at[i] ^ other.at[i]) & mask;
    }
    WARPSEAL_INLINE static Number step(const Number& coordinates, const Number& factors) {
        Number constant{};
        constant.at[0] = Word{} + kem::x25519::a24;
        const Number a = sums_and_differences(coordinates);         // A, B, C, D
        const Number b = Field::multiply(a, lanes<0, 1, 1, 0>(a));  // AA, BB, CB, DA
        const Number c = sums_and_differences(b);                   // -, E, CB + DA, CB - DA
        const Number d = Field::multiply_add(  // x2, AA + a24 E, x3, (CB - DA)^2
            lanes<4, 1, 2, 3>(c, b), lanes<0, 4, 2, 3>(lanes<5, 1, 2, 3>(c, b), constant),
            lanes<4, 0, 4, 4>(b, Number{}));
        return Field::multiply(lanes<0, 5, 2, 3>(d, c), lanes<0, 5, 2, 3>(factors, d));
    }

    // Adds an affine point, whose lanes are those of the table. The formula is complete.
    WARPSEAL_INLINE static Number add(const Number& point, const Number& affine) {
        const Number a = sum(lanes<0, 0, 2, 3>(point), lanes<1, 1, 4, 4>(point, Number{}),
                             Word{0, ~0ul, 0, 0});  // Y + X, Y - X, Z, T
        const Number b = Field::multiply(a, affine);
        const Number c = sums_and_differences(b);  // H, E, G, F
        return Field::multiply(lanes<0, 1, 2, 0>(c), lanes<2, 3, 3, 1>(c));
    }
    static Number times_16(const Number& of) {
        kem::x25519::Point<Single> point{lane(of, 1), lane(of, 0), lane(of, 2), lane(of, 3)};
        for (int i = 0; i < 4; ++i) point = kem::x25519::twice<Single>(point);
        Number out;
        for (int i = 0; i < limbs; ++i)
            out.at[i] = Word{point.y.at[i], point.x.at[i], point.z.at[i], point.t.at[i]};
        return out;
    }
    // Returns digit times the row's point, for digits from -8 to 8. Reads the whole row.
    WARPSEAL_INLINE static Number chosen(
        const uint64_t (&row)[X25519LaneTable::Rows::columns][limbs][4], uint64_t digit) {
        const Word negative = Word{} + kem::x25519::hidden(0 - (digit >> 63));
        const Word magnitude = ((Word{} + digit) ^ negative) - negative;
        Number out{};
        out.at[0] = kem::x25519::hidden(Word(magnitude == 0)) & Word{1, 1, 2, 0};
        for (int j = 0; j < X25519LaneTable::Rows::columns; ++j) {
            const Word mask = kem::x25519::hidden(Word(magnitude == static_cast<uint64_t>(j) + 1));
            for (int i = 0; i < limbs; ++i) {
                Word entry;
                memcpy(&entry, row[j][i], sizeof entry);
                out.at[i] |= mask & entry;
            }
        }
        // The negative of a point has the sum and the difference exchanged and a negative product.
        const Number exchanged = lanes<1, 0, 2, 3>(out);
        for (int i = 0; i < limbs; ++i) out.at[i] ^= (out.at[i] ^ exchanged.at[i]) & negative;
        const Number kept = lanes<0, 1, 2, 4>(out, Number{}),
                     negated = lanes<4, 4, 4, 3>(out, Number{});
        return sum(kept, negated, negative);
    }
};

}  // namespace
}  // namespace warpseal::cpu
