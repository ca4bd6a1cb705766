// Plane form: blocks as bit planes and back, once for all ciphers, for words of 32 or 64 bits and vectors of 64-bit words.
#pragma once

#include "core/word.h"

namespace warpseal {

// Plane i of a bundle holds bit i of every block: lane j of a word belongs to block j. Bit i of a block is bit i % 8 of its byte i / 8.
// A vector word is a row of 64-bit units, and a unit is transposed like a scalar word, all units of the vector at once.
template <class Word>
struct Planes {
    static constexpr int unit_bits = sizeof(Word) == 4 ? 32 : 64;
    static constexpr int units = static_cast<int>(8 * sizeof(Word)) / unit_bits;
    static constexpr int blocks = unit_bits * units;

    // Transposes square bit matrices: row r's bit c changes places with row c's bit r. Halves swap off the diagonal, at every scale.
    WARPSEAL_INLINE static void transpose(Word* row) {
        uint64_t low = unit_bits == 64 ? 0x00000000ffffffffu : 0x0000ffffu;
        for (int half = unit_bits / 2; half != 0; half /= 2, low ^= low << half) {
            for (int r = 0; r < unit_bits; r = ((r | half) + 1) & ~half) {
                const Word swapped = ((row[r] >> half) ^ row[r + half]) & (Word{} + static_cast<Unit>(low));
                row[r] ^= swapped << half;
                row[r + half] ^= swapped;
            }
        }
    }

    // `blocks` blocks of block_bytes bytes, one after the other, to block_bytes * 8 planes; and back.
    template <int block_bytes>
    WARPSEAL_INLINE static void from_blocks(Word (&plane)[8 * block_bytes], const uint8_t* in) {
        for (int part = 0; part < 8 * block_bytes; part += unit_bits) {
            for (int r = 0; r < unit_bits; ++r)
                for (int u = 0; u < units; ++u)
                    memcpy(unit(plane[part + r], u), in + (u * unit_bits + r) * block_bytes + part / 8, sizeof(Unit));
            transpose(plane + part);
        }
    }
    template <int block_bytes>
    WARPSEAL_INLINE static void to_blocks(uint8_t* out, Word (&plane)[8 * block_bytes]) {
        for (int part = 0; part < 8 * block_bytes; part += unit_bits) {
            transpose(plane + part);
            for (int r = 0; r < unit_bits; ++r)
                for (int u = 0; u < units; ++u)
                    memcpy(out + (u * unit_bits + r) * block_bytes + part / 8, unit(plane[part + r], u), sizeof(Unit));
        }
    }

    // Which of the blocks is in a lane, by its bit number.
    template <int block_bytes>
    static constexpr int block_of_lane(int lane) {
        return lane;
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
    WARPSEAL_INLINE static uint8_t* unit(Word& word, int u) { return reinterpret_cast<uint8_t*>(&word) + u * sizeof(Unit); }
};

}  // namespace warpseal
