// DES (FIPS 46-3) and Triple DES with two and three keys (SP 800-67), for old data: in table form and plane form.
#pragma once

#include "ciphers/des_boxes.h"
#include "core/known_block.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::des {

// The standard counts bits from 1, the highest of the first byte. Here a half block is a word rotated right by 3, so that the six bits that
// enter S-boxes 1, 3, 5, 7 are the low bits of its bytes, from the highest byte on, and those of S-boxes 2, 4, 6, 8 after rotating left by
// 4: E (FIPS 46-3, Appendix 1) is no more than this. Boxes, and the inputs and outputs of a box, are counted from 0.
constexpr int input_place(int box, int input) { return 8 * (3 - box / 2) + 5 - input; }
constexpr int half_bit(int box, int input) { return (input_place(box, input) - 4 * (box & 1)) & 31; }
constexpr uint32_t six_bits = 0x3f3f3f3f;

// Where P sends an output, in a half block as above.
constexpr int permuted(int box, int output) {
    constexpr uint8_t p[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25};
    int to = 0;
    while (p[to] != 4 * box + output + 1) ++to;
    return (28 - to) & 31;
}

// Which bit of the key's halves C and D, 1 to 56, is bit i of a round key: PC-2.
constexpr int selected(int i) {
    constexpr uint8_t pc2[48] = {14, 17, 11, 24, 1,  5,  3,  28, 15, 6,  21, 10, 23, 19, 12, 4,  26, 8,  16, 7,  27, 20, 13, 2,
                                 41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};
    return pc2[i];
}

// An S-box and P in one, looked up with the six bits.
struct EncryptTables {
    enum { box1, box2, box3, box4, box5, box6, box7, box8, count };
    static constexpr int entries = 64;
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int box = 0; box < count; ++box)
            for (int x = 0; x < 64; ++x)
                for (int output = 0; output < 4; ++output)
                    entries[box][x] |= static_cast<uint32_t>(boxes(box, x) >> (3 - output) & 1) << permuted(box, output);
    }
};

// A key without its parity bits, split by PC-1: 28 bits each, the first the highest.
struct Halves {
    uint32_t c = 0, d = 0;
    WARPSEAL_INLINE explicit Halves(const uint8_t* key) {
        for (int i = 0; i < 28; ++i) {
            c = c << 1 | (key[7 - i % 8] >> (7 - i / 8) & 1u);
            d = d << 1 | (key[i < 24 ? 7 - i % 8 : 27 - i] >> (i < 24 ? 1 + i / 8 : 4) & 1u);
        }
    }
    WARPSEAL_INLINE static uint32_t rotate(uint32_t half, int n) { return (half << n | half >> (28 - n)) & 0xfffffffu; }
    WARPSEAL_INLINE void rotate(int n) { c = rotate(c, n), d = rotate(d, n); }
    // In a weak or semi-weak key both halves repeat a pattern of two bits, and round keys repeat with them: there are just 16 such keys.
    WARPSEAL_INLINE bool weak() const { return ((rotate(c, 2) ^ c) | (rotate(d, 2) ^ d)) == 0; }
    WARPSEAL_INLINE bool operator==(const Halves& other) const { return ((c ^ other.c) | (d ^ other.d)) == 0; }

    // The 48 bits of a round key: those of the even boxes and those of the odd ones, each box's where it takes its six bits.
    struct RoundKey {
        uint32_t box[2] = {0, 0};
    };
    template <int i = 0>
    WARPSEAL_INLINE void select(RoundKey& key) const {
        if constexpr (i < 48) {
            constexpr int from = selected(i), place = input_place(i / 6, i % 6);
            key.box[i / 6 & 1] |= ((from <= 28 ? c >> (28 - from) : d >> (56 - from)) & 1u) << place;
            select<i + 1>(key);
        }
    }
};

// DES once, or three times: encryption, decryption, encryption.
template <int key_count>
struct Des {
    static constexpr const char* name = key_count == 1 ? "des" : key_count == 2 ? "des-ede2" : "des-ede3";
    static constexpr uint32_t key_bytes = 8 * key_count;
    static constexpr uint32_t block_bytes = 8;
    static constexpr int passes = key_count == 1 ? 1 : 3;
    static constexpr int rounds = 16;
    static constexpr int pass_words = 2 * rounds + 1;
    static constexpr int schedule_words = passes * pass_words + 1;
    static constexpr bool legacy = true;
    using EncryptTables = des::EncryptTables;

    static constexpr KnownBlock known() {
        if (key_count == 1)  // FIPS 81, Table B1
            return known_block("0123456789abcdef", key_bytes, "4e6f772069732074", "3fa40e8a984d4815");
        if (key_count == 2)  // SP 800-38B, D.5
            return known_block("4cf15134a2850dd58a3d10ba80570d38", key_bytes, "0000000000000000", "c7679b9f6b8d7d7a");
        return known_block("0123456789abcdef23456789abcdef01456789abcdef0123", key_bytes, "5468652071756663",  // SP 800-67, B.1
                           "a826fd8ce53b855f");
    }

    // Weak and semi-weak keys (SP 800-67, 3.3.2), and among several, equal ones (3.3.1). Parity bits do not count.
    static bool weak(const uint8_t* key) {
        const Halves first(key);
        bool found = first.weak();
        if constexpr (key_count >= 2) {
            const Halves second(key + 8);
            found |= second.weak() | (first == second);
            if constexpr (key_count == 3) {
                const Halves third(key + 16);
                found |= third.weak() | (first == third) | (second == third);
            }
        }
        return found;
    }

    // The schedule. A half block is kept with the key already added that its next round wants: of a bit that two boxes take, the even
    // box's. What produces a half adds this key in the same instruction as the half that it replaces; what is left to add is the
    // difference of the two keys, where the odd boxes take their 16 shared bits. In the order of use:
    // - word 0: the key of round 1, to add to R;
    // - for each round, the differences for the odd boxes; then what changes the key of the half replaced into that of its next round;
    // - what changes the key of the last R into that of the next pass, or takes it off.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key, const Sub&) {
        forward[0] = 0;
        for (int pass = 0; pass < passes; ++pass) {
            uint32_t* const w = forward + pass * pass_words;
            Halves halves(key + 8 * (pass % key_count));
            for (int i = 0; i < rounds; ++i) {
                halves.rotate(2 - (0x8103 >> i & 1));
                Halves::RoundKey round_key;
                halves.select(round_key);
                const uint32_t shared = 0x33333333;  // two boxes take these bits, of an odd box as of an even one
                const uint32_t kept = round_key.box[0] | (rotate_left(round_key.box[1] & ~shared, 28));
                const int round = pass == 1 ? rounds - 1 - i : i;
                w[1 + 2 * round] = (round_key.box[1] ^ rotate_left(kept, 4)) & six_bits;
                w[2 + 2 * round] = kept;
            }
            w[0] ^= w[2];
            w[pass_words] = w[2 * rounds];
            uint32_t replaced = 0;
            for (int round = 0; round < rounds; ++round) {
                const uint32_t kept = w[2 + 2 * round], next = round + 1 < rounds ? w[4 + 2 * round] : 0;
                w[2 + 2 * round] = replaced ^ next;
                replaced = kept;
            }
        }
    }

    // The rounds backwards; each pass then undoes its like.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words], const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) {
            const int back = schedule_words - 1 - i, at = i % pass_words;
            inverse[i] = forward[at == 0 ? back : at % 2 == 1 ? back - 1 : back + 1];
        }
    }

    // Table form.
    template <class Look>
    WARPSEAL_INLINE static uint32_t f(uint32_t half, uint32_t difference, const Look& look) {
        using T = EncryptTables;
        const uint32_t even = half & six_bits, odd = (rotate_left(half, 4) ^ difference) & six_bits;
        return look.template look<T::box1, 3>(even) ^ look.template look<T::box3, 2>(even) ^ look.template look<T::box5, 1>(even) ^
               look.template look<T::box7, 0>(even) ^ look.template look<T::box2, 3>(odd) ^ look.template look<T::box4, 2>(odd) ^
               look.template look<T::box6, 1>(odd) ^ look.template look<T::box8, 0>(odd);
    }

    // Bits of a that lie n places higher change places with bits of b.
    WARPSEAL_INLINE static void exchange(uint32_t& a, uint32_t& b, int n, uint32_t mask) {
        const uint32_t t = (a >> n ^ b) & mask;
        b ^= t;
        a ^= t << n;
    }

    template <class Look>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[2], const uint32_t* k, const Look& look) {
        uint32_t l = s[0], r = s[1];
        exchange(l, r, 4, 0x0f0f0f0fu);  // IP, of words in memory order
        exchange(l, r, 16, 0x0000ffffu);
        exchange(l, r, 2, 0x33333333u);
        exchange(l, r, 8, 0x00ff00ffu);
        exchange(l, r, 1, 0x55555555u);
        l = rotate_left(l, 29), r = rotate_left(r, 29) ^ k[0];
        for (int pass = 0; pass < passes; ++pass, k += pass_words) {
            for (int round = 0; round < rounds; round += 2) {
                l ^= f(r, k[1 + 2 * round], look) ^ k[2 + 2 * round];
                r ^= f(l, k[3 + 2 * round], look) ^ k[4 + 2 * round];
            }
            const uint32_t last = l ^ k[pass_words];
            l = r, r = last;
        }
        l = rotate_left(l, 3), r = rotate_left(r, 3);
        exchange(l, r, 1, 0x55555555u);
        exchange(l, r, 8, 0x00ff00ffu);
        exchange(l, r, 2, 0x33333333u);
        exchange(l, r, 16, 0x0000ffffu);
        exchange(l, r, 4, 0x0f0f0f0fu);
        s[0] = l, s[1] = r;
    }

    // Plane form. IP and FP are names: where bit i of a half block is among the planes of a block, which for R is one plane further.
    WARPSEAL_INLINE static constexpr int plane(int i) {
        const int bit = (i + 3) & 31;  // of a half that is not rotated
        return 8 * (bit & 7) + 2 * (bit >> 3);
    }

    // One S-box of a round: to = from + f(half), with the keys at k and k + 32.
    template <int box, class Word, class Key>
    WARPSEAL_INLINE static void substitute_planes(Word* to, const Word* from, const Word* half, const Key& key, int k) {
        Word x[6], y[4];
        for (int i = 0; i < 6; ++i) {
            x[i] = half[plane(half_bit(box, i))];
            if (box % 2 == 1 && i != 2 && i != 3) x[i] ^= key(k + input_place(box, i));
        }
        substitute<box>(x, y);
        constexpr int bit[4] = {permuted(box, 0), permuted(box, 1), permuted(box, 2), permuted(box, 3)};
        to[plane(bit[0])] = lut<0x96>(y[0], from[plane(bit[0])], key(k + 32 + bit[0]));
        to[plane(bit[1])] = lut<0x96>(y[1], from[plane(bit[1])], key(k + 32 + bit[1]));
        to[plane(bit[2])] = lut<0x96>(y[2], from[plane(bit[2])], key(k + 32 + bit[2]));
        to[plane(bit[3])] = lut<0x96>(y[3], from[plane(bit[3])], key(k + 32 + bit[3]));
    }
    template <class Word, class Key>
    WARPSEAL_INLINE static void round_planes(Word* to, const Word* from, const Word* half, const Key& key, int k) {
        substitute_planes<0>(to, from, half, key, k);
        substitute_planes<1>(to, from, half, key, k);
        substitute_planes<2>(to, from, half, key, k);
        substitute_planes<3>(to, from, half, key, k);
        substitute_planes<4>(to, from, half, key, k);
        substitute_planes<5>(to, from, half, key, k);
        substitute_planes<6>(to, from, half, key, k);
        substitute_planes<7>(to, from, half, key, k);
    }

    template <class Word, class Key>
    WARPSEAL_INLINE static void encrypt_planes(Word (&p)[64], const Key& key) {
        Word *const left = p, *const right = p + 1, spare[64];
        for (int i = 0; i < 32; ++i) right[plane(i)] ^= key(i);
        for (int pass = 0; pass < passes; ++pass) {
            const int k = 32 * (pass * pass_words + 1);
            for (int round = 0; round < rounds - 2; round += 2) {
                round_planes(left, left, right, key, k + 64 * round);
                round_planes(right, right, left, key, k + 64 * (round + 1));
            }
            // The halves change places at the end (FIPS 46-3, figure 1): the last two rounds write them there.
            round_planes(spare, left, right, key, k + 64 * (rounds - 2));
            round_planes(left, right, spare, key, k + 64 * (rounds - 1));
            for (int i = 0; i < 32; ++i) right[plane(i)] = spare[plane(i)] ^ key(k + 64 * rounds + i);
        }
    }
};

using Ciphers = List<Des<1>, Des<2>, Des<3>>;

}  // namespace warpseal::ciphers::des
