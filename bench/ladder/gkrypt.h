// AES-256 over a state of 4 x 4 bytes, after J. Masood, "gKrypt" (2012). Each step of FIPS 197 is a
// function with loops over bytes; multiplication uses logarithms. Also compiles for the host.
#pragma once

#include "ciphers/aes.h"
#include "core/field.h"
#include "core/word.h"

namespace warpseal::ladder::gkrypt {

inline constexpr int rounds = 14, key_bytes = 32, schedule_bytes = 16 * (rounds + 1);

// Logarithms to the base 3, their inverse, and the S-boxes.
struct Tables {
    uint8_t entries[4][256] = {};
    constexpr Tables() {
        const ciphers::aes::SBoxes boxes;
        uint8_t x = 1;
        for (int n = 0; n < 255; ++n, x = field::multiply(x, 3))
            entries[1][n] = x, entries[0][x] = static_cast<uint8_t>(n);
        for (int i = 0; i < 256; ++i)
            entries[2][i] = boxes.forward[i], entries[3][i] = boxes.inverse[i];
    }
    WARPSEAL_INLINE constexpr uint8_t log(uint32_t x) const { return entries[0][x]; }
    WARPSEAL_INLINE constexpr uint8_t power(uint32_t n) const { return entries[1][n]; }
    WARPSEAL_INLINE constexpr uint8_t box(uint32_t x) const { return entries[2][x]; }
    WARPSEAL_INLINE constexpr uint8_t inverse_box(uint32_t x) const { return entries[3][x]; }
};

// Key expansion (FIPS 197 5.2), byte by byte.
WARPSEAL_INLINE void expand(uint8_t* w, const uint8_t* key, const Tables& tables) {
    for (int i = 0; i < key_bytes; ++i) w[i] = key[i];
    uint32_t rcon = 1;
    for (int i = key_bytes; i < schedule_bytes; i += 4) {
        uint8_t t[4] = {w[i - 4], w[i - 3], w[i - 2], w[i - 1]};
        if (i % key_bytes == 0) {
            const uint8_t first = t[0];
            t[0] = static_cast<uint8_t>(tables.box(t[1]) ^ rcon), t[1] = tables.box(t[2]),
            t[2] = tables.box(t[3]), t[3] = tables.box(first);
            rcon <<= 1;
        } else if (i % key_bytes == 16) {
            for (int j = 0; j < 4; ++j) t[j] = tables.box(t[j]);
        }
        for (int j = 0; j < 4; ++j) w[i + j] = static_cast<uint8_t>(w[i + j - key_bytes] ^ t[j]);
    }
}

// Multiplication as in the article: adds logarithms. Zero has none and is handled separately.
template <int b>
WARPSEAL_INLINE uint32_t multiply(uint32_t a, const Tables& tables) {
    constexpr uint32_t log_of_b = Tables{}.log(b);
    if constexpr (b == 1) return a;
    uint32_t sum = tables.log(a) + log_of_b;
    sum -= sum >= 255 ? 255 : 0;
    return a == 0 ? 0 : tables.power(sum);
}

// `unrolled`: the loops over bytes are unrolled. The caller chooses the memory of the state, its
// successor and the key.
template <bool unrolled>
struct Cipher {
    static constexpr int count = unrolled ? 16 : 1;

    WARPSEAL_INLINE static void add_round_key(uint8_t* s, const uint8_t* key) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) s[i] ^= key[i];
    }
    WARPSEAL_INLINE static void substitute(uint8_t* s, const Tables& tables) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) s[i] = tables.box(s[i]);
    }
    WARPSEAL_INLINE static void substitute_back(uint8_t* s, const Tables& tables) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) s[i] = tables.inverse_box(s[i]);
    }
    // Byte i moves from i % 4 columns further right; the inverse moves it back.
    template <int direction>
    WARPSEAL_INLINE static void shift_rows(uint8_t* to, const uint8_t* s) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) to[i] = s[(i + direction * 4 * (i % 4)) & 15];
    }
    // The parameters are the first row of the matrix; each next row is rotated by one.
    template <int m0, int m1, int m2, int m3>
    WARPSEAL_INLINE static void mix_columns(uint8_t* to, const uint8_t* s, const Tables& tables) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) {
            const uint8_t* const column = s + (i & 12);
            to[i] = static_cast<uint8_t>(multiply<m0>(column[i & 3], tables) ^
                                         multiply<m1>(column[(i + 1) & 3], tables) ^
                                         multiply<m2>(column[(i + 2) & 3], tables) ^
                                         multiply<m3>(column[(i + 3) & 3], tables));
        }
    }

    // The result is in `state`.
    WARPSEAL_INLINE static void encrypt(uint8_t* state, uint8_t* next, const uint8_t* key,
                                        const Tables& tables) {
        add_round_key(state, key);
#pragma unroll 1
        for (int r = 1; r < rounds; ++r) {
            substitute(state, tables);
            shift_rows<1>(next, state);
            mix_columns<2, 3, 1, 1>(state, next, tables);
            add_round_key(state, key + 16 * r);
        }
        substitute(state, tables);
        shift_rows<1>(next, state);
        add_round_key(next, key + 16 * rounds);
        copy(state, next);
    }
    WARPSEAL_INLINE static void decrypt(uint8_t* state, uint8_t* next, const uint8_t* key,
                                        const Tables& tables) {
        add_round_key(state, key + 16 * rounds);
#pragma unroll 1
        for (int r = rounds - 1; r > 0; --r) {
            shift_rows<-1>(next, state);
            substitute_back(next, tables);
            add_round_key(next, key + 16 * r);
            mix_columns<14, 11, 13, 9>(state, next, tables);
        }
        shift_rows<-1>(next, state);
        substitute_back(next, tables);
        add_round_key(next, key);
        copy(state, next);
    }

    WARPSEAL_INLINE static void copy(uint8_t* to, const uint8_t* from) {
#pragma unroll count
        for (int i = 0; i < 16; ++i) to[i] = from[i];
    }
};

}  // namespace warpseal::ladder::gkrypt
