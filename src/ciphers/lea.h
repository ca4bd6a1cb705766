// LEA-128, LEA-192 and LEA-256 (TTAS.KO-12.0223): word-sliced representation.
#pragma once

#include "core/known_answer.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::lea {

template <int key_bits>
struct Lea {
    static constexpr const char* name = key_bits == 128   ? "lea-128"
                                        : key_bits == 192 ? "lea-192"
                                                          : "lea-256";
    static constexpr uint32_t key_bytes = key_bits / 8;
    static constexpr uint32_t block_bytes = 16;
    static constexpr int key_words = key_bits / 32;
    static constexpr int rounds = 16 + 2 * key_words;
    static constexpr int schedule_words = 6 * rounds;
    static constexpr KnownAnswer known() {  // TTAS.KO-12.0223, appendix
        constexpr const char* plaintext = key_bits == 128   ? "101112131415161718191a1b1c1d1e1f"
                                          : key_bits == 192 ? "202122232425262728292a2b2c2d2e2f"
                                                            : "303132333435363738393a3b3c3d3e3f";
        constexpr const char* ciphertext = key_bits == 128   ? "9fc84e3528c6c6185532c7a704648bfd"
                                           : key_bits == 192 ? "6fb95e325aad1b878cdcf5357674c6f2"
                                                             : "d651aff647b189c13a8900ca27f9e197";
        return known_answer("0f1e2d3c4b5a69788796a5b4c3d2e1f0f0e1d2c3b4a5968778695a4b3c2d1e0f",
                            key_bytes, plaintext, ciphertext);
    }

    // Key expansion. Each round mixes a constant into a state that starts as the key's words. A
    // round key is six words of the state; with four words, the second is used three times.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub&) {
        uint32_t t[key_words];
        for (int i = 0; i < key_words; ++i) t[i] = load_le32(key + 4 * i);
        for (int r = 0; r < rounds; ++r) {
            const uint32_t constant = delta(r % key_words);
            WARPSEAL_UNROLL
            for (int i = 0; i < (key_bits == 128 ? 4 : 6); ++i) {
                uint32_t& word = t[(key_bits == 256 ? 6 * r + i : i) % key_words];
                const int turn = i == 0   ? 1
                                 : i == 1 ? 3
                                 : i == 2 ? 6
                                 : i == 3 ? 11
                                 : i == 4 ? 13
                                          : 17;
                word = rotate_left(word + rotate_left(constant, (r + i) % 32), turn);
                forward[6 * r + (key_bits == 128 && i == 3 ? 4 : i)] = word;
            }
            if (key_bits == 128) forward[6 * r + 3] = forward[6 * r + 5] = t[1];
        }
    }

    // Computes the schedule for decryption: the rounds in reverse order.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int r = 0; r < rounds; ++r)
            for (int i = 0; i < 6; ++i) inverse[6 * r + i] = forward[6 * (rounds - 1 - r) + i];
    }

    // Runs four rounds at a time. A round moves each word by one position; renaming the words
    // replaces this move and repeats after four rounds.
    template <class Word, class Key>
    WARPSEAL_INLINE static void encrypt_words(Word (&s)[4], const Key& key) {
        for (int k = 0; k < schedule_words; k += 24) {
            round(s[0], s[1], s[2], s[3], key, k);
            round(s[1], s[2], s[3], s[0], key, k + 6);
            round(s[2], s[3], s[0], s[1], key, k + 12);
            round(s[3], s[0], s[1], s[2], key, k + 18);
        }
    }
    template <class Word, class Key>
    WARPSEAL_INLINE static void decrypt_words(Word (&s)[4], const Key& key) {
        for (int k = 0; k < schedule_words; k += 24) {
            round_back(s[3], s[0], s[1], s[2], key, k);
            round_back(s[2], s[3], s[0], s[1], key, k + 6);
            round_back(s[1], s[2], s[3], s[0], key, k + 12);
            round_back(s[0], s[1], s[2], s[3], key, k + 18);
        }
    }

private:
    WARPSEAL_INLINE static uint32_t delta(int i) {
        switch (i) {
            case 0: return 0xc3efe9db;
            case 1: return 0x44626b02;
            case 2: return 0x79e27c8a;
            case 3: return 0x78df30ec;
            case 4: return 0x715ea49e;
            case 5: return 0xc785da0a;
            case 6: return 0xe04ef22a;
            default: return 0xe5c40957;
        }
    }

    template <int n, class Word>
    WARPSEAL_INLINE static Word rotate(const Word& w) {
        return (w << n) | (w >> (32 - n));
    }
    template <class Word, class Key>
    WARPSEAL_INLINE static void round(const Word& a, Word& b, Word& c, Word& d, const Key& key,
                                      int k) {
        d = rotate<29>((c ^ key(k + 4)) + (d ^ key(k + 5)));
        c = rotate<27>((b ^ key(k + 2)) + (c ^ key(k + 3)));
        b = rotate<9>((a ^ key(k)) + (b ^ key(k + 1)));
    }
    template <class Word, class Key>
    WARPSEAL_INLINE static void round_back(const Word& a, Word& b, Word& c, Word& d, const Key& key,
                                           int k) {
        b = (rotate<23>(b) - (a ^ key(k))) ^ key(k + 1);
        c = (rotate<5>(c) - (b ^ key(k + 2))) ^ key(k + 3);
        d = (rotate<3>(d) - (c ^ key(k + 4))) ^ key(k + 5);
    }
};

using Ciphers = List<Lea<128>, Lea<192>, Lea<256>>;

}  // namespace warpseal::ciphers::lea
