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
    static constexpr bool rotations_of_first = true;
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
        using T = EncryptTables;
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
#pragma unroll
        for (int r = 1; r < rounds; ++r) {
            uint32_t n[4];
#pragma unroll
            for (int c = 0; c < 4; ++c)
                n[c] = look.template look<T::mix0, 0>(s[c]) ^ look.template look<T::mix1, 1>(s[(c + 1) & 3]) ^
                       look.template look<T::mix2, 2>(s[(c + 2) & 3]) ^ look.template look<T::mix3, 3>(s[(c + 3) & 3]) ^ k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
        // The last round has no MixColumns: the tables that hold the bare S-box in the wanted byte.
        uint32_t n[4];
#pragma unroll
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
#pragma unroll
        for (int r = 1; r < rounds; ++r) {
            uint32_t n[4];
#pragma unroll
            for (int c = 0; c < 4; ++c)
                n[c] = look.template look<T::mix0, 0>(s[c]) ^ look.template look<T::mix1, 1>(s[(c + 3) & 3]) ^
                       look.template look<T::mix2, 2>(s[(c + 2) & 3]) ^ look.template look<T::mix3, 3>(s[(c + 1) & 3]) ^ k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
        uint32_t n[4];
#pragma unroll
        for (int c = 0; c < 4; ++c)
            n[c] = (look.template look<T::last, 0>(s[c]) & 0xffu) | (look.template look<T::last, 1>(s[(c + 3) & 3]) & 0xff00u) |
                   (look.template look<T::last, 2>(s[(c + 2) & 3]) & 0xff0000u) |
                   (look.template look<T::last, 3>(s[(c + 1) & 3]) & 0xff000000u);
        for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * rounds + c];
    }
};

// PLANE FORM: to come (CPU part).

using Ciphers = List<Aes<128>, Aes<192>, Aes<256>>;

}  // namespace warpseal::ciphers::aes
