// Constant-time sorting with vectors. Each lane is a column of the array; columns are sorted, then
// merged in pairs (Batcher, 1968, bitonic sort). The positions compared depend on the array's
// length alone.
#pragma once

#include <utility>

#include "kem/sample.h"

namespace warpseal::cpu {
namespace {

// Vector has elements of type int32_t. The array is filled up to `capacity`, a power of two, with
// the largest number.
template <class Vector, int capacity>
class ColumnSort {
    static constexpr int lanes = sizeof(Vector) / 4, rows = capacity / lanes, blocks = rows / lanes;
    static_assert(capacity % (lanes * lanes) == 0);

public:
    struct Work {
        Vector at[rows];
    };

    // Loads rows as they are in memory, since any distribution over the columns will do. Stores the
    // result column after column.
    static __attribute__((noinline)) void sort(int32_t* keys, int count, Work& work) {
        for (int i = count; i < capacity; ++i) keys[i] = INT32_MAX;
        const Vector turn = turned<1>(std::make_integer_sequence<int, lanes>{});
        for (int block = 0; block < blocks; ++block) {
            Vector v[lanes];
            load(v, keys + block * lanes * lanes);
            WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) v[i] ^= turn;
            sort_block<lanes>(v);
            store(work.at + block * lanes, v, block & 1);
        }
        merge_blocks<1>(work);
        merge_columns<1>(keys, work);
    }

private:
    static WARPSEAL_INLINE void load(Vector (&v)[lanes], const int32_t* from) {
        WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i)
            memcpy(&v[i], from + i * lanes, sizeof(Vector));
    }
    static WARPSEAL_INLINE void store(Vector* to, const Vector (&v)[lanes], int backward) {
        if (backward != 0) {
            WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) to[i] = v[lanes - 1 - i];
        } else {
            WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) to[i] = v[i];
        }
    }
    static WARPSEAL_INLINE void exchange(Vector& low, Vector& high) {
        const Vector smaller = low < high ? low : high;
        high = low < high ? high : low;
        low = smaller;
    }

    // --- within a column ---

    // Sorts the first `size` numbers of v in each column in ascending order, and likewise each
    // further group of `size`.
    template <int size>
    static WARPSEAL_INLINE void sort_block(Vector (&v)[lanes]) {
        if constexpr (size > 2) sort_block<size / 2>(v);
        WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) if (i % size < size / 2)
            exchange(v[i], v[i / size * size + size - 1 - i % size]);
        merge_block<size / 4>(v);
    }
    template <int distance>
    static WARPSEAL_INLINE void merge_block(Vector (&v)[lanes]) {
        if constexpr (distance > 0) {
            WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) if ((i & distance) == 0)
                exchange(v[i], v[i + distance]);
            merge_block<distance / 2>(v);
        }
    }

    // Merges runs of `run` blocks, alternately ascending and descending, to runs of twice that
    // size, and so on to whole ascending columns.
    template <int run>
    static WARPSEAL_INLINE void merge_blocks(Work& work) {
        if constexpr (run < blocks) {
            for (int row = 0; row < lanes; ++row) {
                Vector v[blocks];
                for_blocks([&](auto block) { v[block] = work.at[row + block * lanes]; });
                exchange_blocks<run, 2 * run>(v);
                for_blocks([&](auto block) { work.at[row + block * lanes] = v[block]; });
            }
            for (int block = 0; block < blocks; ++block) {
                Vector v[lanes];
                load(v, reinterpret_cast<const int32_t*>(work.at + block * lanes));
                merge_block<lanes / 2>(v);
                store(work.at + block * lanes, v, 2 * run < blocks ? block & (2 * run) : 0);
            }
            merge_blocks<2 * run>(work);
        }
    }
    // Runs of `size` blocks with an odd number descend.
    template <int distance, int size>
    static WARPSEAL_INLINE void exchange_blocks(Vector (&v)[blocks]) {
        if constexpr (distance > 0) {
            for_blocks([&](auto block) {
                if constexpr ((block & distance) == 0 && size < blocks && (block & size) != 0)
                    exchange(v[block + distance], v[block]);
                else if constexpr ((block & distance) == 0)
                    exchange(v[block], v[block + distance]);
            });
            exchange_blocks<distance / 2, size>(v);
        }
    }
    template <class Do>
    static WARPSEAL_INLINE void for_blocks(const Do& each) {
        for_each(each, std::make_integer_sequence<int, blocks>{});
    }
    template <class Do, int... i>
    static WARPSEAL_INLINE void for_each(const Do& each, std::integer_sequence<int, i...>) {
        (each(std::integral_constant<int, i>{}), ...);
    }

    // --- across columns ---

    // All ones in lanes whose number has this bit set. Complementing a descending column makes it
    // ascending.
    template <int bit, int... i>
    static WARPSEAL_INLINE constexpr Vector turned(std::integer_sequence<int, i...>) {
        return Vector{((i & bit) != 0 && bit < lanes ? -1 : 0)...};
    }

    // Merges sequences of `distance` columns, alternately ascending and descending, to twice that
    // size, and so on to the whole array.
    template <int distance>
    static WARPSEAL_INLINE void merge_columns(int32_t* keys, Work& work) {
        constexpr auto each_lane = std::make_integer_sequence<int, lanes>{};
        constexpr bool last = 2 * distance == lanes;
        const Vector turn = turned<distance>(each_lane) ^ turned<2 * distance>(each_lane);
        for (int row = 0; row < lanes; ++row) {
            Vector v[blocks];
            for_blocks([&](auto block) {
                v[block] = exchange_lanes<distance>(work.at[row + block * lanes] ^ turn);
            });
            exchange_blocks<blocks / 2, blocks>(v);
            for_blocks([&](auto block) { work.at[row + block * lanes] = v[block]; });
        }
        for (int block = 0; block < blocks; ++block) {
            Vector v[lanes];
            load(v, reinterpret_cast<const int32_t*>(work.at + block * lanes));
            merge_block<lanes / 2>(v);
            if constexpr (last) {
                transpose<lanes>(v);
                WARPSEAL_UNROLL for (int lane = 0; lane < lanes; ++lane)
                    memcpy(keys + lane * rows + block * lanes, &v[lane], sizeof(Vector));
            } else {
                store(work.at + block * lanes, v, 0);
            }
        }
        if constexpr (!last) merge_columns<2 * distance>(keys, work);
    }
    template <int distance>
    static WARPSEAL_INLINE Vector exchange_lanes(const Vector& v) {
        if constexpr (distance == 0) {
            return v;
        } else {
            constexpr auto each_lane = std::make_integer_sequence<int, lanes>{};
            const Vector other = across<distance>(v, each_lane);
            const Vector low = v < other ? v : other, high = v < other ? other : v;
            return exchange_lanes<distance / 2>(choose<distance>(low, high, each_lane));
        }
    }
    template <int distance, int... i>
    static WARPSEAL_INLINE Vector across(const Vector& v, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(v, v, (i ^ distance)...);
    }
    template <int distance, int... i>
    static WARPSEAL_INLINE Vector choose(const Vector& low, const Vector& high,
                                         std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(low, high, ((i & distance) != 0 ? lanes + i : i)...);
    }
    // Interleaves the two halves of the list of vectors, once for each bit of a lane's number.
    template <int times>
    static WARPSEAL_INLINE void transpose(Vector (&v)[lanes]) {
        if constexpr (times > 1) {
            Vector from[lanes];
            WARPSEAL_UNROLL for (int i = 0; i < lanes; ++i) from[i] = v[i];
            WARPSEAL_UNROLL for (int i = 0; i < lanes / 2; ++i) {
                v[2 * i] = interleave<0>(from[i], from[i + lanes / 2],
                                         std::make_integer_sequence<int, lanes>{});
                v[2 * i + 1] = interleave<lanes / 2>(from[i], from[i + lanes / 2],
                                                     std::make_integer_sequence<int, lanes>{});
            }
            transpose<times / 2>(v);
        }
    }
    template <int first, int... i>
    static WARPSEAL_INLINE Vector interleave(const Vector& a, const Vector& b,
                                             std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(a, b, (first + i / 2 + i % 2 * lanes)...);
    }
};

}  // namespace
}  // namespace warpseal::cpu
