// ML-KEM on AVX2: one polynomial at a time, and four Keccak states.
#pragma once

#include <immintrin.h>

#include "backends/cpu/kem/mlkem_vectors.h"
#include "kem/mlkem_bytes.h"

namespace warpseal::cpu {
namespace {

struct High256 {
    WARPSEAL_INLINE static VectorOf<int16_t, 32> multiply_high(const VectorOf<int16_t, 32>& a,
                                                               const VectorOf<int16_t, 32>& b) {
        return (VectorOf<int16_t, 32>)_mm256_mulhi_epi16((__m256i)a, (__m256i)b);
    }
};

struct MlKemAvx2 {
    using Lanes = MlKemLanes<32, High256>;
    using KeccakWord = VectorOf<uint64_t, 32>;
    static int append_below_q(int16_t* at, int have, const uint8_t* in, int bytes) {
        return kem::mlkem::append_below_q(at, have, in, bytes);
    }
};

}  // namespace
}  // namespace warpseal::cpu
