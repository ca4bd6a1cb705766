// ML-KEM on the portable target: 128-bit vectors, which every x86-64 CPU has, and one Keccak state.
#pragma once

#include <emmintrin.h>

#include "backends/cpu/kem/mlkem_vectors.h"
#include "kem/mlkem_bytes.h"

namespace warpseal::cpu {
namespace {

struct High128 {
    WARPSEAL_INLINE static VectorOf<int16_t, 16> multiply_high(const VectorOf<int16_t, 16>& a,
                                                               const VectorOf<int16_t, 16>& b) {
        return (VectorOf<int16_t, 16>)_mm_mulhi_epi16((__m128i)a, (__m128i)b);
    }
};

struct MlKemPortable {
    using Lanes = MlKemLanes<16, High128>;
    using KeccakWord = uint64_t;
    template <int d>
    static void encode(uint8_t* out, const int16_t* at) {
        kem::mlkem::encode<d>(out, at);
    }
    template <int d>
    static void decode(int16_t* at, const uint8_t* in) {
        kem::mlkem::decode<d>(at, in);
    }
    static void add_message(kem::mlkem::Poly& a, const uint8_t* message) {
        kem::mlkem::add_message(a, message);
    }
    static int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
        return kem::mlkem::append_below_q(at, have, in, bytes);
    }
};

}  // namespace
}  // namespace warpseal::cpu
