// ML-KEM on AVX-512: two polynomials at a time, and eight Keccak states.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kem/mlkem_vectors.h"
#include "kem/mlkem_bytes.h"

namespace warpseal::cpu {
namespace {

struct High512 {
    WARPSEAL_INLINE static VectorOf<int16_t, 64> multiply_high(const VectorOf<int16_t, 64>& a,
                                                               const VectorOf<int16_t, 64>& b) {
        return (VectorOf<int16_t, 64>)_mm512_mulhi_epi16((__m512i)a, (__m512i)b);
    }
};

// Bytes of a vector and shifts that bring number i of d bits to 16-bit lane i, and bytes that bring
// them back.
template <int d>
struct BitOrder {
    alignas(64) uint8_t bytes[64], packed[64];
    alignas(64) uint16_t shifts[32];
};
template <int d>
constexpr BitOrder<d> make_bit_order() {
    BitOrder<d> out{};
    for (int i = 0; i < 32; ++i) {
        out.bytes[2 * i] = static_cast<uint8_t>(i * d / 8);
        out.bytes[2 * i + 1] = static_cast<uint8_t>(i * d / 8 + 1);
        out.shifts[i] = static_cast<uint16_t>(i * d % 8);
    }
    // Four numbers lie in d / 2 bytes of each 64-bit lane.
    for (int i = 0; i < 4 * d; ++i)
        out.packed[i] = static_cast<uint8_t>(i / (d / 2) * 8 + i % (d / 2));
    return out;
}
template <int d>
constexpr BitOrder<d> bit_order = make_bit_order<d>();

struct MlKemVaes512 {
    using Lanes = MlKemLanes<64, High512>;
    using KeccakWord = VectorOf<uint64_t, 64>;

    template <int d>
    static void encode(uint8_t* out, const int16_t* at) {
        if constexpr (d % 2 == 0) {
            for (int i = 0; i < kem::mlkem::n; i += 32, out += 4 * d) {
                const __m512i pairs = _mm512_madd_epi16(_mm512_loadu_si512(at + i),
                                                        _mm512_set1_epi32(1 | 1 << (16 + d)));
                const auto words = (VectorOf<uint64_t, 64>)pairs;
                const auto fours = (__m512i)((words & mask(2 * d)) | words >> 32 << 2 * d);
                _mm512_mask_storeu_epi8(out, mask(4 * d), permuted(bit_order<d>.packed, fours));
            }
        } else {
            kem::mlkem::encode<d>(out, at);
        }
    }
    template <int d>
    static void decode(int16_t* at, const uint8_t* in) {
        if constexpr (d == 11) {
            kem::mlkem::decode<d>(at, in);
        } else {
            for (int i = 0; i < kem::mlkem::n; i += 32, in += 4 * d)
                _mm512_storeu_si512(at + i, numbers<d>(in, 4 * d));
        }
    }
    static void add_message(kem::mlkem::Poly& a, const uint8_t* message) {
        const __m512i half = _mm512_set1_epi16((kem::mlkem::q + 1) / 2);
        for (int i = 0; i < kem::mlkem::n; i += 32) {
            uint32_t bits;
            memcpy(&bits, message + i / 8, sizeof bits);
            const __m512i v = _mm512_loadu_si512(a.at + i);
            _mm512_storeu_si512(a.at + i, _mm512_mask_add_epi16(v, bits, v, half));
        }
    }
    // Stores nothing past 256 numbers. The kept ones are public.
    static int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
        for (int i = 0; i < bytes && have < kem::mlkem::n; i += 48) {
            const int some = bytes - i < 48 ? bytes - i : 48;
            const __m512i candidates = numbers<12>(in + i, some);
            const __mmask32 below =
                _mm512_mask_cmplt_epu16_mask(static_cast<__mmask32>(mask(some / 3 * 2)), candidates,
                                             _mm512_set1_epi16(kem::mlkem::q));
            const int found = __builtin_popcount(below), room = kem::mlkem::n - have,
                      stored = found < room ? found : room;
            _mm512_mask_storeu_epi16(at + have, static_cast<__mmask32>(mask(stored)),
                                     _mm512_maskz_compress_epi16(below, candidates));
            have += stored;
        }
        return have;
    }

private:
    WARPSEAL_INLINE static uint64_t mask(int lanes) { return (uint64_t{1} << lanes) - 1; }
    // Masked, because gcc 12 warns of the other form.
    WARPSEAL_INLINE static __m512i permuted(const uint8_t* order, __m512i v) {
        return _mm512_maskz_permutexvar_epi8(~uint64_t{0}, _mm512_load_si512(order), v);
    }
    // Numbers of d bits, each within 16 bits from the start of a byte.
    template <int d>
    WARPSEAL_INLINE static __m512i numbers(const uint8_t* in, int bytes) {
        const __m512i pairs =
            permuted(bit_order<d>.bytes, _mm512_maskz_loadu_epi8(mask(bytes), in));
        return _mm512_and_si512(_mm512_srlv_epi16(pairs, _mm512_load_si512(bit_order<d>.shifts)),
                                _mm512_set1_epi16((1 << d) - 1));
    }
};

}  // namespace
}  // namespace warpseal::cpu
