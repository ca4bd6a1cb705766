// DES (FIPS 46-3) and Triple DES with two and three keys (SP 800-67), for old data: table-based and
// bitsliced representations.
#pragma once

#include "core/circuits/des.h"
#include "core/known_answer.h"
#include "core/lut.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::des {

// The S-boxes (FIPS 46-3, Appendix 1): rows of 16, as printed. The first and last of six input bits
// select the row, the middle four the column; the first bit is the highest.
struct SBoxes {
    uint8_t printed[8][64] = {
        {14, 4,  13, 1, 2,  15, 11, 8, 3, 10, 6, 12, 5,  9,  0,  7,  0,  15, 7,  4,  14, 2,
         13, 1,  10, 6, 12, 11, 9,  5, 3, 8,  4, 1,  14, 8,  13, 6,  2,  11, 15, 12, 9,  7,
         3,  10, 5,  0, 15, 12, 8,  2, 4, 9,  1, 7,  5,  11, 3,  14, 10, 0,  6,  13},
        {15, 1,  8,  14, 6,  11, 3,  4, 9,  7,  2, 13, 12, 0,  5,  10, 3,  13, 4,  7, 15, 2,
         8,  14, 12, 0,  1,  10, 6,  9, 11, 5,  0, 14, 7,  11, 10, 4,  13, 1,  5,  8, 12, 6,
         9,  3,  2,  15, 13, 8,  10, 1, 3,  15, 4, 2,  11, 6,  7,  12, 0,  5,  14, 9},
        {10, 0,  9,  14, 6, 3,  15, 5,  1,  13, 12, 7, 11, 4,  2,  8,  13, 7, 0,  9, 3, 4,
         6,  10, 2,  8,  5, 14, 12, 11, 15, 1,  13, 6, 4,  9,  8,  15, 3,  0, 11, 1, 2, 12,
         5,  10, 14, 7,  1, 10, 13, 0,  6,  9,  8,  7, 4,  15, 14, 3,  11, 5, 2,  12},
        {7, 13, 14, 3, 0, 6,  9, 10, 1,  2, 8,  5, 11, 12, 4,  15, 13, 8,  11, 5, 6, 15,
         0, 3,  4,  7, 2, 12, 1, 10, 14, 9, 10, 6, 9,  0,  12, 11, 7,  13, 15, 1, 3, 14,
         5, 2,  8,  4, 3, 15, 0, 6,  10, 1, 13, 8, 9,  4,  5,  11, 12, 7,  2,  14},
        {2,  12, 4, 1,  7,  10, 11, 6, 8, 5,  3, 15, 13, 0,  14, 9,  14, 11, 2,  12, 4,  7,
         13, 1,  5, 0,  15, 10, 3,  9, 8, 6,  4, 2,  1,  11, 10, 13, 7,  8,  15, 9,  12, 5,
         6,  3,  0, 14, 11, 8,  12, 7, 1, 14, 2, 13, 6,  15, 0,  9,  10, 4,  5,  3},
        {12, 1,  10, 15, 9,  2,  6, 8,  0, 13, 3,  4,  14, 7,  5, 11, 10, 15, 4, 2, 7, 12,
         9,  5,  6,  1,  13, 14, 0, 11, 3, 8,  9,  14, 15, 5,  2, 8,  12, 3,  7, 0, 4, 10,
         1,  13, 11, 6,  4,  3,  2, 12, 9, 5,  15, 10, 11, 14, 1, 7,  6,  0,  8, 13},
        {4, 11, 2,  14, 15, 0,  8,  13, 3, 12, 9,  7, 5,  10, 6,  1,  13, 0,  11, 7,  4, 9,
         1, 10, 14, 3,  5,  12, 2,  15, 8, 6,  1,  4, 11, 13, 12, 3,  7,  14, 10, 15, 6, 8,
         0, 5,  9,  2,  6,  11, 13, 8,  1, 4,  10, 7, 9,  5,  0,  15, 14, 2,  3,  12},
        {13, 2, 8,  4, 6, 15, 11, 1,  10, 9,  3, 14, 5,  0,  12, 7,  1,  15, 13, 8, 10, 3,
         7,  4, 12, 5, 6, 11, 0,  14, 9,  2,  7, 11, 4,  1,  9,  12, 14, 2,  0,  6, 10, 13,
         15, 3, 5,  8, 2, 1,  14, 7,  4,  10, 8, 13, 15, 12, 9,  0,  3,  5,  6,  11},
    };
    constexpr int operator()(int box, int input) const {
        return printed[box][16 * ((input >> 4 & 2) | (input & 1)) + (input >> 1 & 15)];
    }
};

// Applies an S-box by its circuit. Input bits are in order from the first of six to the last, and
// output bits from the first of four.
template <int box, class Word>
WARPSEAL_INLINE constexpr void substitute(const Word (&x)[6], Word (&y)[4]) {
    if constexpr (box == 0) apply_gates<circuits::Des1>(y, x);
    if constexpr (box == 1) apply_gates<circuits::Des2>(y, x);
    if constexpr (box == 2) apply_gates<circuits::Des3>(y, x);
    if constexpr (box == 3) apply_gates<circuits::Des4>(y, x);
    if constexpr (box == 4) apply_gates<circuits::Des5>(y, x);
    if constexpr (box == 5) apply_gates<circuits::Des6>(y, x);
    if constexpr (box == 6) apply_gates<circuits::Des7>(y, x);
    if constexpr (box == 7) apply_gates<circuits::Des8>(y, x);
}

// True if the circuits compute the S-boxes. Checks all 64 inputs at once, one in each lane.
template <int box = 0>
constexpr bool circuits_are_the_s_boxes() {
    uint64_t x[6] = {}, y[4] = {};
    for (int lane = 0; lane < 64; ++lane)
        for (int i = 0; i < 6; ++i) x[i] |= uint64_t{(lane >> (5 - i) & 1) != 0} << lane;
    substitute<box>(x, y);
    for (int lane = 0; lane < 64; ++lane)
        for (int i = 0; i < 4; ++i)
            if ((y[i] >> lane & 1) != (SBoxes{}(box, lane) >> (3 - i) & 1u)) return false;
    if constexpr (box == 7)
        return true;
    else
        return circuits_are_the_s_boxes<box + 1>();
}
static_assert(circuits_are_the_s_boxes(), "a gate is wrong");

// Bit numbering. The standard counts bits from 1, the highest bit of the first byte. Here a half
// block is a word rotated right by 3.
// The six input bits of S-boxes 1, 3, 5, 7 are then the low bits of its bytes, from the highest
// byte on. Those of S-boxes 2, 4, 6, 8 are the same after rotating left by 4. This replaces E (FIPS
// 46-3, Appendix 1). Boxes, and the inputs and outputs of a box, are counted from 0.
constexpr int input_bit(int box, int input) { return 8 * (3 - box / 2) + 5 - input; }
constexpr int half_bit(int box, int input) { return (input_bit(box, input) - 4 * (box & 1)) & 31; }
constexpr uint32_t six_bits = 0x3f3f3f3f;

// Returns the position to which P moves an output, in a half block as described above.
constexpr int permuted(int box, int output) {
    constexpr uint8_t p[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
                               2,  8, 24, 14, 32, 27, 3,  9,  19, 13, 30, 6,  22, 11, 4,  25};
    int to = 0;
    while (p[to] != 4 * box + output + 1) ++to;
    return (28 - to) & 31;
}

// PC-2: returns the bit of the key's halves C and D, 1 to 56, that is bit i of a round key.
constexpr int selected(int i) {
    constexpr uint8_t pc2[48] = {14, 17, 11, 24, 1,  5,  3,  28, 15, 6,  21, 10, 23, 19, 12, 4,
                                 26, 8,  16, 7,  27, 20, 13, 2,  41, 52, 31, 37, 47, 55, 30, 40,
                                 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};
    return pc2[i];
}

// An S-box combined with P; the index is the six input bits.
struct EncryptTables {
    enum { box1, box2, box3, box4, box5, box6, box7, box8, count };
    static constexpr int entries = 64;
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        const SBoxes boxes;
        for (int box = 0; box < count; ++box)
            for (int x = 0; x < 64; ++x)
                for (int output = 0; output < 4; ++output)
                    entries[box][x] |= static_cast<uint32_t>(boxes(box, x) >> (3 - output) & 1)
                                       << permuted(box, output);
    }
};

// A key without its parity bits, split by PC-1 into halves of 28 bits; the first bit is the
// highest.
struct Halves {
    uint32_t c = 0, d = 0;
    WARPSEAL_INLINE explicit Halves(const uint8_t* key) {
        for (int i = 0; i < 28; ++i) {
            c = c << 1 | (key[7 - i % 8] >> (7 - i / 8) & 1u);
            d = d << 1 | (key[i < 24 ? 7 - i % 8 : 27 - i] >> (i < 24 ? 1 + i / 8 : 4) & 1u);
        }
    }
    WARPSEAL_INLINE static uint32_t rotate(uint32_t half, int n) {
        return (half << n | half >> (28 - n)) & 0xfffffffu;
    }
    WARPSEAL_INLINE void rotate(int n) { c = rotate(c, n), d = rotate(d, n); }
    // True for a weak or semi-weak key. Both halves repeat a pattern of two bits, so that round
    // keys repeat. There are exactly 16 such keys.
    WARPSEAL_INLINE bool weak() const { return ((rotate(c, 2) ^ c) | (rotate(d, 2) ^ d)) == 0; }
    WARPSEAL_INLINE bool operator==(const Halves& other) const {
        return ((c ^ other.c) | (d ^ other.d)) == 0;
    }

    // The 48 bits of a round key, for the even boxes and for the odd boxes. The bits of each box
    // are at the positions of its six input bits.
    struct RoundKey {
        uint32_t box[2] = {0, 0};
    };
    template <int i = 0>
    WARPSEAL_INLINE void select(RoundKey& key) const {
        if constexpr (i < 48) {
            constexpr int from = selected(i), position = input_bit(i / 6, i % 6);
            key.box[i / 6 & 1] |= ((from <= 28 ? c >> (28 - from) : d >> (56 - from)) & 1u)
                                  << position;
            select<i + 1>(key);
        }
    }
};

// DES once, or three times: encryption, decryption, encryption.
template <int key_count>
struct Des {
    static constexpr const char* name = key_count == 1   ? "des"
                                        : key_count == 2 ? "des-ede2"
                                                         : "des-ede3";
    static constexpr uint32_t key_bytes = 8 * key_count;
    static constexpr uint32_t block_bytes = 8;
    static constexpr int passes = key_count == 1 ? 1 : 3;
    static constexpr int rounds = 16;
    static constexpr int pass_words = 2 * rounds + 1;
    static constexpr int schedule_words = passes * pass_words + 1;
    static constexpr bool legacy = true;
    using EncryptTables = des::EncryptTables;

    static constexpr KnownAnswer known() {
        if constexpr (key_count == 1)  // FIPS 81, Table B1
            return known_answer("0123456789abcdef", key_bytes, "4e6f772069732074",
                                "3fa40e8a984d4815");
        else if constexpr (key_count == 2)  // SP 800-38B, D.5
            return known_answer("4cf15134a2850dd58a3d10ba80570d38", key_bytes, "0000000000000000",
                                "c7679b9f6b8d7d7a");
        else  // SP 800-67, B.1
            return known_answer("0123456789abcdef23456789abcdef01456789abcdef0123", key_bytes,
                                "5468652071756663", "a826fd8ce53b855f");
    }

    // Tests for weak and semi-weak keys (SP 800-67, 3.3.2) and, with several keys, for equal ones
    // (3.3.1). Parity bits are ignored.
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

    // Computes the schedule. A half block is stored with the key of its next round already added.
    // Where two boxes share a bit, this is the even box's key. The instruction that produces a half
    // adds this key together with the half that it replaces. What remains is the difference of the
    // two keys, at the 16 shared bits of the odd boxes. Words in the order of use:
    // - word 0: the key of round 1, to add to R;
    // - for each round, the differences for the odd boxes; then the word that changes the key of
    //   the replaced half into that of its next round;
    // - a word that changes the key of the last R into that of the next pass, or removes it.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub&) {
        forward[0] = 0;
        for (int pass = 0; pass < passes; ++pass) {
            uint32_t* const w = forward + pass * pass_words;
            Halves halves(key + 8 * (pass % key_count));
            for (int i = 0; i < rounds; ++i) {
                halves.rotate(2 - (0x8103 >> i & 1));
                Halves::RoundKey round_key;
                halves.select(round_key);
                // Bits that two boxes share, the same for odd and even boxes.
                const uint32_t shared = 0x33333333;
                const uint32_t kept =
                    round_key.box[0] | (rotate_left(round_key.box[1] & ~shared, 28));
                const int round = pass == 1 ? rounds - 1 - i : i;
                w[1 + 2 * round] = (round_key.box[1] ^ rotate_left(kept, 4)) & six_bits;
                w[2 + 2 * round] = kept;
            }
            w[0] ^= w[2];
            w[pass_words] = w[2 * rounds];
            uint32_t replaced = 0;
            for (int round = 0; round < rounds; ++round) {
                const uint32_t kept = w[2 + 2 * round],
                               next = round + 1 < rounds ? w[4 + 2 * round] : 0;
                w[2 + 2 * round] = replaced ^ next;
                replaced = kept;
            }
        }
    }

    // Computes the schedule for decryption: the rounds in reverse order. Each pass then undoes the
    // corresponding one.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) {
            const int back = schedule_words - 1 - i, at = i % pass_words;
            inverse[i] = forward[at == 0 ? back : at % 2 == 1 ? back - 1 : back + 1];
        }
    }

    // Table-based round function.
    template <class TableLookup>
    WARPSEAL_INLINE static uint32_t f(uint32_t half, uint32_t difference,
                                      const TableLookup& tables) {
        using T = EncryptTables;
        const uint32_t even = half & six_bits, odd = (rotate_left(half, 4) ^ difference) & six_bits;
        return tables.template lookup<T::box1, 3>(even) ^ tables.template lookup<T::box3, 2>(even) ^
               tables.template lookup<T::box5, 1>(even) ^ tables.template lookup<T::box7, 0>(even) ^
               tables.template lookup<T::box2, 3>(odd) ^ tables.template lookup<T::box4, 2>(odd) ^
               tables.template lookup<T::box6, 1>(odd) ^ tables.template lookup<T::box8, 0>(odd);
    }

    // Swaps bits of a, n positions higher, with bits of b.
    WARPSEAL_INLINE static void exchange(uint32_t& a, uint32_t& b, int n, uint32_t mask) {
        const uint32_t t = (a >> n ^ b) & mask;
        b ^= t;
        a ^= t << n;
    }

    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[2], const uint32_t* k,
                                        const TableLookup& tables) {
        uint32_t l = s[0], r = s[1];
        exchange(l, r, 4, 0x0f0f0f0fu);  // IP, for words in memory order
        exchange(l, r, 16, 0x0000ffffu);
        exchange(l, r, 2, 0x33333333u);
        exchange(l, r, 8, 0x00ff00ffu);
        exchange(l, r, 1, 0x55555555u);
        l = rotate_left(l, 29), r = rotate_left(r, 29) ^ k[0];
        for (int pass = 0; pass < passes; ++pass, k += pass_words) {
            for (int round = 0; round < rounds; round += 2) {
                l ^= f(r, k[1 + 2 * round], tables) ^ k[2 + 2 * round];
                r ^= f(l, k[3 + 2 * round], tables) ^ k[4 + 2 * round];
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

    // Bitsliced representation. IP and FP only rename planes: returns the plane of bit i of a half
    // block. For R it is one plane further on.
    WARPSEAL_INLINE static constexpr int plane(int i) {
        const int bit = (i + 3) & 31;  // bit of a half block before the rotation
        return 8 * (bit & 7) + 2 * (bit >> 3);
    }

    // Adds a bit of the schedule to a word, by the key's own function if it has one.
    template <class Word, class Key>
    WARPSEAL_INLINE static Word added(const Word& x, const Key& key, int i) {
        if constexpr (requires { key.add(x, i); })
            return key.add(x, i);
        else
            return x ^ key(i);
    }

    // One S-box of a round: to = from + f(half), with the keys at k and k + 32.
    template <int box, class Word, class Key>
    WARPSEAL_INLINE static void substitute_bitsliced(Word* to, const Word* from, const Word* half,
                                                     const Key& key, int k) {
        Word x[6], y[4];
        WARPSEAL_UNROLL
        for (int i = 0; i < 6; ++i) {
            x[i] = half[plane(half_bit(box, i))];
            if (box % 2 == 1 && i != 2 && i != 3) x[i] = added(x[i], key, k + input_bit(box, i));
        }
        substitute<box>(x, y);
        constexpr int bit[4] = {permuted(box, 0), permuted(box, 1), permuted(box, 2),
                                permuted(box, 3)};
        to[plane(bit[0])] = lut<0x96>(y[0], from[plane(bit[0])], key(k + 32 + bit[0]));
        to[plane(bit[1])] = lut<0x96>(y[1], from[plane(bit[1])], key(k + 32 + bit[1]));
        to[plane(bit[2])] = lut<0x96>(y[2], from[plane(bit[2])], key(k + 32 + bit[2]));
        to[plane(bit[3])] = lut<0x96>(y[3], from[plane(bit[3])], key(k + 32 + bit[3]));
    }
    template <class Word, class Key>
    WARPSEAL_INLINE static void round_planes(Word* to, const Word* from, const Word* half,
                                             const Key& key, int k) {
        substitute_bitsliced<0>(to, from, half, key, k);
        substitute_bitsliced<1>(to, from, half, key, k);
        substitute_bitsliced<2>(to, from, half, key, k);
        substitute_bitsliced<3>(to, from, half, key, k);
        substitute_bitsliced<4>(to, from, half, key, k);
        substitute_bitsliced<5>(to, from, half, key, k);
        substitute_bitsliced<6>(to, from, half, key, k);
        substitute_bitsliced<7>(to, from, half, key, k);
    }

    // Compiler barrier between rounds. On a CPU, values carried in registers across rounds exceed
    // the registers, and are stored twice.
    template <class Word>
    WARPSEAL_INLINE static void settle([[maybe_unused]] Word (&p)[64]) {
#if !defined(__CUDA_ARCH__)
        __asm__ __volatile__("" : : "r"(p) : "memory");
#endif
    }

    template <class Word, class Key>
    WARPSEAL_INLINE static void encrypt_bitsliced(Word (&p)[64], const Key& key) {
        // Planes have even numbers, up to 62.
        Word *const left = p, *const right = p + 1, spare[63];
        for (int i = 0; i < 32; ++i) right[plane(i)] = added(right[plane(i)], key, i);
        for (int pass = 0; pass < passes; ++pass) {
            const int k = 32 * (pass * pass_words + 1);
            for (int round = 0; round < rounds - 2; round += 2) {
                settle(p);
                round_planes(left, left, right, key, k + 64 * round);
                settle(p);
                round_planes(right, right, left, key, k + 64 * (round + 1));
            }
            // The halves are swapped at the end (FIPS 46-3, figure 1): the last two rounds write
            // them to their final positions.
            settle(p);
            round_planes(spare, left, right, key, k + 64 * (rounds - 2));
            settle(p);
            round_planes(left, right, spare, key, k + 64 * (rounds - 1));
            for (int i = 0; i < 32; ++i)
                right[plane(i)] = added(spare[plane(i)], key, k + 64 * rounds + i);
        }
    }
};

using Ciphers = List<Des<1>, Des<2>, Des<3>>;

}  // namespace warpseal::ciphers::des
