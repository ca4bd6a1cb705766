// Transposition of blocks in vectors: vector i receives element i of every block.
#pragma once

#include <utility>

#include "core/word.h"

namespace warpseal::cpu {
namespace {

// Transposes `count` vectors of whole blocks, as they are in memory, to one vector for each element
// of a block. Applying it twice restores the input.
// Within each 16 bytes, vector number and element position exchange roles, one bit at a time from
// the top. With two blocks in 16 bytes, the lower of two positions holds the first block.
template <class Vector, int count>
struct Transpose {
    static constexpr int element_bytes = sizeof(decltype(Vector{}[0]));
    static constexpr int elements = sizeof(Vector) / element_bytes, positions = 16 / element_bytes;
    static_assert(count == positions || 2 * count == positions);

    WARPSEAL_INLINE static void run(Vector (&v)[count]) {
        if constexpr (count != positions)
            for (int r = 0; r < count; ++r)
                v[r] = pick<Rotated>(v[r], v[r], std::make_integer_sequence<int, elements>{});
        WARPSEAL_UNROLL
        for (int half = count / 2; half != 0; half /= 2) {
            WARPSEAL_UNROLL
            for (int r = 0; r < count; ++r) {
                if (r & half) continue;
                const Vector low =
                    pick<Low>(v[r], v[r | half], std::make_integer_sequence<int, elements>{});
                v[r | half] =
                    pick<High>(v[r], v[r | half], std::make_integer_sequence<int, elements>{});
                v[r] = low;
            }
        }
    }

    // Returns the number of the block, in memory order, that a lane holds afterwards.
    static constexpr int block_of_lane(int lane) {
        constexpr int quarters = sizeof(Vector) / 16;
        const int quarter = lane / positions, position = lane % positions;
        return count == positions ? position * quarters + quarter
                                  : 2 * (position % count * quarters + quarter) + position / count;
    }

private:
    // Source of element i of the result. Values from `elements` on select the second vector.
    struct Low {
        static constexpr int from(int i) {
            return i / positions * positions + i % positions / 2 + i % 2 * elements;
        }
    };
    struct High {
        static constexpr int from(int i) { return Low::from(i) + positions / 2; }
    };
    struct Rotated {  // rotates the top bit of the position to the bottom
        static constexpr int from(int i) {
            return i / positions * positions + i % 2 * (positions / 2) + i % positions / 2;
        }
    };
    template <class Order, int... i>
    WARPSEAL_INLINE static Vector pick(const Vector& a, const Vector& b,
                                       std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b, Order::from(i)...);
    }
};

}  // namespace
}  // namespace warpseal::cpu
