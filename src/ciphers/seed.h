// SEED (RFC 4269): byte-sliced and table-based representations.
#pragma once

#include "core/circuits/seed.h"
#include "core/known_answer.h"
#include "core/sbox.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::seed {

// S1 and S2 (RFC 4269 2.2) are affine maps of x^247 and x^251 modulo x^8 + x^6 + x^5 + x + 1. These
// powers are the inverse to the power of 8 and of 4: TTAS.KO-12.0004/R1.
inline constexpr unsigned polynomial = 0x163;
inline constexpr Affine map_1 = {{0x14, 0x88, 0x21, 0x45, 0x42, 0x85, 0xfe, 0x8a}, 0xa9};
inline constexpr Affine map_2 = {{0x14, 0x42, 0x88, 0x8a, 0x21, 0xfe, 0x85, 0x45}, 0x38};
inline constexpr Affine to_fips = field::isomorphism(polynomial), from_fips = inverse(to_fips);

struct S1 {
    static constexpr Affine in = to_fips,
                            out = compose(map_1, compose(from_fips, field::frobenius(3)));
    using Gates = circuits::Seed1;
};
struct S2 {
    static constexpr Affine in = to_fips,
                            out = compose(map_2, compose(from_fips, field::frobenius(2)));
    using Gates = circuits::Seed2;
};
static_assert(is_s_box<S1>([](uint8_t x) {
    return apply(map_1, field::power_modulo(polynomial, x, 247));
}));
static_assert(is_s_box<S2>([](uint8_t x) {
    return apply(map_2, field::power_modulo(polynomial, x, 251));
}));

// G (RFC 4269 2.2): byte j of the result is the XOR of all S-box outputs y[i], each without the two
// bits of number i + j.
WARPSEAL_INLINE constexpr uint32_t kept(int i) { return 0xffu ^ 3u << 2 * (i & 3); }

// SS0 to SS3: contribution of byte i of the argument to G.
struct EncryptTables {
    enum { ss0, ss1, ss2, ss3, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        for (int x = 0; x < 256; ++x) {
            const uint32_t y[2] = {value<S1>(static_cast<uint8_t>(x)),
                                   value<S2>(static_cast<uint8_t>(x))};
            for (int i = 0; i < count; ++i) {
                entries[i][x] = 0;
                for (int j = 0; j < 4; ++j) entries[i][x] |= (y[i % 2] & kept(i + j)) << (8 * j);
            }
        }
    }
};

struct Seed {
    static constexpr const char* name = "seed-128";
    static constexpr uint32_t key_bytes = 16;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int rounds = 16;
    static constexpr int schedule_words = 2 * rounds;  // as numbers: low byte first
    using EncryptTables = seed::EncryptTables;
    static constexpr KnownAnswer known() {  // RFC 4269 B.3
        return known_answer("4706480851e61be85d74bfb3fd956185", key_bytes,
                            "83a2f8a288641fb9a4e9a5cc2f131c7d", "ee54d13ebcae706d226bc3142cd40d4a");
    }

    // RFC 4269 2.3.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub& sub) {
        uint32_t k[4];
        for (int i = 0; i < 4; ++i) k[i] = swap_bytes(load_le32(key + 4 * i));
        for (int r = 0; r < rounds; r += 2) {
            // KC, from the golden ratio.
            const uint32_t c = rotate_left(0x9e3779b9, r), next = rotate_left(0x9e3779b9, r + 1);
            forward[2 * r] = g(k[0] + k[2] - c, sub);
            forward[2 * r + 1] = g(k[1] - k[3] + c, sub);
            const uint32_t a = k[0], d = k[2];
            k[0] = k[0] >> 8 | k[1] << 24;
            k[1] = k[1] >> 8 | a << 24;
            forward[2 * r + 2] = g(k[0] + k[2] - next, sub);
            forward[2 * r + 3] = g(k[1] - k[3] + next, sub);
            k[2] = k[2] << 8 | k[3] >> 24;
            k[3] = k[3] << 8 | d >> 24;
        }
    }

    // Computes the schedule for decryption: the rounds in reverse order.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) inverse[i] = forward[(schedule_words - 1 - i) ^ 1];
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&s)[16], const Key& key) {
        for (int k = 0; k < 8 * rounds; k += 16) {
            round_bytes(s, s + 8, key, k);
            round_bytes(s + 8, s, key, k + 8);
        }
        for (int i = 0; i < 8; ++i) exchange(s[i], s[i + 8]);
    }

    // Encrypts one block by tables. tables.lookup<table, byte>(word) is the entry of `table` for
    // that byte of the word.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        for (int i = 0; i < 4; ++i) s[i] = swap_bytes(s[i]);
        WARPSEAL_UNROLL
        for (int r = 0; r < rounds; r += 2) {
            round_by_tables(s, s + 2, k + 2 * r, tables);
            round_by_tables(s + 2, s, k + 2 * r + 2, tables);
        }
        exchange(s[0], s[2]);
        exchange(s[1], s[3]);
        for (int i = 0; i < 4; ++i) s[i] = swap_bytes(s[i]);
    }

private:
    template <class T>
    WARPSEAL_INLINE static void exchange(T& a, T& b) {
        const T c = a;
        a = b;
        b = c;
    }

    // G for key expansion. Byte j of y rotated by d bytes is y[j + d], which G adds to byte j
    // without the bits of number 2 j + d.
    template <class Sub>
    WARPSEAL_INLINE static uint32_t g(uint32_t x, const Sub& sub) {
        const uint32_t y = (sub.template substitute<S1>(x) & 0x00ff00ffu) |
                           (sub.template substitute<S2>(x) & 0xff00ff00u);
        uint32_t z = 0;
        for (int d = 0; d < 4; ++d) {
            const uint32_t mask = kept(d) | kept(2 + d) << 8;
            z ^= rotate_left(y, (32 - 8 * d) % 32) & (mask | mask << 16);
        }
        return z;
    }

    template <class TableLookup>
    WARPSEAL_INLINE static uint32_t g_by_tables(uint32_t x, const TableLookup& tables) {
        using T = EncryptTables;
        return tables.template lookup<T::ss0, 0>(x) ^ tables.template lookup<T::ss1, 1>(x) ^
               tables.template lookup<T::ss2, 2>(x) ^ tables.template lookup<T::ss3, 3>(x);
    }
    // F, RFC 4269 2.1.
    template <class TableLookup>
    WARPSEAL_INLINE static void round_by_tables(uint32_t* to, const uint32_t* from,
                                                const uint32_t* k, const TableLookup& tables) {
        uint32_t c = from[0] ^ k[0], d = from[1] ^ k[1] ^ c;
        d = g_by_tables(d, tables);
        c = g_by_tables(c + d, tables);
        d = g_by_tables(d + c, tables);
        to[0] ^= c + d;
        to[1] ^= d;
    }

    // G on a word of four bytes, low byte first.
    template <class V>
    WARPSEAL_INLINE static void g_bytes(V (&x)[4]) {
        const V low = shift_right<6>(~V::zero());
        const V kept[4] = {~low, ~shift_left<2>(low), ~shift_left<4>(low), ~shift_left<6>(low)};
        const V y[4] = {substitute<S1>(x[0]), substitute<S2>(x[1]), substitute<S1>(x[2]),
                        substitute<S2>(x[3])};
        WARPSEAL_UNROLL
        for (int j = 0; j < 4; ++j)
            x[j] = (y[0] & kept[j]) ^ (y[1] & kept[(1 + j) & 3]) ^ (y[2] & kept[(2 + j) & 3]) ^
                   (y[3] & kept[(3 + j) & 3]);
    }
    // Adds modulo 2^32. A byte has a carry out if at least two of a, b and the complement of the
    // sum have their top bit set.
    template <class V>
    WARPSEAL_INLINE static void add(V (&a)[4], const V (&b)[4]) {
        V carry = V::zero();
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i) {
            const V sum = a[i] + b[i] + carry;
            carry = shift_right<7>((a[i] & b[i]) | ((a[i] | b[i]) & ~sum));
            a[i] = sum;
        }
    }
    template <class V, class Key>
    WARPSEAL_INLINE static void round_bytes(V* to, const V* from, const Key& key, int k) {
        V c[4], d[4];
        for (int i = 0; i < 4; ++i) {
            c[i] = from[3 - i] ^ key(k + i);
            d[i] = add3(from[7 - i], key(k + 4 + i), c[i]);
        }
        g_bytes(d);
        add(c, d);
        g_bytes(c);
        add(d, c);
        g_bytes(d);
        add(c, d);
        for (int i = 0; i < 4; ++i) {
            to[3 - i] ^= c[i];
            to[7 - i] ^= d[i];
        }
    }
};

using Ciphers = List<Seed>;

}  // namespace warpseal::ciphers::seed
