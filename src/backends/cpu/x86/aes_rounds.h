// AES by the x86 AES instructions (FIPS 197): key schedule and rounds, for any vector width.
#pragma once

#include <immintrin.h>

#include "backends/cipher_backend.h"
#include "ciphers/aes.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

WARPSEAL_INLINE __m128i key_at(const uint8_t* keys, int round) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(keys + 16 * round));
}
WARPSEAL_INLINE __m128i load_one(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
WARPSEAL_INLINE void store_one(uint8_t* p, __m128i x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
}

template <int key_bits, class Width>
struct AesRounds {
    using Cipher = ciphers::aes::Aes<key_bits>;
    using W = Width;
    using V = typename W::V;
    static constexpr int rounds = Cipher::rounds;
    static constexpr int at_once = W::vectors_at_once;
    static constexpr size_t group_blocks = at_once * W::lanes;
    static constexpr size_t group_bytes = 16 * group_blocks;

    struct Schedule {
        alignas(64) uint8_t forward[16 * (rounds + 1)];
        // For the equivalent inverse cipher (FIPS 197 5.3.5), in the order of use.
        uint8_t inverse[16 * (rounds + 1)];
    };

    // SubWord by the last round: ShiftRows does not change four equal columns, so only SubBytes
    // remains.
    struct LastRound {
        template <class S>
        WARPSEAL_INLINE uint32_t substitute(uint32_t word) const {
            static_assert(__is_same(S, ciphers::aes::SBox));
            return static_cast<uint32_t>(_mm_cvtsi128_si32(
                _mm_aesenclast_si128(_mm_set1_epi32(static_cast<int>(word)), _mm_setzero_si128())));
        }
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[4 * (rounds + 1)]> words;
        Cipher::expand(words.value, key, LastRound{});
        memcpy(schedule.forward, words.value, sizeof schedule.forward);
        __m128i* const inverse = reinterpret_cast<__m128i*>(schedule.inverse);
        for (int r = 0; r <= rounds; ++r) {
            const __m128i k = key_at(schedule.forward, rounds - r);
            inverse[r] = r == 0 || r == rounds ? k : _mm_aesimc_si128(k);
        }
    }

    template <Direction direction>
    WARPSEAL_INLINE static const uint8_t* keys(const Schedule& schedule) {
        return direction == Direction::encrypt ? schedule.forward : schedule.inverse;
    }
    template <Direction direction>
    WARPSEAL_INLINE static V key(const Schedule& schedule, int round) {
        return W::broadcast(key_at(keys<direction>(schedule), round));
    }

    // Encrypts or decrypts n blocks, each in a register.
    template <Direction direction, int n>
    WARPSEAL_INLINE static void encipher(const Schedule& schedule, __m128i (&s)[n]) {
        constexpr bool encrypts = direction == Direction::encrypt;
        const uint8_t* const k = keys<direction>(schedule);
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u) s[u] = s[u] ^ key_at(k, 0);
        WARPSEAL_UNROLL
        for (int r = 1; r < rounds; ++r)
            for (int u = 0; u < n; ++u)
                s[u] = encrypts ? _mm_aesenc_si128(s[u], key_at(k, r))
                                : _mm_aesdec_si128(s[u], key_at(k, r));
        WARPSEAL_UNROLL
        for (int u = 0; u < n; ++u)
            s[u] = encrypts ? _mm_aesenclast_si128(s[u], key_at(k, rounds))
                            : _mm_aesdeclast_si128(s[u], key_at(k, rounds));
    }
    template <Direction direction>
    WARPSEAL_INLINE static __m128i one(const Schedule& schedule, __m128i block) {
        __m128i s[1] = {block};
        encipher<direction>(schedule, s);
        return s[0];
    }

    // Runs the rounds from `first` to the last but one on n vectors, and calls `work` after each.
    template <Direction direction, int first, int n, class Work>
    WARPSEAL_INLINE static void middle_rounds(const Schedule& schedule, V (&s)[n],
                                              const Work& work) {
        WARPSEAL_UNROLL
        for (int r = first; r < rounds; ++r) {
            const V k = key<direction>(schedule, r);
            WARPSEAL_UNROLL
            for (int u = 0; u < n; ++u)
                s[u] = direction == Direction::encrypt ? W::encrypt(s[u], k) : W::decrypt(s[u], k);
            work(r - first);
        }
    }
    template <Direction direction, int n>
    WARPSEAL_INLINE static void middle_rounds(const Schedule& schedule, V (&s)[n]) {
        middle_rounds<direction, 1>(schedule, s, [](int) {});
    }
    template <Direction direction>
    WARPSEAL_INLINE static V last_round(V s, V k) {
        return direction == Direction::encrypt ? W::encrypt_last(s, k) : W::decrypt_last(s, k);
    }
};

}  // namespace
}  // namespace warpseal::cpu
