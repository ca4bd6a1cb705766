// SM4 (GB/T 32907): byte-sliced and table-based representations.
#pragma once

#include "core/circuits/sm4.h"
#include "core/known_answer.h"
#include "core/sbox.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::sm4 {

// The S-box is an inverse modulo x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1, with the same affine map
// before and after it. F. Liu et al., "Analysis of the SMS4 Block Cipher" (ACISP 2007), 3.2.
inline constexpr unsigned polynomial = 0x1f5;
inline constexpr Affine map = {{0xa7, 0x4f, 0x9e, 0x3d, 0x7a, 0xf4, 0xe9, 0xd3}, 0xd3};

struct SBox {
    static constexpr Affine to_fips = field::isomorphism(polynomial);
    static constexpr Affine in = compose(to_fips, map), out = compose(map, inverse(to_fips));
    using Gates = circuits::Sm4;
};

constexpr uint8_t s_box(uint8_t x) {
    return apply(map, field::power_modulo(polynomial, apply(map, x), 254));
}
static_assert(s_box(0) == 0xd6 && s_box(0xff) == 0x48);  // GB/T 32907, 6.2
static_assert(is_s_box<SBox>(s_box));

// L and L' (GB/T 32907 6.2, 7.3) on big-endian words.
WARPSEAL_INLINE constexpr uint32_t diffuse(uint32_t w) {
    return w ^ rotate_left(w, 2) ^ rotate_left(w, 10) ^ rotate_left(w, 18) ^ rotate_left(w, 24);
}
WARPSEAL_INLINE constexpr uint32_t diffuse_key(uint32_t w) {
    return w ^ rotate_left(w, 13) ^ rotate_left(w, 23);
}

// Contribution of a byte to a word of the block, in memory order.
struct EncryptTables {
    enum { mix0, mix1, mix2, mix3, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        for (int x = 0; x < 256; ++x) {
            const uint32_t y = value<SBox>(static_cast<uint8_t>(x));
            for (int t = 0; t < count; ++t) entries[t][x] = swap_bytes(diffuse(y << (24 - 8 * t)));
        }
    }
};

struct Sm4 {
    static constexpr const char* name = "sm4-128";
    static constexpr uint32_t key_bytes = 16;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int schedule_words = 32;  // one for each round
    using EncryptTables = sm4::EncryptTables;
    static constexpr KnownAnswer known() {  // GB/T 32907 A.1
        return known_answer("0123456789abcdeffedcba9876543210", key_bytes,
                            "0123456789abcdeffedcba9876543210", "681edf34d206965e86b3e94f536e4246");
    }

    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub& sub) {
        uint32_t k[4] = {0xa3b1bac6, 0x56aa3350, 0x677d9197, 0xb27022dc};  // FK
        for (int i = 0; i < 4; ++i) k[i] ^= swap_bytes(load_le32(key + 4 * i));
        for (int r = 0; r < schedule_words; r += 4) {
            WARPSEAL_UNROLL
            for (int i = 0; i < 4; ++i) {
                uint32_t constant = 0;  // CK: its bytes are multiples of 7
                for (int j = 0; j < 4; ++j)
                    constant = constant << 8 | ((4 * (r + i) + j) * 7 & 0xff);
                k[i] ^= diffuse_key(sub.template substitute<SBox>(k[(i + 1) & 3] ^ k[(i + 2) & 3] ^
                                                                  k[(i + 3) & 3] ^ constant));
                forward[r + i] = swap_bytes(k[i]);
            }
        }
    }

    // Computes the schedule for decryption: the rounds in reverse order.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int r = 0; r < schedule_words; ++r) inverse[r] = forward[schedule_words - 1 - r];
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&s)[16], const Key& key) {
        for (int k = 0; k < 4 * schedule_words; k += 16) four_rounds(key, k, s);
        for (int i = 0; i < 8; ++i) exchange(s[i], s[i ^ 12]);
    }
    // Two states in turn: each has work while the other waits for its S-boxes.
    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&a)[16], V (&b)[16], const Key& key) {
        for (int k = 0; k < 4 * schedule_words; k += 16) four_rounds(key, k, a, b);
        for (int i = 0; i < 8; ++i) {
            exchange(a[i], a[i ^ 12]);
            exchange(b[i], b[i ^ 12]);
        }
    }

    // Encrypts one block by tables. tables.lookup<table, byte>(word) is the entry of `table` for
    // that byte of the word.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        using T = EncryptTables;
        WARPSEAL_UNROLL
        for (int r = 0; r < schedule_words; r += 4) {
            WARPSEAL_UNROLL
            for (int i = 0; i < 4; ++i) {
                const uint32_t t = s[(i + 1) & 3] ^ s[(i + 2) & 3] ^ s[(i + 3) & 3] ^ k[r + i];
                s[i] ^=
                    tables.template lookup<T::mix0, 0>(t) ^ tables.template lookup<T::mix1, 1>(t) ^
                    tables.template lookup<T::mix2, 2>(t) ^ tables.template lookup<T::mix3, 3>(t);
            }
        }
        exchange(s[0], s[3]);
        exchange(s[1], s[2]);
    }

private:
    template <class T>
    WARPSEAL_INLINE static void exchange(T& a, T& b) {
        const T c = a;
        a = b;
        b = c;
    }

    template <class Key, class... State>
    WARPSEAL_INLINE static void four_rounds(const Key& key, int k, State&... s) {
        (round_bytes(s, s + 4, s + 8, s + 12, key, k), ...);
        (round_bytes(s + 4, s + 8, s + 12, s, key, k + 4), ...);
        (round_bytes(s + 8, s + 12, s, s + 4, key, k + 8), ...);
        (round_bytes(s + 12, s, s + 4, s + 8, key, k + 12), ...);
    }

    // One round, with L in bytes. Three of its five terms are rotations by 2 and whole bytes: bytes
    // are summed first, then the sums are rotated.
    template <class V, class Key>
    WARPSEAL_INLINE static void round_bytes(V* a, const V* b, const V* c, const V* d,
                                            const Key& key, int k) {
        V y[4], sum[4];
        for (int i = 0; i < 4; ++i) y[i] = substitute<SBox>(add3(b[i], c[i], d[i] ^ key(k + i)));
        for (int i = 0; i < 4; ++i) sum[i] = add3(y[i], y[(i + 1) & 3], y[(i + 2) & 3]);
        for (int i = 0; i < 4; ++i)
            a[i] = add3(add3(a[i], y[i], y[(i + 3) & 3]), shift_left<2>(sum[i]),
                        shift_right<6>(sum[(i + 1) & 3]));
    }
};

using Ciphers = List<Sm4>;

}  // namespace warpseal::ciphers::sm4
