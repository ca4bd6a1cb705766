// AES-128, AES-192 and AES-256: FIPS 197, in table form and plane form.
#pragma once

#include "core/field.h"
#include "core/form.h"
#include "core/known_block.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::aes {

constexpr uint8_t substitute(uint8_t x) {  // FIPS 197 5.1.1
    const uint8_t y = field::inverse(x);
    uint8_t z = 0x63;
    for (int r = 0; r < 5; ++r) z = static_cast<uint8_t>(z ^ (y << r) ^ (y >> (8 - r)));
    return z;
}

struct SBoxes {
    uint8_t forward[256] = {};
    uint8_t inverse[256] = {};
    constexpr SBoxes() {
        for (int x = 0; x < 256; ++x) {
            forward[x] = substitute(static_cast<uint8_t>(x));
            inverse[forward[x]] = static_cast<uint8_t>(x);
        }
    }
};

// A block is four words, one column each; byte r of a word (r = 0 the least significant) is row r, so that a block in memory is its words.
// Encryption looks up SubBytes and MixColumns at once: table t holds what a byte of row t adds to its column.
struct EncryptTables {
    enum { mix0, mix1, mix2, mix3, count };
    // mix1 to mix3 are mix0 rotated left by 8, 16, 24 bits.
    static constexpr int rotation[count] = {0, 8, 16, 24};
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int x = 0; x < 256; ++x) {
            const uint8_t s = boxes.forward[x];
            const uint32_t column = field::multiply(2, s) | uint32_t{s} << 8 | uint32_t{s} << 16 | uint32_t{field::multiply(3, s)} << 24;
            for (int t = 0; t < count; ++t) entries[t][x] = rotate_left(column, rotation[t]);
        }
    }
};

// Decryption in the equivalent inverse cipher (FIPS 197 5.3.5); the last round has a table of its own, as none of the others holds
// the inverse S-box unmultiplied: it fills all four bytes with it.
struct DecryptTables {
    enum { mix0, mix1, mix2, mix3, last, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int x = 0; x < 256; ++x) {
            const uint8_t s = boxes.inverse[x];
            const uint32_t column = uint32_t{field::multiply(14, s)} | uint32_t{field::multiply(9, s)} << 8 |
                                    uint32_t{field::multiply(13, s)} << 16 | uint32_t{field::multiply(11, s)} << 24;
            for (int t = 0; t < 4; ++t) entries[t][x] = rotate_left(column, 8 * t);
            entries[last][x] = 0x01010101u * s;
        }
    }
};

// The S-box as a boolean circuit over planes: p[i] is bit i of a byte in every lane. Inversion in GF(((2^2)^2)^2) between two linear
// layers, after J. Boyar and R. Peralta, "A depth-16 circuit for the AES S-box" (IACR ePrint 2011/332), which has the same inversion both
// ways.
template <class Word>
struct Inversion {
    Word t1, t2, t3, t4, t6, t8, t9, t10, t13, t14, t15, t16, t17, t19, t20, t22, t23, t24, t25, t26, t27, d;
    Word m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61, m62, m63;

    WARPSEAL_INLINE constexpr void run() {
        const Word m1 = t13 & t6, m2 = t23 & t8, m3 = t14 ^ m1, m4 = t19 & d, m5 = m4 ^ m1, m6 = t3 & t16, m7 = t22 & t9, m8 = t26 ^ m6;
        const Word m9 = t20 & t17, m10 = m9 ^ m6, m11 = t1 & t15, m12 = t4 & t27, m13 = m12 ^ m11, m14 = t2 & t10, m15 = m14 ^ m11;
        const Word m16 = m3 ^ m2, m17 = m5 ^ t24, m18 = m8 ^ m7, m19 = m10 ^ m15, m20 = m16 ^ m13, m21 = m17 ^ m15, m22 = m18 ^ m13;
        const Word m23 = m19 ^ t25, m24 = m22 ^ m23, m25 = m22 & m20, m26 = m21 ^ m25, m27 = m20 ^ m21, m28 = m23 ^ m25, m29 = m28 & m27;
        const Word m30 = m26 & m24, m31 = m20 & m23, m32 = m27 & m31, m33 = m27 ^ m25, m34 = m21 & m22, m35 = m24 & m34, m36 = m24 ^ m25;
        const Word m37 = m21 ^ m29, m38 = m32 ^ m33, m39 = m23 ^ m30, m40 = m35 ^ m36, m41 = m38 ^ m40, m42 = m37 ^ m39, m43 = m37 ^ m38;
        const Word m44 = m39 ^ m40, m45 = m42 ^ m41;
        m46 = m44 & t6;
        m47 = m40 & t8;
        m48 = m39 & d;
        m49 = m43 & t16;
        m50 = m38 & t9;
        m51 = m37 & t17;
        m52 = m42 & t15;
        m53 = m45 & t27;
        m54 = m41 & t10;
        m55 = m44 & t13;
        m56 = m40 & t23;
        m57 = m39 & t19;
        m58 = m43 & t3;
        m59 = m38 & t22;
        m60 = m37 & t20;
        m61 = m42 & t1;
        m62 = m45 & t4;
        m63 = m41 & t2;
    }
};

template <class Word>
WARPSEAL_INLINE constexpr void substitute_planes(Word* p) {
    const Word u0 = p[7], u1 = p[6], u2 = p[5], u3 = p[4], u4 = p[3], u5 = p[2], u6 = p[1], u7 = p[0];
    Inversion<Word> v{};
    const Word t5 = u4 ^ u6, t7 = u1 ^ u2, t11 = u1 ^ u5, t12 = u2 ^ u5, t18 = u3 ^ u7, t21 = u6 ^ u7;
    v.t1 = u0 ^ u3;
    v.t2 = u0 ^ u5;
    v.t3 = u0 ^ u6;
    v.t4 = u3 ^ u5;
    v.t6 = v.t1 ^ t5;
    v.t8 = u7 ^ v.t6;
    v.t9 = u7 ^ t7;
    v.t10 = v.t6 ^ t7;
    v.t13 = v.t3 ^ v.t4;
    v.t14 = v.t6 ^ t11;
    v.t15 = t5 ^ t11;
    v.t16 = t5 ^ t12;
    v.t17 = v.t9 ^ v.t16;
    v.t19 = t7 ^ t18;
    v.t20 = v.t1 ^ v.t19;
    v.t22 = t7 ^ t21;
    v.t23 = v.t2 ^ v.t22;
    v.t24 = v.t2 ^ v.t10;
    v.t25 = v.t20 ^ v.t17;
    v.t26 = v.t3 ^ v.t16;
    v.t27 = v.t1 ^ t12;
    v.d = u7;
    v.run();
    const Word l0 = v.m61 ^ v.m62, l1 = v.m50 ^ v.m56, l2 = v.m46 ^ v.m48, l3 = v.m47 ^ v.m55, l4 = v.m54 ^ v.m58, l5 = v.m49 ^ v.m61;
    const Word l6 = v.m62 ^ l5, l7 = v.m46 ^ l3, l8 = v.m51 ^ v.m59, l9 = v.m52 ^ v.m53, l10 = v.m53 ^ l4, l11 = v.m60 ^ l2;
    const Word l12 = v.m48 ^ v.m51, l13 = v.m50 ^ l0, l14 = v.m52 ^ v.m61, l15 = v.m55 ^ l1, l16 = v.m56 ^ l0, l17 = v.m57 ^ l1;
    const Word l18 = v.m58 ^ l8, l19 = v.m63 ^ l4, l20 = l0 ^ l1, l21 = l1 ^ l7, l22 = l3 ^ l12, l23 = l18 ^ l2, l24 = l15 ^ l9;
    const Word l25 = l6 ^ l10, l26 = l7 ^ l9, l27 = l8 ^ l10, l28 = l11 ^ l14, l29 = l11 ^ l17;
    p[7] = l6 ^ l24;
    p[6] = ~(l16 ^ l26);
    p[5] = ~(l19 ^ l28);
    p[4] = l6 ^ l21;
    p[3] = l20 ^ l22;
    p[2] = l25 ^ l29;
    p[1] = ~(l13 ^ l27);
    p[0] = ~(l6 ^ l23);
}

template <class Word>
WARPSEAL_INLINE constexpr void substitute_inverse_planes(Word* p) {
    const Word u0 = p[7], u1 = p[6], u2 = p[5], u3 = p[4], u4 = p[3], u5 = p[2], u6 = p[1], u7 = p[0];
    Inversion<Word> v{};
    const Word r5 = u6 ^ u7, r13 = u1 ^ u6, r17 = ~(u2 ^ u5), r18 = ~(u5 ^ u6), r19 = ~(u2 ^ u4);
    v.t23 = u0 ^ u3;
    v.t22 = ~(u1 ^ u3);
    v.t2 = ~(u0 ^ u1);
    v.t1 = u3 ^ u4;
    v.t24 = ~(u4 ^ u7);
    v.t8 = ~(u1 ^ v.t23);
    v.t19 = v.t22 ^ r5;
    v.t9 = ~(u7 ^ v.t1);
    v.t10 = v.t2 ^ v.t24;
    v.t13 = v.t2 ^ r5;
    v.t3 = v.t1 ^ r5;
    v.t25 = ~(u2 ^ v.t1);
    v.t17 = ~(u2 ^ v.t19);
    v.t20 = v.t24 ^ r13;
    v.t4 = u4 ^ v.t8;
    v.d = u0 ^ r17;
    v.t6 = v.t22 ^ r17;
    v.t16 = r13 ^ r19;
    v.t27 = v.t1 ^ r18;
    v.t15 = v.t10 ^ v.t27;
    v.t14 = v.t10 ^ r18;
    v.t26 = v.t3 ^ v.t16;
    v.run();
    const Word p0 = v.m52 ^ v.m61, p1 = v.m58 ^ v.m59, p2 = v.m54 ^ v.m62, p3 = v.m47 ^ v.m50, p4 = v.m48 ^ v.m56, p5 = v.m46 ^ v.m51;
    const Word p6 = v.m49 ^ v.m60, p7 = p0 ^ p1, p8 = v.m50 ^ v.m53, p9 = v.m55 ^ v.m63, p10 = v.m57 ^ p4, p11 = p0 ^ p3;
    const Word p12 = v.m46 ^ v.m48, p13 = v.m49 ^ v.m51, p14 = v.m49 ^ v.m62, p15 = v.m54 ^ v.m59, p16 = v.m57 ^ v.m61, p17 = v.m58 ^ p2;
    const Word p18 = v.m63 ^ p5, p19 = p2 ^ p3, p20 = p4 ^ p6, p22 = p2 ^ p7, p23 = p7 ^ p8, p24 = p5 ^ p7, p25 = p6 ^ p10;
    const Word p26 = p9 ^ p11, p27 = p10 ^ p18, p28 = p11 ^ p25, p29 = p15 ^ p20;
    p[7] = p13 ^ p22;
    p[6] = p26 ^ p29;
    p[5] = p17 ^ p28;
    p[4] = p12 ^ p22;
    p[3] = p23 ^ p27;
    p[2] = p19 ^ p24;
    p[1] = p14 ^ p23;
    p[0] = p9 ^ p16;
}

// Law 1 and 2 keep tables out of device code, so the circuits are held to the computed S-box where they are compiled, by all 256 inputs.
constexpr bool circuits_are_the_s_boxes() {
    const SBoxes boxes;
    for (int base = 0; base < 256; base += 64) {
        uint64_t forward[8] = {}, inverse[8] = {};
        for (int i = 0; i < 8; ++i)
            for (int lane = 0; lane < 64; ++lane) forward[i] |= uint64_t{((base + lane) >> i & 1) != 0} << lane;
        for (int i = 0; i < 8; ++i) inverse[i] = forward[i];
        substitute_planes(forward);
        substitute_inverse_planes(inverse);
        for (int lane = 0; lane < 64; ++lane)
            for (int i = 0; i < 8; ++i)
                if ((forward[i] >> lane & 1) != (boxes.forward[base + lane] >> i & 1u) ||
                    (inverse[i] >> lane & 1) != (boxes.inverse[base + lane] >> i & 1u))
                    return false;
    }
    return true;
}
static_assert(circuits_are_the_s_boxes(), "a gate is wrong");

// SubWord of FIPS 197 5.2 by the circuit, for key expansion without tables: lane r of a plane is bit 8 r of a word.
struct CircuitSubWord {
    WARPSEAL_INLINE constexpr uint32_t operator()(uint32_t word) const {
        uint32_t p[8] = {};
        for (int i = 0; i < 8; ++i) p[i] = word >> i & 0x01010101u;
        substitute_planes(p);
        uint32_t result = 0;
        for (int i = 0; i < 8; ++i) result |= (p[i] & 0x01010101u) << i;
        return result;
    }
};

// The linear layers over planes: plane 8 b + i is bit i of byte b, and byte 4 c + r is row r of column c.
template <class Word>
struct PlaneLayers {
    // ShiftRows (FIPS 197 5.1.2) is a renaming: the byte that comes to byte b, and InvShiftRows (5.3.1).
    WARPSEAL_INLINE static constexpr int shifted(int b) { return (b + 4 * (b & 3)) & 15; }
    WARPSEAL_INLINE static constexpr int shifted_back(int b) { return (b - 4 * (b & 3)) & 15; }

    // Adds x times a byte to a byte: multiplication by 02, bit by bit.
    WARPSEAL_INLINE static constexpr void add_doubled(Word* to, const Word* a) {
        to[0] ^= a[7];
        for (int i = 1; i < 8; ++i) to[i] ^= a[i - 1];
        to[1] ^= a[7];
        to[3] ^= a[7];
        to[4] ^= a[7];
    }

    // MixColumns (5.1.3) of one column: 02 (a + b) + (a + b + c + d) + a.
    WARPSEAL_INLINE static constexpr void mix(Word (&column)[4][8]) {
        Word pair[4][8] = {}, all[8] = {};
        for (int r = 0; r < 4; ++r)
            for (int i = 0; i < 8; ++i) pair[r][i] = column[r][i] ^ column[(r + 1) & 3][i];
        for (int i = 0; i < 8; ++i) all[i] = pair[0][i] ^ pair[2][i];
        for (int r = 0; r < 4; ++r) {
            for (int i = 0; i < 8; ++i) column[r][i] ^= all[i];
            add_doubled(column[r], pair[r]);
        }
    }

    // InvMixColumns (5.3.3) is MixColumns after adding 04 (a + c) to each byte: 0e, 0b, 0d, 09 = (02, 03, 01, 01) * (05, 00, 04, 00).
    WARPSEAL_INLINE static constexpr void mix_inverse(Word (&column)[4][8]) {
        for (int r = 0; r < 2; ++r) {
            Word sum[8] = {}, doubled[8] = {};
            for (int i = 0; i < 8; ++i) sum[i] = column[r][i] ^ column[r + 2][i];
            add_doubled(doubled, sum);
            add_doubled(column[r], doubled);
            add_doubled(column[r + 2], doubled);
        }
        mix(column);
    }
};

template <int key_bits>
struct Aes {
    static constexpr const char* name = key_bits == 128 ? "aes-128" : key_bits == 192 ? "aes-192" : "aes-256";
    static constexpr uint32_t key_bytes = key_bits / 8;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int rounds = key_bits / 32 + 6;
    static constexpr int schedule_words = 4 * (rounds + 1);
    using EncryptTables = aes::EncryptTables;
    using DecryptTables = aes::DecryptTables;
    static constexpr KnownBlock known() {  // FIPS 197 C.1 to C.3
        constexpr const char* ciphertext = key_bits == 128   ? "69c4e0d86a7b0430d8cdb78070b4c55a"
                                           : key_bits == 192 ? "dda97ca4864cdfe06eaf70a0ec0d7191"
                                                             : "8ea2b7ca516745bfeafc49904b496089";
        return known_block("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", key_bytes,
                           "00112233445566778899aabbccddeeff", ciphertext);
    }

    struct Schedule {
        uint32_t forward[4 * (rounds + 1)];
        uint32_t inverse[4 * (rounds + 1)];  // of the equivalent inverse cipher, in the order of use
    };

    // Key expansion, FIPS 197 5.2. sub_word applies the S-box to the four bytes of a word: constant time is its duty.
    template <class SubWord>
    WARPSEAL_INLINE static void expand(uint32_t (&w)[4 * (rounds + 1)], const uint8_t* key, SubWord sub_word) {
        constexpr int nk = key_bits / 32;
        for (int i = 0; i < nk; ++i) w[i] = load_le32(key + 4 * i);
        uint32_t rcon = 1;
        for (int i = nk; i < 4 * (rounds + 1); ++i) {
            uint32_t t = w[i - 1];
            if (i % nk == 0) {
                t = sub_word(rotate_left(t, 24)) ^ rcon;
                rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
            } else if (nk > 6 && i % nk == 4) {
                t = sub_word(t);
            }
            w[i] = w[i - nk] ^ t;
        }
    }

    // SubWord (FIPS 197 5.2) through the encryption tables, whose entries hold the bare S-box in two of their bytes.
    template <class Look>
    WARPSEAL_INLINE static uint32_t substitute_word(uint32_t w, const Look& look) {
        using T = EncryptTables;
        return (look.template look<T::mix2, 0>(w) & 0xffu) | (look.template look<T::mix3, 1>(w) & 0xff00u) |
               (look.template look<T::mix0, 2>(w) & 0xff0000u) | (look.template look<T::mix1, 3>(w) & 0xff000000u);
    }

    // The schedule of the equivalent inverse cipher (FIPS 197 5.3.5): the rounds backwards, the inner ones through InvMixColumns.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words], const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) {
            const int round = i / 4;
            const uint32_t w = forward[4 * (rounds - round) + i % 4];
            inverse[i] = round == 0 || round == rounds ? w : inverse_mix_column(w);
        }
    }

    // Four bytes at once times x, without a branch.
    WARPSEAL_INLINE static constexpr uint32_t times_x(uint32_t w) { return ((w & 0x7f7f7f7fu) << 1) ^ ((w >> 7 & 0x01010101u) * 0x1b); }
    WARPSEAL_INLINE static constexpr uint32_t inverse_mix_column(uint32_t w) {
        const uint32_t w2 = times_x(w), w4 = times_x(w2), w8 = times_x(w4);
        const uint32_t w9 = w8 ^ w;
        return (w8 ^ w4 ^ w2) ^ rotate_left(w9 ^ w2, 24) ^ rotate_left(w9 ^ w4, 16) ^ rotate_left(w9, 8);
    }

    // One block in table form. look.template look<table, byte>(word): that byte of the word through that table.
    template <class Look>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k, const Look& look) {
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        encrypt_rounds<1>(s, k, look);
    }

    // What the first two rounds make of blocks that differ in byte 14 alone, as consecutive groups of 256 counters do in one lane: that
    // byte enters column 1 of round 1, and this column enters each of round 2, so that 5 look-ups are left of 32.
    struct Counting {
        uint32_t first;      // column 1 after round 1
        uint32_t second[4];  // after round 2
    };

    // s: such a block, with any byte 14.
    template <class Look>
    WARPSEAL_INLINE static Counting begin_counting(const uint32_t (&s)[4], const uint32_t* k, const Look& look) {
        using T = EncryptTables;
        uint32_t x[4], n[4];
        for (int c = 0; c < 4; ++c) x[c] = s[c] ^ k[c];
        for (int c = 0; c < 4; ++c)
            n[c] = look.template look<T::mix0, 0>(x[c]) ^ look.template look<T::mix1, 1>(x[(c + 1) & 3]) ^
                   (c == 1 ? 0 : look.template look<T::mix2, 2>(x[(c + 2) & 3])) ^ look.template look<T::mix3, 3>(x[(c + 3) & 3]) ^
                   k[4 + c];
        return {
            n[1],
            {look.template look<T::mix0, 0>(n[0]) ^ look.template look<T::mix2, 2>(n[2]) ^ look.template look<T::mix3, 3>(n[3]) ^ k[8],
             look.template look<T::mix1, 1>(n[2]) ^ look.template look<T::mix2, 2>(n[3]) ^ look.template look<T::mix3, 3>(n[0]) ^ k[9],
             look.template look<T::mix0, 0>(n[2]) ^ look.template look<T::mix1, 1>(n[3]) ^ look.template look<T::mix2, 2>(n[0]) ^ k[10],
             look.template look<T::mix0, 0>(n[3]) ^ look.template look<T::mix1, 1>(n[0]) ^ look.template look<T::mix3, 3>(n[2]) ^ k[11]}};
    }

    // The block whose last word, with its byte 14, is `last_word`.
    template <class Look>
    WARPSEAL_INLINE static void encrypt_counting(uint32_t (&s)[4], uint32_t last_word, const Counting& counting, const uint32_t* k,
                                                 const Look& look) {
        using T = EncryptTables;
        const uint32_t n = counting.first ^ look.template look<T::mix2, 2>(last_word ^ k[3]);
        s[0] = counting.second[0] ^ look.template look<T::mix1, 1>(n);
        s[1] = counting.second[1] ^ look.template look<T::mix0, 0>(n);
        s[2] = counting.second[2] ^ look.template look<T::mix3, 3>(n);
        s[3] = counting.second[3] ^ look.template look<T::mix2, 2>(n);
        encrypt_rounds<3>(s, k, look);
    }

    // Rounds `from` to the last.
    template <int from, class Look>
    WARPSEAL_INLINE static void encrypt_rounds(uint32_t (&s)[4], const uint32_t* k, const Look& look) {
        using T = EncryptTables;
        WARPSEAL_UNROLL
        for (int r = from; r < rounds; ++r) {
            uint32_t n[4];
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c)
                n[c] = look.template look<T::mix0, 0>(s[c]) ^ look.template look<T::mix1, 1>(s[(c + 1) & 3]) ^
                       look.template look<T::mix2, 2>(s[(c + 2) & 3]) ^ look.template look<T::mix3, 3>(s[(c + 3) & 3]) ^ k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
        // The last round has no MixColumns: the tables that hold the bare S-box in the wanted byte.
        uint32_t n[4];
        WARPSEAL_UNROLL
        for (int c = 0; c < 4; ++c)
            n[c] = (look.template look<T::mix2, 0>(s[c]) & 0xffu) | (look.template look<T::mix3, 1>(s[(c + 1) & 3]) & 0xff00u) |
                   (look.template look<T::mix0, 2>(s[(c + 2) & 3]) & 0xff0000u) |
                   (look.template look<T::mix1, 3>(s[(c + 3) & 3]) & 0xff000000u);
        for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * rounds + c];
    }

    template <class Look>
    WARPSEAL_INLINE static void decrypt(uint32_t (&s)[4], const uint32_t* k, const Look& look) {
        using T = DecryptTables;
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        WARPSEAL_UNROLL
        for (int r = 1; r < rounds; ++r) {
            uint32_t n[4];
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c)
                n[c] = look.template look<T::mix0, 0>(s[c]) ^ look.template look<T::mix1, 1>(s[(c + 3) & 3]) ^
                       look.template look<T::mix2, 2>(s[(c + 2) & 3]) ^ look.template look<T::mix3, 3>(s[(c + 1) & 3]) ^ k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
        uint32_t n[4];
        WARPSEAL_UNROLL
        for (int c = 0; c < 4; ++c)
            n[c] = (look.template look<T::last, 0>(s[c]) & 0xffu) | (look.template look<T::last, 1>(s[(c + 3) & 3]) & 0xff00u) |
                   (look.template look<T::last, 2>(s[(c + 2) & 3]) & 0xff0000u) |
                   (look.template look<T::last, 3>(s[(c + 1) & 3]) & 0xff000000u);
        for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * rounds + c];
    }

    // Plane form. Bit i of the expanded key meets plane i % 128 in round i / 128; key(i) gives it as a word, all ones or zero in each lane.
    static constexpr int planes = 128;
    static constexpr int key_planes = planes * (rounds + 1);

    // The key planes as bits: bit i is bit i % 32 of word i / 32.
    WARPSEAL_INLINE static void expand_planes(uint32_t (&bits)[key_planes / 32], const uint8_t* key) {
        expand(bits, key, CircuitSubWord{});
    }

    template <class Word, class Key>
    WARPSEAL_INLINE static void encrypt_planes(Word (&p)[planes], const Key& key) {
        using L = PlaneLayers<Word>;
        for (int i = 0; i < planes; ++i) p[i] ^= key(i);
        for (int r = 1; r <= rounds; ++r) {
            for (int b = 0; b < 16; ++b) substitute_planes(p + 8 * b);
            Word n[4][4][8];
            for (int b = 0; b < 16; ++b)
                for (int i = 0; i < 8; ++i) n[b / 4][b % 4][i] = p[8 * L::shifted(b) + i];
            if (r != rounds)
                for (int c = 0; c < 4; ++c) L::mix(n[c]);
            for (int i = 0; i < planes; ++i) p[i] = n[i / 32][i / 8 % 4][i % 8] ^ key(planes * r + i);
        }
    }

    template <class Word, class Key>
    WARPSEAL_INLINE static void decrypt_planes(Word (&p)[planes], const Key& key) {
        using L = PlaneLayers<Word>;
        for (int i = 0; i < planes; ++i) p[i] ^= key(planes * rounds + i);
        for (int r = rounds - 1; r >= 0; --r) {
            Word n[4][4][8];
            for (int b = 0; b < 16; ++b)
                for (int i = 0; i < 8; ++i) n[b / 4][b % 4][i] = p[8 * L::shifted_back(b) + i];
            for (int b = 0; b < 16; ++b) {
                substitute_inverse_planes(n[b / 4][b % 4]);
                for (int i = 0; i < 8; ++i) n[b / 4][b % 4][i] ^= key(planes * r + 8 * b + i);
            }
            if (r != 0)
                for (int c = 0; c < 4; ++c) L::mix_inverse(n[c]);
            for (int i = 0; i < planes; ++i) p[i] = n[i / 32][i / 8 % 4][i % 8];
        }
    }
};

using Ciphers = List<Aes<128>, Aes<192>, Aes<256>>;

}  // namespace warpseal::ciphers::aes
