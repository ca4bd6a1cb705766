// Keccak-f[1600] over one state or many, and padding for SHA3-256 and SHAKE256 (FIPS 202).
#pragma once

#include "core/word.h"

namespace warpseal::kem {

namespace keccak {

inline constexpr int rounds = 24;
inline constexpr size_t rate = 136;  // of SHA3-256 and SHAKE256, both with a capacity of 512 bits
inline constexpr uint8_t sha3_suffix = 0x06, shake_suffix = 0x1f;

// Constants of iota, from their linear recurrence (FIPS 202, algorithms 5 and 6).
struct Constants {
    uint64_t of[rounds];
};
constexpr Constants round_constants() {
    Constants out{};
    uint32_t r = 1;  // eight-bit register of rc
    for (uint64_t& constant : out.of)
        for (int j = 0; j <= 6; ++j) {
            constant |= uint64_t{r & 1} << ((1 << j) - 1);
            r = r << 1 ^ (r >> 7) * 0x171;  // modulo x^8 + x^6 + x^5 + x^4 + 1
        }
    return out;
}
constexpr Constants constants = round_constants();
static_assert(constants.of[0] == 1 && constants.of[23] == 0x8000000080008008);

template <class Word>
WARPSEAL_INLINE Word rotate(const Word& x, int n) {
    return n == 0 ? x : Word((x << n) | (x >> (64 - n)));
}

// Rho and pi in one walk (FIPS 202, algorithms 2 and 3): lane (x, y) moves to (y, 2x + 3y) and is
// rotated by (t + 1)(t + 2) / 2.
template <int t, int x, int y, class Word>
WARPSEAL_INLINE void walk(Word (&to)[25], const Word (&from)[25]) {
    if constexpr (t < 24) {
        constexpr int next_x = y, next_y = (2 * x + 3 * y) % 5;
        to[next_x + 5 * next_y] = rotate(from[x + 5 * y], (t + 1) * (t + 2) / 2 % 64);
        walk<t + 1, next_x, next_y>(to, from);
    }
}

}  // namespace keccak

// Permutes a[x + 5y], with one state in each lane of Word. The caller passes keccak::constants:
// nvcc rejects a constexpr array read with a run-time index in device code.
template <class Word>
WARPSEAL_INLINE void keccak_f(Word (&a)[25], const uint64_t (&constants)[keccak::rounds]) {
    for (int round = 0; round < keccak::rounds; ++round) {
        Word c[5], b[25];
        WARPSEAL_UNROLL for (int x = 0; x < 5; ++x) c[x] =
            a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        WARPSEAL_UNROLL for (int x = 0; x < 5; ++x) {
            const Word d = c[(x + 4) % 5] ^ keccak::rotate(c[(x + 1) % 5], 1);
            WARPSEAL_UNROLL for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
        }
        b[0] = a[0];
        keccak::walk<0, 1, 0>(b, a);
        WARPSEAL_UNROLL for (int row = 0; row < 25; row += 5)
            WARPSEAL_UNROLL for (int i = 0; i < 5; ++i) a[row + i] =
                b[row + i] ^ (~b[row + (i + 1) % 5] & b[row + (i + 2) % 5]);
        a[0] ^= constants[round];
    }
}

// Returns the size in bytes of a message with its padding, a multiple of the rate.
WARPSEAL_INLINE constexpr size_t padded_bytes(size_t bytes) {
    return (bytes / keccak::rate + 1) * keccak::rate;
}

// Writes the padding (suffix bits, then 10*1) after a message in a buffer of padded_bytes(bytes).
WARPSEAL_INLINE void pad(uint8_t* message, size_t bytes, uint8_t suffix) {
    memset(message + bytes, 0, padded_bytes(bytes) - bytes);
    message[bytes] = suffix;
    message[padded_bytes(bytes) - 1] |= 0x80;
}

}  // namespace warpseal::kem
