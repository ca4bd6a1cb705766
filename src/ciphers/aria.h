// ARIA-128, ARIA-192 and ARIA-256 (RFC 5794): byte-sliced and table-based representations.
#pragma once

#include "core/circuits/aes.h"
#include "core/circuits/aria.h"
#include "core/known_answer.h"
#include "core/sbox.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::aria {

// RFC 5794 2.4.2. SB1 is the S-box of FIPS 197. SB2 is an affine map of x^247, which is the inverse
// to the power of 8. SB3 and SB4 are their inverses. The affine map of SB2 is from D. Kwon et al.,
// "New Block Cipher: ARIA" (ICISC 2003), 2.1.
inline constexpr Affine affine_2 = {{0x7a, 0xbc, 0xeb, 0xb9, 0x34, 0x81, 0xba, 0xcb}, 0xe2};

struct SB1 {
    static constexpr Affine in = identity, out = sub_bytes;
    using Gates = circuits::Aes;
};
struct SB2 {
    static constexpr Affine in = identity, out = compose(affine_2, field::frobenius(3));
    using Gates = circuits::AriaSB2;
};
struct SB3 {
    static constexpr Affine in = inverse(SB1::out), out = identity;
    using Gates = circuits::AesInverse;
};
struct SB4 {
    static constexpr Affine in = inverse(SB2::out), out = identity;
    using Gates = circuits::AriaSB4;
};

// S-boxes as defined in RFC 5794, computed from the powers of the generator 3: x = 3^n takes every
// value except 0.
struct SBoxes {
    uint8_t sb1[256] = {}, sb2[256] = {}, sb3[256] = {}, sb4[256] = {};
    constexpr SBoxes() {
        set(0, 0, 0);
        const uint8_t inverse_step = field::power_modulo(0x11b, 3, 254),
                      step_2 = field::power_modulo(0x11b, 3, 247);
        uint8_t x = 1, inverse = 1, power_247 = 1;
        for (int n = 0; n < 255; ++n) {
            set(x, inverse, power_247);
            x = field::multiply(x, 3);
            inverse = field::multiply(inverse, inverse_step);
            power_247 = field::multiply(power_247, step_2);
        }
    }
    constexpr void set(uint8_t x, uint8_t inverse, uint8_t power_247) {
        uint8_t y = 0x63;  // FIPS 197 5.1.1
        for (int r = 0; r < 5; ++r)
            y = static_cast<uint8_t>(y ^ (inverse << r) ^ (inverse >> (8 - r)));
        sb1[x] = y;
        sb2[x] = apply(affine_2, power_247);
        sb3[sb1[x]] = x;
        sb4[sb2[x]] = x;
    }
};
inline constexpr SBoxes s_boxes;
static_assert(is_s_box<SB1>([](uint8_t x) { return s_boxes.sb1[x]; }));
static_assert(is_s_box<SB2>([](uint8_t x) { return s_boxes.sb2[x]; }));
static_assert(is_s_box<SB3>([](uint8_t x) { return s_boxes.sb3[x]; }));
static_assert(is_s_box<SB4>([](uint8_t x) { return s_boxes.sb4[x]; }));

// Diffusion layer A (RFC 5794 2.4.3). Bit i of row j is set if byte j of the result is a sum that
// includes byte i of the block.
inline constexpr uint16_t diffusion[16] = {0x6358, 0x93a4, 0x9c52, 0x6ca1, 0xc925, 0xc61a,
                                           0x3685, 0x394a, 0xa493, 0x5863, 0xa16c, 0x529c,
                                           0x1ac6, 0x25c9, 0x4a39, 0x8536};

// A in words. First each byte of a word becomes the sum of the word's other bytes (`sums`; the
// tables already include this step). Then each word becomes the sum of three words, bytes move
// within words, and each word again becomes the sum of three.
WARPSEAL_INLINE constexpr uint32_t sums(uint32_t w) {
    return rotate_left(w, 8) ^ rotate_left(w, 16) ^ rotate_left(w, 24);
}

WARPSEAL_INLINE constexpr void mix_words(uint32_t (&w)[4]) {
    const uint32_t a = w[0], b = w[1], c = w[2], d = w[3];
    w[0] = a ^ b ^ c;
    w[1] = a ^ c ^ d;
    w[2] = a ^ b ^ d;
    w[3] = b ^ c ^ d;
}

// Returns w with the bytes of each half swapped.
WARPSEAL_INLINE constexpr uint32_t swap_in_halves(uint32_t w) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return __byte_perm(w, 0, 0x2301);
#endif
    return (w & 0x00ff00ffu) << 8 | (w >> 8 & 0x00ff00ffu);
}

// Applies the rest of A to words after `sums`. halves_swapped is true if the halves of each word
// are swapped, as they are with table entries made for the byte two positions further on.
template <bool halves_swapped>
WARPSEAL_INLINE constexpr void diffuse_sums(uint32_t (&w)[4]) {
    mix_words(w);
    if constexpr (halves_swapped) {
        w[0] = rotate_left(w[0], 16);
        w[1] = swap_bytes(w[1]);
        w[3] = swap_in_halves(w[3]);
    } else {
        w[1] = swap_in_halves(w[1]);
        w[2] = rotate_left(w[2], 16);
        w[3] = swap_bytes(w[3]);
    }
    mix_words(w);
}

WARPSEAL_INLINE constexpr void diffuse(uint32_t (&w)[4]) {
    for (int i = 0; i < 4; ++i) w[i] = sums(w[i]);
    diffuse_sums<false>(w);
}

// A in bytes. Arrange byte i of word w in a square, at row i ^ (3, 0, 1, 2)[w] and column i ^ (3,
// 2, 0, 1)[w]. Each byte of the result is the sum of a row and of the three other bytes of a
// column. The results of a column thus depend on this column and the sums of the rows. They go to
// byte i ^ (3, 1, 2, 0)[w].
WARPSEAL_INLINE constexpr int in_row(int row, int w) { return 4 * w + (row ^ (w + 3) % 4); }
WARPSEAL_INLINE constexpr int in_column(int column, int w) {
    return 4 * w + (column ^ (w < 2 ? 3 - w : w - 2));
}
WARPSEAL_INLINE constexpr int row_at(int column, int w) {
    return column ^ (w == 0 ? 0 : w == 1 ? 2 : w == 2 ? 1 : 3);
}
WARPSEAL_INLINE constexpr int result_at(int column, int w) {
    return in_column(column, w) ^ (w == 0 ? 3 : w == 3 ? 0 : w);
}

// Diffuses bytes. add(i, a, b) returns a + b plus the value to add to byte i of the result.
template <class V, class Add>
WARPSEAL_INLINE constexpr void diffuse_bytes(V (&s)[16], const Add& add) {
    V row[4], result[16];
    WARPSEAL_UNROLL
    for (int r = 0; r < 4; ++r)
        row[r] = add3(s[in_row(r, 0)], s[in_row(r, 1)], s[in_row(r, 2)]) ^ s[in_row(r, 3)];
    WARPSEAL_UNROLL
    for (int c = 0; c < 4; ++c) {
        WARPSEAL_UNROLL
        for (int w = 0; w < 4; ++w) {
            const V others = add3(s[in_column(c, (w + 1) & 3)], s[in_column(c, (w + 2) & 3)],
                                  s[in_column(c, (w + 3) & 3)]);
            result[result_at(c, w)] = add(result_at(c, w), others, row[row_at(c, w)]);
        }
    }
    WARPSEAL_UNROLL
    for (int i = 0; i < 16; ++i) s[i] = result[i];
}

// Set of the bytes in a sum, for the check below.
struct Members {
    unsigned bits;
    friend constexpr Members operator^(Members a, Members b) { return {a.bits ^ b.bits}; }
    friend constexpr Members add3(Members a, Members b, Members c) { return a ^ b ^ c; }
};
constexpr bool diffusions_agree() {
    Members sum[16] = {};
    for (int i = 0; i < 16; ++i) sum[i] = {1u << i};
    diffuse_bytes(sum, [](int, Members a, Members b) { return a ^ b; });
    for (int i = 0; i < 16; ++i) {
        uint32_t w[4] = {}, swapped[4] = {};
        w[i / 4] = 1u << (8 * (i % 4));
        for (int j = 0; j < 4; ++j) swapped[j] = rotate_left(sums(w[j]), 16);
        diffuse(w);
        diffuse_sums<true>(swapped);
        for (int j = 0; j < 16; ++j) {
            const uint32_t wanted = diffusion[j] >> i & 1;
            if ((w[j / 4] >> (8 * (j % 4)) & 0xff) != wanted || w[j / 4] != swapped[j / 4] ||
                (sum[j].bits >> i & 1) != wanted)
                return false;
        }
    }
    return true;
}
static_assert(diffusions_agree());

// An entry is the contribution of a byte to the sums of its word. The position of the byte is that
// of its S-box in odd rounds. In even rounds the S-boxes are two positions further on (SB3, SB4,
// SB1, SB2), and words come out with their halves swapped.
struct EncryptTables {
    enum { sb1, sb2, sb3, sb4, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        for (int x = 0; x < 256; ++x) {
            entries[sb1][x] = sums(uint32_t{s_boxes.sb1[x]});
            entries[sb2][x] = sums(uint32_t{s_boxes.sb2[x]} << 8);
            entries[sb3][x] = sums(uint32_t{s_boxes.sb3[x]} << 16);
            entries[sb4][x] = sums(uint32_t{s_boxes.sb4[x]} << 24);
        }
    }
};

template <int key_bits>
struct Aria {
    static constexpr const char* name = key_bits == 128   ? "aria-128"
                                        : key_bits == 192 ? "aria-192"
                                                          : "aria-256";
    static constexpr uint32_t key_bytes = key_bits / 8;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int rounds = key_bits / 32 + 8;
    static constexpr int schedule_words = 4 * (rounds + 1);
    // Offset and size in the schedule, in bytes.
    static constexpr int last_key = 16 * rounds, last_key_bytes = 16;
    using EncryptTables = aria::EncryptTables;
    static constexpr KnownAnswer known() {  // RFC 5794 A.1 to A.3
        constexpr const char* ciphertext = key_bits == 128   ? "d718fbd6ab644c739da95f3be6451778"
                                           : key_bits == 192 ? "26449c1805dbe7aa25a468ce263a9e79"
                                                             : "f92bd7c79fb72e2f2b8f80c1972d24fc";
        return known_answer("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                            key_bytes, "00112233445566778899aabbccddeeff", ciphertext);
    }

    // Key expansion, RFC 5794 2.2: four 128-bit values W from the key by three rounds. A round key
    // is the XOR of two of them, one rotated.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub& sub) {
        uint32_t w[4][4] = {}, right[4] = {};
        for (int i = 0; i < 4; ++i) w[0][i] = load_le32(key + 4 * i);
        for (int i = 4; i < key_bits / 32; ++i) right[i - 4] = load_le32(key + 4 * i);
        WARPSEAL_UNROLL
        for (int i = 1; i < 4; ++i) {
            for (int j = 0; j < 4; ++j)
                w[i][j] = w[i - 1][j] ^ constant((i + key_bits / 64) % 3, j);
            if (i == 2)
                substitute_words<SB3, SB4, SB1, SB2>(w[i], sub);
            else
                substitute_words<SB1, SB2, SB3, SB4>(w[i], sub);
            diffuse(w[i]);
            for (int j = 0; j < 4; ++j) w[i][j] ^= i == 1 ? right[j] : w[i - 2][j];
        }
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) w[i][j] = swap_bytes(w[i][j]);
        WARPSEAL_UNROLL
        for (int r = 0; r <= rounds; ++r) {
            // Rotation to the right, in bits.
            const int n = r < 4    ? 19
                          : r < 8  ? 31
                          : r < 12 ? 128 - 61
                          : r < 16 ? 128 - 31
                                   : 128 - 19;
            WARPSEAL_UNROLL
            for (int j = 0; j < 4; ++j) {
                const uint32_t low = w[(r + 1) % 4][(j - n / 32) & 3],
                               high = w[(r + 1) % 4][(j - n / 32 - 1) & 3];
                forward[4 * r + j] =
                    swap_bytes(w[r % 4][j] ^ low >> n % 32 ^ high << (32 - n % 32));
            }
        }
    }

    // Computes the schedule for decryption, RFC 5794 2.2: the rounds in reverse order, with A
    // applied to all but the first and last.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) inverse[i] = forward[4 * (rounds - i / 4) + i % 4];
        for (int r = 1; r < rounds; ++r) {
            uint32_t w[4];
            for (int j = 0; j < 4; ++j) w[j] = inverse[4 * r + j];
            diffuse(w);
            for (int j = 0; j < 4; ++j) inverse[4 * r + j] = w[j];
        }
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&s)[16], const Key& key) {
        add(s, key, 0);
        substitute_odd(s);
        diffuse_and_add(s, key, 16);
        rounds_from_second(s, key);
        add(s, key, last_key);
    }

    // Counter mode for blocks that differ only in their last two bytes.
    // begin_counting_bytes precomputes round 1 for the 14 bytes that every block of the run shares.
    // It ignores bytes 14 and 15 of s. encrypt_counting_bytes reads byte i of its result as
    // begun(i).
    // The last round key is not added: the caller adds it to the first last_key_bytes bytes of each
    // block, after conversion from the byte-sliced representation.
    template <class V, class Key>
    WARPSEAL_INLINE static void begin_counting_bytes(V (&s)[16], const Key& key) {
        add(s, key, 0);
        substitute_odd(s);
        s[14] = s[15] = V::zero();
        diffuse_and_add(s, key, 16);
    }
    template <class V, class Key, class Begun>
    WARPSEAL_INLINE static void encrypt_counting_bytes(V (&s)[16], const Key& key,
                                                       const Begun& begun) {
        first_round_counting(s, key, begun);
        rounds_from_second(s, key);
    }

    // Encrypts one block by tables. tables.lookup<table, byte>(word) is the entry of `table` for
    // that byte of the word.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        encrypt_rounds<1>(s, k, tables);
    }

    // Table-based counter mode for blocks that differ only in their last two bytes. The state after
    // round 1 is the XOR of one contribution for each byte. So is the output of the S-boxes of
    // round 2, except for two bytes that depend on both. Four words are the state after round 2
    // without these two bytes. The fifth is word 1 before round 2, which contains them.
    static constexpr int counting_words = 5;

    // Contribution of all bytes except byte 14, which is ignored.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_last(uint32_t (&contribution)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        uint32_t x[4] = {}, y[4] = {};
        lookup<1, 0xbfff>(x, s, k, tables);
        finish_round<1>(x, k);
        lookup<2, bytes_with(0) | bytes_with(2)>(y, x, nullptr, tables);
        finish_round<2>(y, k);
        for (int c = 0; c < 4; ++c) contribution[c] = y[c];
        contribution[4] = x[1];
    }
    // Contribution of byte 14, the next counter byte.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_next(uint32_t (&contribution)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        uint32_t x[4] = {}, own[4] = {}, y[4] = {};
        lookup<1, 0xbfff>(x, s, k, tables);
        lookup<1, 0x4000>(own, s, k, tables);
        for (int c = 0; c < 4; ++c) x[c] ^= own[c];
        finish_round<1>(x, k);
        diffuse_sums<false>(own);
        lookup<2, bytes_with(1)>(y, x, nullptr, tables);
        diffuse_sums<true>(y);
        for (int c = 0; c < 4; ++c) contribution[c] = y[c];
        contribution[4] = own[1];
    }
    // Runs the remaining rounds on the XOR of the contributions. The block is in the first four
    // words.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt_counting(uint32_t (&sum)[counting_words], const uint32_t* k,
                                                 const TableLookup& tables) {
        static_assert(bytes_with(3) == 0x30);
        const uint32_t x[4] = {0, sum[4]};
        uint32_t s[4] = {};
        lookup<2, bytes_with(3)>(s, x, nullptr, tables);
        diffuse_sums<true>(s);
        for (int c = 0; c < 4; ++c) s[c] ^= sum[c];
        encrypt_rounds<3>(s, k, tables);
        for (int c = 0; c < 4; ++c) sum[c] = s[c];
    }

private:
    // Returns the set of bytes that after round 1 depend on neither byte 14 nor byte 15 (0), on
    // byte 14 (1), on byte 15 (2), or on both (3).
    WARPSEAL_INLINE static constexpr unsigned bytes_with(int kind) {
        unsigned bytes = 0;
        for (int i = 0; i < 16; ++i)
            bytes |= static_cast<unsigned>(diffusion[i] >> 14 == kind) << i;
        return bytes;
    }
    // XORs the entries of some bytes of s (XOR k, if not null) into the sums of a round.
    template <int round, unsigned bytes, int i = 0, class TableLookup>
    WARPSEAL_INLINE static void lookup(uint32_t (&sum)[4], const uint32_t (&s)[4],
                                       const uint32_t* k, const TableLookup& tables) {
        if constexpr (i < 16) {
            constexpr int table = (i + (round % 2 != 0 ? 0 : 2)) % 4;
            if constexpr (bytes >> i & 1)
                sum[i / 4] ^= tables.template lookup<table, i % 4>(
                    k == nullptr ? s[i / 4] : s[i / 4] ^ k[i / 4]);
            lookup<round, bytes, i + 1>(sum, s, k, tables);
        }
    }
    template <int round>
    WARPSEAL_INLINE static void finish_round(uint32_t (&s)[4], const uint32_t* k) {
        diffuse_sums<round % 2 == 0>(s);
        for (int c = 0; c < 4; ++c) s[c] ^= k[4 * round + c];
    }
    template <int from, class TableLookup>
    WARPSEAL_INLINE static void encrypt_rounds(uint32_t (&s)[4], const uint32_t* k,
                                               const TableLookup& tables) {
        using T = EncryptTables;
        WARPSEAL_UNROLL
        for (int r = from; r < rounds; ++r) {
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c)
                s[c] = r % 2 != 0 ? tables.template lookup<T::sb1, 0>(s[c]) ^
                                        tables.template lookup<T::sb2, 1>(s[c]) ^
                                        tables.template lookup<T::sb3, 2>(s[c]) ^
                                        tables.template lookup<T::sb4, 3>(s[c])
                                  : tables.template lookup<T::sb3, 0>(s[c]) ^
                                        tables.template lookup<T::sb4, 1>(s[c]) ^
                                        tables.template lookup<T::sb1, 2>(s[c]) ^
                                        tables.template lookup<T::sb2, 3>(s[c]);
            if (r % 2 != 0)
                diffuse_sums<false>(s);
            else
                diffuse_sums<true>(s);
            for (int c = 0; c < 4; ++c) s[c] ^= k[4 * r + c];
        }
        // The last round has no diffusion. An entry holds the bare S-box in three of its bytes,
        // including the required one.
        WARPSEAL_UNROLL
        for (int c = 0; c < 4; ++c)
            s[c] = ((tables.template lookup<T::sb3, 0>(s[c]) & 0xffu) |
                    (tables.template lookup<T::sb4, 1>(s[c]) & 0xff00u) |
                    (tables.template lookup<T::sb1, 2>(s[c]) & 0xff0000u) |
                    (tables.template lookup<T::sb2, 3>(s[c]) & 0xff000000u)) ^
                   k[4 * rounds + c];
    }

    // RFC 5794 2.2: C1, C2 and C3 are digits of 1 / pi.
    WARPSEAL_INLINE static uint32_t constant(int i, int word) {
        const uint32_t c[3][4] = {{0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0},
                                  {0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0},
                                  {0xdb92371d, 0x2126e970, 0x03249775, 0x04e8c90e}};
        return swap_bytes(c[i][word]);
    }

    // Substitution layer for key expansion. Bytes that share an S-box are gathered in one word.
    template <class S0, class S1, class S2, class S3, class Sub>
    WARPSEAL_INLINE static void substitute_words(uint32_t (&w)[4], const Sub& sub) {
        transpose(w);
        w[0] = sub.template substitute<S0>(w[0]);
        w[1] = sub.template substitute<S1>(w[1]);
        w[2] = sub.template substitute<S2>(w[2]);
        w[3] = sub.template substitute<S3>(w[3]);
        transpose(w);
    }
    WARPSEAL_INLINE static void transpose(uint32_t (&w)[4]) {
        uint32_t t[4] = {};
        WARPSEAL_UNROLL
        for (int i = 0; i < 16; ++i)
            t[i % 4] |= (w[i / 4] >> (8 * (i % 4)) & 0xff) << (8 * (i / 4));
        for (int i = 0; i < 4; ++i) w[i] = t[i];
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void rounds_from_second(V (&s)[16], const Key& key) {
        for (int k = 32; k != 16 * rounds; k += 32) {
            substitute_even(s);
            diffuse_and_add(s, key, k);
            substitute_odd(s);
            diffuse_and_add(s, key, k + 16);
        }
        substitute_even(s);
    }

    template <class V, class Key, class Begun>
    WARPSEAL_INLINE static void first_round_counting(V (&s)[16], const Key& key,
                                                     const Begun& begun) {
        const V a = substitute<SB3>(s[14] ^ key(14)), b = substitute<SB4>(s[15] ^ key(15)),
                both = a ^ b;
        enter<0>(s, begun, a, b, both);
    }
    template <int i, class V, class Begun>
    WARPSEAL_INLINE static void enter(V (&s)[16], const Begun& begun, const V& a, const V& b,
                                      const V& both) {
        if constexpr (i < 16) {
            constexpr int in_sum = diffusion[i] >> 14;
            s[i] = in_sum == 0 ? begun(i) : begun(i) ^ (in_sum == 1 ? a : in_sum == 2 ? b : both);
            enter<i + 1>(s, begun, a, b, both);
        }
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void add(V (&s)[16], const Key& key, int k) {
        for (int i = 0; i < 16; ++i) s[i] ^= key(k + i);
    }
    template <class V, class Key>
    WARPSEAL_INLINE static void diffuse_and_add(V (&s)[16], const Key& key, int k) {
        diffuse_bytes(
            s, [&](int i, const V& a, const V& b)
                   __attribute__((always_inline)) { return add3(a, b, key(k + i)); });
    }
    template <class V>
    WARPSEAL_INLINE static void substitute_odd(V (&s)[16]) {
        substitute_columns<SB1, SB2, SB3, SB4>(s);
    }
    template <class V>
    WARPSEAL_INLINE static void substitute_even(V (&s)[16]) {
        substitute_columns<SB3, SB4, SB1, SB2>(s);
    }
    // The order in which diffuse_bytes uses the results: a column has one byte of each kind.
    template <class S0, class S1, class S2, class S3, class V>
    WARPSEAL_INLINE static void substitute_columns(V (&s)[16]) {
        substitute_column<S3, S2, S0, S1>(s, 0);
        substitute_column<S2, S3, S1, S0>(s, 1);
        substitute_column<S1, S0, S2, S3>(s, 2);
        substitute_column<S0, S1, S3, S2>(s, 3);
    }
    template <class W0, class W1, class W2, class W3, class V>
    WARPSEAL_INLINE static void substitute_column(V (&s)[16], int c) {
        s[in_column(c, 0)] = substitute<W0>(s[in_column(c, 0)]);
        s[in_column(c, 1)] = substitute<W1>(s[in_column(c, 1)]);
        s[in_column(c, 2)] = substitute<W2>(s[in_column(c, 2)]);
        s[in_column(c, 3)] = substitute<W3>(s[in_column(c, 3)]);
    }
};

using Ciphers = List<Aria<128>, Aria<192>, Aria<256>>;

}  // namespace warpseal::ciphers::aria
