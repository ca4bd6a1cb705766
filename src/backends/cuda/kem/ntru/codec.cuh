// NTRU byte strings and the bands of a warp: bits at any alignment, base 3, and coefficients modulo
// q (specification, section 1.8).
#pragma once

#include "backends/cuda/kem/ntru/ring.cuh"

namespace warpseal::cuda::ntru {

using kem::Family;
using kem::Params;

// Returns the parameter set with this n. Kernels are templates over n, because nvcc cannot name a
// kernel with a reference parameter.
constexpr const Params& set_of(int n) {
    int i = 0;
    while (kem::sets[i]->n != n) ++i;
    return *kem::sets[i];
}

__device__ __forceinline__ uint32_t warp_sum(uint32_t x) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
    return x;
}

// Returns x modulo 3 for 16-bit x. 43691 / 2^17 exceeds 1/3 by less than 2^-17 / 3, which is too
// small to change the quotient.
__device__ __forceinline__ uint32_t mod3(uint32_t x) { return x - 3 * (x * 43691 >> 17); }
static_assert(uint64_t{65535} * 43691 < uint64_t{1} << 32);

// Converts four ternary coefficients from digits to trits. Digits are 0, 1, 2; trits are 0, 1, -1.
__device__ __forceinline__ uint32_t trits_of(uint32_t digits) {
    return digits + (digits >> 1 & 0x01010101u) * 0xfd;
}

// Calls f(i) for each word of the first n - 1 coefficients, distributed over the warp. i is the
// word's first coefficient, a multiple of 4.
template <class R, class F>
__device__ __forceinline__ void each_word(const F& f) {
#pragma unroll
    for (int first = 0; first < R::n - 1; first += 128) {
        const int i = first + 4 * static_cast<int>(lane_id());
        if (i < R::n - 1) f(i);
    }
}

template <class R>
__device__ __forceinline__ void digits_to_trits(uint8_t* band) {
    each_word<R>([&](int i) { put_word(band + i, trits_of(word_at(band + i))); });
}

// Packs five digits into each byte. Ignores coefficient n - 1 and the bytes after it.
template <const Params& set>
__device__ __forceinline__ void pack_ternary(uint8_t* out, const uint8_t* digits) {
    for (uint32_t k = lane_id(); k < set.ternary_bytes(); k += 32) {
        uint32_t byte = 0;
#pragma unroll
        for (int j = 4; j >= 0; --j)
            byte = 3 * byte + (5 * k + j < set.n - 1 ? digits[5 * k + j] : 0);
        out[k] = static_cast<uint8_t>(byte);
    }
}

// Unpacks digits; coefficient n - 1 is zero. Quotients by 3, 9, 27 and 81 are multiplications,
// exact below 256. A fifth digit of 3 counts as 0.
template <const Params& set>
__device__ __forceinline__ void unpack_ternary(uint8_t* digits, const uint8_t* in) {
    for (uint32_t k = lane_id(); k < set.ternary_bytes(); k += 32) {
        const uint32_t byte = in[k];
        const uint32_t quotient[5] = {byte, byte * 171 >> 9, byte * 57 >> 9, byte * 19 >> 9,
                                      byte * 203 >> 14};
#pragma unroll
        for (int j = 0; j < 5; ++j)
            if (5 * k + j < set.n - 1) digits[5 * k + j] = static_cast<uint8_t>(mod3(quotient[j]));
    }
    if (lane_id() == 0) digits[set.n - 1] = 0;
}

// Stores four 16-bit numbers as bytes of two bands.
__device__ __forceinline__ void put_four(uint8_t* low, uint8_t* high, const uint32_t (&c)[4]) {
    const uint32_t first = c[0] | c[1] << 16, second = c[2] | c[3] << 16;
    put_word(low, __byte_perm(first, second, 0x6420));
    put_word(high, __byte_perm(first, second, 0x7531));
}

// Coefficient n - 1, which the string modulo q does not contain. It is zero (Sq), or minus the sum
// of the others (Rq: the polynomial is zero at 1).
enum class Last { zero, balances };

template <const Params& set, Last last>
__device__ __forceinline__ void unpack_q(uint8_t* low, uint8_t* high, const StagedString& string) {
    constexpr uint32_t mask = set.q() - 1;
    uint32_t sum = 0;
    each_word<Ring<set.n>>([&](int i) {
        const uint64_t four = string.bits64(i * set.log_q);
        uint32_t c[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            c[k] = static_cast<uint32_t>(four >> (k * set.log_q)) & mask;
            sum += c[k];
        }
        put_four(low + i, high + i, c);
    });
    const uint32_t c = last == Last::zero ? 0 : (0 - warp_sum(sum)) & mask;
    if (lane_id() == 0) {
        low[set.n - 1] = static_cast<uint8_t>(c);
        high[set.n - 1] = static_cast<uint8_t>(c >> 8);
    }
}

// Packs coefficients 0 to n - 2 into words[1] and up. The three coefficients after those must be
// zero.
template <const Params& set>
__device__ __forceinline__ void pack_q(uint32_t* words, const uint16_t* coefficients) {
    for (uint32_t k = lane_id(); 4 * k < set.rq_bytes(); k += 32) {
        const uint32_t i = 32 * k / set.log_q;
        uint64_t four = 0;
#pragma unroll
        for (int j = 3; j >= 0; --j) four = four << set.log_q | coefficients[i + j];
        words[1 + k] = static_cast<uint32_t>(four >> (32 * k - i * set.log_q));
    }
}

}  // namespace warpseal::cuda::ntru
