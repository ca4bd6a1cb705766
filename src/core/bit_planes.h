// Bitsliced representation: conversion of blocks to bit planes and back for all ciphers, with words
// of 32 or 64 bits or vectors of 64-bit words.
#pragma once

#include "core/word.h"

namespace warpseal {

// Plane i holds bit i of every block, which is bit i % 8 of byte i / 8. Each lane of a word belongs
// to one block. A vector word is a row of 64-bit units. Each unit is transposed like a scalar word,
// all units of the vector at once.
template <class Word>
struct BitPlanes {
    static constexpr int unit_bits = sizeof(Word) == 4 ? 32 : 64;
    static constexpr int units = static_cast<int>(8 * sizeof(Word)) / unit_bits;
    static constexpr int blocks = unit_bits * units;

    // Transposes square bit matrices: at every scale, the two off-diagonal halves are swapped. At
    // most eight rows are processed at a time, so that they fit in registers: first rows 8 apart,
    // then neighbours.
    WARPSEAL_INLINE static void transpose(Word* row) {
        for (int i = 0; i < 8; ++i) exchange<unit_bits / 8, 8>(row + i);
        for (int i = 0; i < unit_bits; i += 8) exchange<8, 1>(row + i);
    }

    // Convert `blocks` consecutive blocks of block_bytes bytes to block_bytes * 8 planes, and back.
    template <int block_bytes>
    WARPSEAL_INLINE static void from_blocks(Word (&plane)[8 * block_bytes], const uint8_t* in) {
        constexpr int block_units = 8 * block_bytes / unit_bits;  // units of a block
        for (int r = 0; r < unit_bits; ++r) {
            Unit unit[block_units][units];
            for (int u = 0; u < block_units * units; ++u)
                unit[u % block_units][u / block_units] =
                    load(in + (r * block_units * units + u) * sizeof(Unit));
            for (int column = 0; column < block_units; ++column)
                memcpy(&plane[column * unit_bits + r], unit[column], sizeof(Word));
        }
        for (int column = 0; column < block_units; ++column) transpose(plane + column * unit_bits);
    }
    template <int block_bytes>
    WARPSEAL_INLINE static void to_blocks(uint8_t* out, Word (&plane)[8 * block_bytes]) {
        constexpr int block_units = 8 * block_bytes / unit_bits;
        for (int column = 0; column < block_units; ++column) transpose(plane + column * unit_bits);
        for (int r = 0; r < unit_bits; ++r) {
            Unit unit[block_units][units], row[block_units * units];
            for (int column = 0; column < block_units; ++column)
                memcpy(unit[column], &plane[column * unit_bits + r], sizeof(Word));
            for (int u = 0; u < block_units * units; ++u)
                row[u] = unit[u % block_units][u / block_units];
            memcpy(out + r * sizeof row, row, sizeof row);
        }
    }

    // Returns the index of the block in a lane. `lane` is the bit number.
    template <int block_bytes>
    static constexpr int block_of_lane(int lane) {
        return lane % unit_bits * units + lane / unit_bits;
    }

private:
    template <int bits, class Dummy = void>
    struct UnitOf {
        using type = uint64_t;
    };
    template <class Dummy>
    struct UnitOf<32, Dummy> {
        using type = uint32_t;
    };
    using Unit = typename UnitOf<unit_bits>::type;

    WARPSEAL_INLINE static Unit load(const uint8_t* p) {
        Unit unit;
        memcpy(&unit, p, sizeof unit);
        return unit;
    }

    // Performs the stages of a transposition within `count` rows that are `apart` rows apart.
    template <int count, int apart>
    WARPSEAL_INLINE static void exchange(Word* row) {
        Word r[count];
        WARPSEAL_UNROLL
        for (int i = 0; i < count; ++i) r[i] = row[i * apart];
        swap_halves<count / 2, count, apart>(r);
        WARPSEAL_UNROLL
        for (int i = 0; i < count; ++i) row[i * apart] = r[i];
    }
    template <int half, int count, int apart>
    WARPSEAL_INLINE static void swap_halves(Word (&r)[count]) {
        constexpr int bits = half * apart;
        constexpr Unit low = static_cast<Unit>(~Unit{0}) / ((Unit{1} << bits) + 1);
        WARPSEAL_UNROLL
        for (int k = 0; k < count / 2; ++k) {
            Word &a = r[k / half * 2 * half + k % half],
                 &b = r[k / half * 2 * half + k % half + half];
            const Word swapped = ((a >> bits) ^ b) & (Word{} + low);
            a ^= swapped << bits;
            b ^= swapped;
        }
        if constexpr (half > 1) swap_halves<half / 2, count, apart>(r);
    }
};

}  // namespace warpseal
