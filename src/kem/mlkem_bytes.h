// ML-KEM's polynomials as bytes (FIPS 203, algorithms 3 to 8): encodings, noise and messages.
#pragma once

#include "kem/mlkem.h"

namespace warpseal::kem::mlkem {

// Hides a value from the compiler, which could make a branch of a secret bit.
template <class Word>
WARPSEAL_INLINE Word opaque(Word x) {
    __asm__("" : "+r"(x));
    return x;
}

// Groups of eight coefficients of d bits are d bytes: ByteEncode_d (algorithm 5).
template <int d>
WARPSEAL_INLINE void encode(uint8_t* out, const int16_t* at) {
    for (int i = 0; i < n; i += 8, at += 8, out += d) {
        uint64_t low = 0, high = 0;  // 64 bits, and what exceeds them
        WARPSEAL_UNROLL for (int j = 0; j < 8; ++j) {
            const auto x = static_cast<uint64_t>(static_cast<uint16_t>(at[j]));
            if (j * d < 64) low |= x << (j * d % 64);
            if ((j + 1) * d > 64) high |= j * d < 64 ? x >> (64 - j * d) % 64 : x << (j * d - 64);
        }
        memcpy(out, &low, d < 8 ? d : 8);
        if constexpr (d > 8) memcpy(out + 8, &high, d - 8);
    }
}

// ByteDecode_d without reduction (algorithm 6).
template <int d>
WARPSEAL_INLINE void decode(int16_t* at, const uint8_t* in) {
    for (int i = 0; i < n; i += 8, at += 8, in += d) {
        uint64_t low = 0, high = 0;
        memcpy(&low, in, d < 8 ? d : 8);
        if constexpr (d > 8) memcpy(&high, in + 8, d - 8);
        WARPSEAL_UNROLL for (int j = 0; j < 8; ++j) {
            uint64_t x = j * d < 64 ? low >> (j * d % 64) : high >> (j * d - 64);
            if (j * d < 64 && (j + 1) * d > 64) x |= high << (64 - j * d) % 64;
            at[j] = static_cast<int16_t>(x & ((1 << d) - 1));
        }
    }
}

// Returns 1 if a coefficient is q or more, else 0. The polynomial is public.
template <class Lanes>
WARPSEAL_INLINE uint32_t exceeds_modulus(const Poly& a) {
    typename Lanes::Vector most{};
    for (int i = 0; i < n; i += Lanes::lanes) most |= (q - 1 - Lanes::load(a.at + i)) >> 15;
    int16_t lane[Lanes::lanes], any = 0;
    Lanes::store(lane, most);
    for (const int16_t one : lane) any = static_cast<int16_t>(any | one);
    return static_cast<uint32_t>(any & 1);
}

// SamplePolyCBD_eta of 64 eta bytes (algorithm 8).
template <class Lanes, int eta>
WARPSEAL_INLINE void sample_noise(Poly& a, const uint8_t* in) {
    if constexpr (eta == 2) {
        // A byte holds two coefficients, whose bits two 16-bit numbers receive.
        for (int i = 0; i < n; i += Lanes::lanes) {
            auto bits = Lanes::widen(in + i / 2);
            bits = (bits | bits << 12) & 0x000f000f;
            const auto sums =
                (typename Lanes::Vector)((bits & 0x00050005) + (bits >> 1 & 0x00050005));
            Lanes::store(a.at + i, (sums & 3) - (sums >> 2));
        }
    } else {
        static_assert(eta == 3);
        for (int i = 0; i < n; i += 4, in += 3) {
            const uint32_t bits =
                in[0] | static_cast<uint32_t>(in[1]) << 8 | static_cast<uint32_t>(in[2]) << 16;
            const uint32_t sums =
                (bits & 0x249249) + (bits >> 1 & 0x249249) + (bits >> 2 & 0x249249);
            WARPSEAL_UNROLL for (int j = 0; j < 4; ++j) a.at[i + j] = static_cast<int16_t>(
                static_cast<int>(sums >> (6 * j) & 7) - static_cast<int>(sums >> (6 * j + 3) & 7));
        }
    }
}

// Adds Decompress_1 of the message: 1665 for a bit that is set.
WARPSEAL_INLINE void add_message(Poly& a, const uint8_t* message) {
    for (int i = 0; i < n; i += 8) {
        const uint32_t byte = opaque(static_cast<uint32_t>(message[i / 8]));
        WARPSEAL_UNROLL for (int j = 0; j < 8; ++j) a.at[i + j] =
            static_cast<int16_t>(a.at[i + j] + static_cast<int>((byte >> j & 1) * ((q + 1) / 2)));
    }
}

// SampleNTT's rejection (algorithm 7), on `bytes` public bytes, a multiple of 3. Appends to
// `have` numbers until there are 256, and returns how many there are.
WARPSEAL_INLINE int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
    for (int i = 0; i < bytes && have < n; i += 3) {
        const int first = in[i] | (in[i + 1] & 15) << 8, second = in[i + 1] >> 4 | in[i + 2] << 4;
        at[have] = static_cast<int16_t>(first);
        have += first < q ? 1 : 0;
        if (have == n) break;
        at[have] = static_cast<int16_t>(second);
        have += second < q ? 1 : 0;
    }
    return have;
}

}  // namespace warpseal::kem::mlkem
