// AES-128, AES-192 and AES-256 (FIPS 197): byte-sliced and table-based representations.
#pragma once

#include "core/bitsliced_byte.h"
#include "core/circuits/aes.h"
#include "core/known_answer.h"
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

// A block is four words, one for each column. Byte r of a word (r = 0 is the least significant) is
// row r, so a block in memory is its words. Encryption combines SubBytes and MixColumns in one
// table lookup: table t holds the contribution of a byte of row t to its column.
struct EncryptTables {
    enum { mix0, mix1, mix2, mix3, count };
    // mix1 to mix3 are mix0 rotated left by 8, 16 and 24 bits.
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int x = 0; x < 256; ++x) {
            const uint8_t s = boxes.forward[x];
            const uint32_t column = field::multiply(2, s) | uint32_t{s} << 8 | uint32_t{s} << 16 |
                                    uint32_t{field::multiply(3, s)} << 24;
            for (int t = 0; t < count; ++t) entries[t][x] = rotate_left(column, 8 * t);
        }
    }
};

// Decryption by the equivalent inverse cipher (FIPS 197 5.3.5). The last round has its own table,
// with the inverse S-box in all four bytes: none of the others holds it unmultiplied.
struct DecryptTables {
    enum { mix0, mix1, mix2, mix3, last, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int x = 0; x < 256; ++x) {
            const uint8_t s = boxes.inverse[x];
            const uint32_t column =
                uint32_t{field::multiply(14, s)} | uint32_t{field::multiply(9, s)} << 8 |
                uint32_t{field::multiply(13, s)} << 16 | uint32_t{field::multiply(11, s)} << 24;
            for (int t = 0; t < 4; ++t) entries[t][x] = rotate_left(column, 8 * t);
            entries[last][x] = 0x01010101u * s;
        }
    }
};

struct SBox {
    static constexpr Affine in = identity, out = sub_bytes;
    using Gates = circuits::Aes;
};
struct InverseSBox {
    static constexpr Affine in = inverse(SBox::out), out = identity;
    using Gates = circuits::AesInverse;
};
static_assert(is_s_box<SBox>(substitute));
static_assert(is_s_box<InverseSBox>([](uint8_t x) { return SBoxes{}.inverse[x]; }));

// Linear layers over bytes of many blocks: byte 4 c + r is row r of column c.
template <class V>
struct ByteLayers {
    // ShiftRows (FIPS 197 5.1.2) and InvShiftRows (5.3.1) only rename bytes. Return the byte that
    // moves to byte b.
    WARPSEAL_INLINE static constexpr int shifted(int b) { return (b + 4 * (b & 3)) & 15; }
    WARPSEAL_INLINE static constexpr int shifted_back(int b) { return (b - 4 * (b & 3)) & 15; }

    WARPSEAL_INLINE static constexpr V doubled(const V& a) {  // multiplication by 02
        const V top = shift_right<7>(a);
        return add3(shift_left<1>(a), add3(top, shift_left<1>(top), shift_left<3>(top)),
                    shift_left<4>(top));
    }

    // MixColumns (5.1.3) of one column: 02 (a + b) + (a + b + c + d) + a.
    WARPSEAL_INLINE static constexpr void mix(V* column) {
        const V first = column[0];
        const V all = add3(column[0], column[1], column[2] ^ column[3]);
        WARPSEAL_UNROLL
        for (int r = 0; r < 4; ++r)
            column[r] = add3(column[r], all, doubled(column[r] ^ (r == 3 ? first : column[r + 1])));
    }

    // InvMixColumns (5.3.3) is MixColumns after adding 04 (a + c) to each byte: 0e, 0b, 0d, 09 =
    // (02, 03, 01, 01) * (05, 00, 04, 00).
    WARPSEAL_INLINE static constexpr void mix_inverse(V* column) {
        for (int r = 0; r < 2; ++r) {
            const V sum = doubled(doubled(column[r] ^ column[r + 2]));
            column[r] ^= sum;
            column[r + 2] ^= sum;
        }
        mix(column);
    }
};

template <int key_bits>
struct Aes {
    static constexpr const char* name = key_bits == 128   ? "aes-128"
                                        : key_bits == 192 ? "aes-192"
                                                          : "aes-256";
    static constexpr uint32_t key_bytes = key_bits / 8;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int rounds = key_bits / 32 + 6;
    static constexpr int schedule_words = 4 * (rounds + 1);
    using EncryptTables = aes::EncryptTables;
    using DecryptTables = aes::DecryptTables;
    static constexpr KnownAnswer known() {  // FIPS 197 C.1 to C.3
        constexpr const char* ciphertext = key_bits == 128   ? "69c4e0d86a7b0430d8cdb78070b4c55a"
                                           : key_bits == 192 ? "dda97ca4864cdfe06eaf70a0ec0d7191"
                                                             : "8ea2b7ca516745bfeafc49904b496089";
        return known_answer("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                            key_bytes, "00112233445566778899aabbccddeeff", ciphertext);
    }

    // Key expansion, FIPS 197 5.2. SubWord is sub.substitute<SBox>, which must be constant-time.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&w)[schedule_words], const uint8_t* key,
                                       const Sub& sub) {
        constexpr int nk = key_bits / 32;
        for (int i = 0; i < nk; ++i) w[i] = load_le32(key + 4 * i);
        uint32_t rcon = 1;
        for (int i = nk; i < schedule_words; ++i) {
            uint32_t t = w[i - 1];
            if (i % nk == 0) {
                t = sub.template substitute<SBox>(rotate_left(t, 24)) ^ rcon;
                rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
            } else if (nk > 6 && i % nk == 4) {
                t = sub.template substitute<SBox>(t);
            }
            w[i] = w[i - nk] ^ t;
        }
    }

    // SubWord (FIPS 197 5.2) by the encryption tables, whose entries hold the unmultiplied S-box in
    // two of their bytes.
    template <class TableLookup>
    WARPSEAL_INLINE static uint32_t substitute_word(uint32_t w, const TableLookup& tables) {
        using T = EncryptTables;
        return (tables.template lookup<T::mix2, 0>(w) & 0xffu) |
               (tables.template lookup<T::mix3, 1>(w) & 0xff00u) |
               (tables.template lookup<T::mix0, 2>(w) & 0xff0000u) |
               (tables.template lookup<T::mix1, 3>(w) & 0xff000000u);
    }

    // Computes the schedule of the equivalent inverse cipher (FIPS 197 5.3.5). The round keys are
    // in reverse order, with InvMixColumns applied to all but the first and last.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) {
            const int round = i / 4;
            const uint32_t w = forward[4 * (rounds - round) + i % 4];
            inverse[i] = round == 0 || round == rounds ? w : inverse_mix_column(w);
        }
    }

    // Multiplies four bytes by x, without a branch.
    WARPSEAL_INLINE static constexpr uint32_t times_x(uint32_t w) {
        return ((w & 0x7f7f7f7fu) << 1) ^ ((w >> 7 & 0x01010101u) * 0x1b);
    }
    WARPSEAL_INLINE static constexpr uint32_t inverse_mix_column(uint32_t w) {
        const uint32_t w2 = times_x(w), w4 = times_x(w2), w8 = times_x(w4);
        const uint32_t w9 = w8 ^ w;
        return (w8 ^ w4 ^ w2) ^ rotate_left(w9 ^ w2, 24) ^ rotate_left(w9 ^ w4, 16) ^
               rotate_left(w9, 8);
    }

    // Encrypts one block by tables. tables.lookup<table, byte>(word) is the entry of `table` for
    // that byte of the word.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        inner_rounds<1>(s, k, tables);
        // The last round has no MixColumns: it uses tables that hold the unmultiplied S-box in the
        // required byte.
        using T = EncryptTables;
        uint32_t n[4];
        WARPSEAL_UNROLL
        for (int c = 0; c < 4; ++c)
            n[c] = bytes_of(tables.template lookup<T::mix2, 0>(s[c]),
                            tables.template lookup<T::mix3, 1>(s[(c + 1) & 3]),
                            tables.template lookup<T::mix0, 2>(s[(c + 2) & 3]),
                            tables.template lookup<T::mix1, 3>(s[(c + 3) & 3]));
        for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * rounds + c];
    }
    template <class TableLookup>
    WARPSEAL_INLINE static void decrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        inner_rounds_back(s, k, tables);
        using T = DecryptTables;
        uint32_t n[4];
        WARPSEAL_UNROLL
        for (int c = 0; c < 4; ++c)
            n[c] = bytes_of(tables.template lookup<T::last, 0>(s[c]),
                            tables.template lookup<T::last, 1>(s[(c + 3) & 3]),
                            tables.template lookup<T::last, 2>(s[(c + 2) & 3]),
                            tables.template lookup<T::last, 3>(s[(c + 1) & 3]));
        for (int c = 0; c < 4; ++c) s[c] = n[c] ^ k[4 * rounds + c];
    }

    // Two blocks at a time. Their 32 bytes fill eight words, one for each bit plane, so that the
    // S-boxes of the last round are one circuit.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&a)[4], uint32_t (&b)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        for (int c = 0; c < 4; ++c) a[c] ^= k[c], b[c] ^= k[c];
        inner_rounds<1>(a, k, tables);
        inner_rounds<1>(b, k, tables);
        last_round<SBox, 1>(a, b, k);
    }
    template <class TableLookup>
    WARPSEAL_INLINE static void decrypt(uint32_t (&a)[4], uint32_t (&b)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        inner_rounds_back(a, k, tables);
        inner_rounds_back(b, k, tables);
        last_round<InverseSBox, 3>(a, b, k);
    }

    // Counter mode for blocks that differ only in their last two bytes. Byte 15 affects column 0 of
    // round 1 and byte 14 column 1; each of these affects every column of round 2. The state after
    // two rounds is the XOR of one contribution for each byte.
    static constexpr int counting_words = 4;

    // Contribution of bytes 0 to 13 to the state after round 2; ignores bytes 14 and 15 of s. Four
    // words are complete, and the fifth still lacks byte 15.
    static constexpr int fixed_words = 5;
    template <class TableLookup>
    WARPSEAL_INLINE static void count_fixed(uint32_t (&fixed)[fixed_words], const uint32_t (&s)[4],
                                            const uint32_t* k, const TableLookup& tables) {
        using T = EncryptTables;
        const uint32_t n2 = first_round(s, k, 2, tables), n3 = first_round(s, k, 3, tables);
        fixed[0] =
            tables.template lookup<T::mix2, 2>(n2) ^ tables.template lookup<T::mix3, 3>(n3) ^ k[8];
        fixed[1] =
            tables.template lookup<T::mix1, 1>(n2) ^ tables.template lookup<T::mix2, 2>(n3) ^ k[9];
        fixed[2] =
            tables.template lookup<T::mix0, 0>(n2) ^ tables.template lookup<T::mix1, 1>(n3) ^ k[10];
        fixed[3] =
            tables.template lookup<T::mix3, 3>(n2) ^ tables.template lookup<T::mix0, 0>(n3) ^ k[11];
        fixed[4] = tables.template lookup<T::mix0, 0>(s[0] ^ k[0]) ^
                   tables.template lookup<T::mix1, 1>(s[1] ^ k[1]) ^
                   tables.template lookup<T::mix2, 2>(s[2] ^ k[2]) ^ k[4];
    }
    // Contribution of bytes 0 to 13 and byte 15. `last_word` is the block's last word, with byte
    // 15.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_last(uint32_t (&contribution)[counting_words],
                                           const uint32_t (&fixed)[fixed_words], uint32_t last_word,
                                           const uint32_t* k, const TableLookup& tables) {
        using T = EncryptTables;
        const uint32_t n = fixed[4] ^ tables.template lookup<T::mix3, 3>(last_word ^ k[3]);
        contribution[0] = fixed[0] ^ tables.template lookup<T::mix0, 0>(n);
        contribution[1] = fixed[1] ^ tables.template lookup<T::mix3, 3>(n);
        contribution[2] = fixed[2] ^ tables.template lookup<T::mix2, 2>(n);
        contribution[3] = fixed[3] ^ tables.template lookup<T::mix1, 1>(n);
    }
    // Contribution of all bytes except byte 14, which is ignored.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_last(uint32_t (&contribution)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        uint32_t fixed[fixed_words];
        count_fixed(fixed, s, k, tables);
        count_last(contribution, fixed, s[3], k, tables);
    }
    // Contribution of byte 14, the next counter byte, to the state after round 2.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_next(uint32_t (&contribution)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        using T = EncryptTables;
        const uint32_t n = first_round(s, k, 1, tables);
        contribution[0] = tables.template lookup<T::mix1, 1>(n);
        contribution[1] = tables.template lookup<T::mix0, 0>(n);
        contribution[2] = tables.template lookup<T::mix3, 3>(n);
        contribution[3] = tables.template lookup<T::mix2, 2>(n);
    }
    // Runs the remaining rounds on two blocks that hold the XOR of their contributions.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt_counting(uint32_t (&a)[counting_words],
                                                 uint32_t (&b)[counting_words], const uint32_t* k,
                                                 const TableLookup& tables) {
        inner_rounds<3>(a, k, tables);
        inner_rounds<3>(b, k, tables);
        last_round<SBox, 1>(a, b, k);
    }

    // Byte-sliced encryption.
    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&s)[16], const Key& key) {
        using L = ByteLayers<V>;
        for (int i = 0; i < 16; ++i) s[i] ^= key(i);
        for (int r = 1; r <= rounds; ++r) {
            V n[16];
            WARPSEAL_UNROLL
            for (int i = 0; i < 16; ++i) n[i] = substitute<SBox>(s[L::shifted(i)]);
            if (r != rounds)
                for (int c = 0; c < 4; ++c) L::mix(n + 4 * c);
            WARPSEAL_UNROLL
            for (int i = 0; i < 16; ++i) s[i] = n[i] ^ key(16 * r + i);
        }
    }

    // Byte-sliced decryption by the equivalent inverse cipher, under the schedule from `invert`.
    template <class V, class Key>
    WARPSEAL_INLINE static void decrypt_bytes(V (&s)[16], const Key& key) {
        using L = ByteLayers<V>;
        for (int i = 0; i < 16; ++i) s[i] ^= key(i);
        for (int r = 1; r <= rounds; ++r) {
            V n[16];
            WARPSEAL_UNROLL
            for (int i = 0; i < 16; ++i) n[i] = substitute<InverseSBox>(s[L::shifted_back(i)]);
            if (r != rounds)
                for (int c = 0; c < 4; ++c) L::mix_inverse(n + 4 * c);
            WARPSEAL_UNROLL
            for (int i = 0; i < 16; ++i) s[i] = n[i] ^ key(16 * r + i);
        }
    }

private:
    // Applies SubBytes, ShiftRows and MixColumns to one column.
    template <class TableLookup>
    WARPSEAL_INLINE static uint32_t mixed(uint32_t s0, uint32_t s1, uint32_t s2, uint32_t s3,
                                          const TableLookup& tables) {
        using T = EncryptTables;
        return tables.template lookup<T::mix0, 0>(s0) ^ tables.template lookup<T::mix1, 1>(s1) ^
               tables.template lookup<T::mix2, 2>(s2) ^ tables.template lookup<T::mix3, 3>(s3);
    }
    template <class TableLookup>
    WARPSEAL_INLINE static uint32_t first_round(const uint32_t (&s)[4], const uint32_t* k, int c,
                                                const TableLookup& tables) {
        uint32_t x[4];
        for (int i = 0; i < 4; ++i) x[i] = s[(c + i) & 3] ^ k[(c + i) & 3];
        return mixed(x[0], x[1], x[2], x[3], tables) ^ k[4 + c];
    }
    // Runs rounds `from` to the second-to-last.
    template <int from, class TableLookup>
    WARPSEAL_INLINE static void inner_rounds(uint32_t (&s)[4], const uint32_t* k,
                                             const TableLookup& tables) {
        WARPSEAL_UNROLL
        for (int r = from; r < rounds; ++r) {
            uint32_t n[4];
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c)
                n[c] = mixed(s[c], s[(c + 1) & 3], s[(c + 2) & 3], s[(c + 3) & 3], tables) ^
                       k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
    }
    // Runs all rounds of decryption except the last.
    template <class TableLookup>
    WARPSEAL_INLINE static void inner_rounds_back(uint32_t (&s)[4], const uint32_t* k,
                                                  const TableLookup& tables) {
        using T = DecryptTables;
        for (int c = 0; c < 4; ++c) s[c] ^= k[c];
        WARPSEAL_UNROLL
        for (int r = 1; r < rounds; ++r) {
            uint32_t n[4];
            WARPSEAL_UNROLL
            for (int c = 0; c < 4; ++c)
                n[c] = tables.template lookup<T::mix0, 0>(s[c]) ^
                       tables.template lookup<T::mix1, 1>(s[(c + 3) & 3]) ^
                       tables.template lookup<T::mix2, 2>(s[(c + 2) & 3]) ^
                       tables.template lookup<T::mix3, 3>(s[(c + 1) & 3]) ^ k[4 * r + c];
            for (int c = 0; c < 4; ++c) s[c] = n[c];
        }
    }
    // Runs the last round of two blocks. Row r of a column comes from the column `turn` * r further
    // on: 1 is ShiftRows, 3 is InvShiftRows.
    template <class S, int turn>
    WARPSEAL_INLINE static void last_round(uint32_t (&a)[4], uint32_t (&b)[4], const uint32_t* k) {
        uint32_t w[8];
        for (int c = 0; c < 4; ++c) {
            w[c] = bytes_of(a[c], a[(c + turn) & 3], a[(c + 2) & 3], a[(c + 3 * turn) & 3]);
            w[4 + c] = bytes_of(b[c], b[(c + turn) & 3], b[(c + 2) & 3], b[(c + 3 * turn) & 3]);
        }
        substitute_words<S>(w);
        for (int c = 0; c < 4; ++c)
            a[c] = w[c] ^ k[4 * rounds + c], b[c] = w[4 + c] ^ k[4 * rounds + c];
    }
    // Returns byte i of word i, for each i.
    WARPSEAL_INLINE static uint32_t bytes_of(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
        const uint32_t low = (w0 & 0x000000ffu) | (w1 & 0xffffff00u),
                       high = (w2 & 0x00ffffffu) | (w3 & 0xff000000u);
        return (low & 0x0000ffffu) | (high & 0xffff0000u);
    }
};

using Ciphers = List<Aes<128>, Aes<192>, Aes<256>>;

}  // namespace warpseal::ciphers::aes
