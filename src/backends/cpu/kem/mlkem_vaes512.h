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

struct MlKemVaes512 {
    using Lanes = MlKemLanes<64, High512>;
    using KeccakWord = VectorOf<uint64_t, 64>;
    static int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
        return kem::mlkem::append_below_q(at, have, in, bytes);
    }
};

}  // namespace
}  // namespace warpseal::cpu
