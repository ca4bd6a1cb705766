// Blocks side by side in vectors and back: element i of every block in vector i.
#pragma once

#include <utility>

#include "core/word.h"

namespace warpseal::cpu {
namespace {

// `count` vectors of memory, of whole blocks of `count` elements, to one vector for each element of
// a block; the same once more is the way back. Within each 16 bytes, vector number and place change
// roles, a bit at a time from the top; with two blocks in 16 bytes the lower of two places holds
// the first block.
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

    // Which block of the memory a lane then holds.
    static constexpr int block_of_lane(int lane) {
        constexpr int quarters = sizeof(Vector) / 16;
        const int quarter = lane / positions, position = lane % positions;
        return count == positions ? position * quarters + quarter
                                  : 2 * (position % count * quarters + quarter) + position / count;
    }

private:
    // From where element i of the result comes; `elements` and above is the second vector.
    struct Low {
        static constexpr int from(int i) {
            return i / positions * positions + i % positions / 2 + i % 2 * elements;
        }
    };
    struct High {
        static constexpr int from(int i) { return Low::from(i) + positions / 2; }
    };
    struct Rotated {  // the place's top bit becomes its lowest
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
