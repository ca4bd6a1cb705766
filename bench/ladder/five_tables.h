// AES-128 with five tables, as in P1 and in C code for CPUs: the last round has its own table. Also
// compiles for the host.
#pragma once

#include "ciphers/aes.h"

namespace warpseal::ladder {

// The tables of ciphers::aes, and the S-box in all four bytes of an entry.
struct FiveTables {
    enum { mix0, mix1, mix2, mix3, last, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        uint32_t mixed[ciphers::aes::EncryptTables::count][256] = {};
        ciphers::aes::EncryptTables::fill(mixed);
        const ciphers::aes::SBoxes boxes;
        for (int x = 0; x < 256; ++x) {
            for (int t = 0; t < last; ++t) entries[t][x] = mixed[t][x];
            entries[last][x] = 0x01010101u * boxes.forward[x];
        }
    }
};

struct AesByFiveTables : ciphers::aes::Aes<128> {
    using EncryptTables = FiveTables;

    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        using T = FiveTables;
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        WARPSEAL_UNROLL
        for (int r = 1; r <= rounds; ++r) {
            uint32_t n[4];
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c) {
                const uint32_t s0 = s[c], s1 = s[(c + 1) & 3], s2 = s[(c + 2) & 3],
                               s3 = s[(c + 3) & 3];
                n[c] = r < rounds ? tables.template lookup<T::mix0, 0>(s0) ^
                                        tables.template lookup<T::mix1, 1>(s1) ^
                                        tables.template lookup<T::mix2, 2>(s2) ^
                                        tables.template lookup<T::mix3, 3>(s3)
                                  : (tables.template lookup<T::last, 0>(s0) & 0xffu) ^
                                        (tables.template lookup<T::last, 1>(s1) & 0xff00u) ^
                                        (tables.template lookup<T::last, 2>(s2) & 0xff0000u) ^
                                        (tables.template lookup<T::last, 3>(s3) & 0xff000000u);
            }
            for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * r + c];
        }
    }
};

}  // namespace warpseal::ladder
