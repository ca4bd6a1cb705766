// Polynomials modulo x^n - 1 in one warp: bytes in shared memory, products as int8 matrix products
// on tensor cores.
#pragma once

#include "backends/cuda/kem/warp.cuh"
#include "kem/params.h"

namespace warpseal::cuda::ntru {

// A band holds one byte of each coefficient: the whole coefficient if it is small, else its low or
// high byte. It is periodic: byte i belongs to coefficient i mod n, from `behind` bytes before the
// pointer to `ahead` bytes after it. The code that writes a band determines how much of that range
// is valid.
//
// A product is a matrix product of Hankel tiles. With a constant s and any n consecutive values of
// m:
// c[8 u + v] = sum over m of a[8 u + m - s] b[v + s - m].
// There are 8 columns v, a row u for each 8 coefficients of c, and a step for each 32 values of m.
// A row tile is 16 rows. 8 u + m is the same 16 rows on and 128 values of m back, so tiles of a
// along a diagonal are equal. A lane therefore loads two words in each step, for all row tiles.
template <int degree>
struct Ring {
    static constexpr int n = degree;
    static constexpr int row_tiles = (n + 127) / 128, steps = (n + 31) / 32;
    static constexpr int shift = 32 * steps - 8;  // the constant s
    // Number of leading values of m to mask, as they would be counted twice.
    static constexpr int masked = 32 * steps - n;
    // Coefficients of a product; those from n on repeat the first ones.
    static constexpr int covered = 128 * row_tiles;
    static constexpr int sums = 4 * row_tiles;  // number of coefficients in a lane
    static constexpr int behind = 32 * steps;   // a is read from -n + 8, b from -8
    // a is read to `covered`, b to n.
    static constexpr int ahead = covered > 32 * steps + 16 ? covered : 32 * steps + 16;
    static constexpr int band_bytes = behind + ahead;

    static_assert(n % 4 == 1, "copies of a period are one byte off words");
    static_assert(covered - (n - 1) <= 4 * 32,
                  "a warp has a word each for what follows the period");
    // The largest sum, of at most three products of unsigned bytes, does not overflow an
    // accumulator.
    static_assert(3 * int64_t{n} * 255 * 255 < int64_t{1} << 31);
};

// Coefficients of a product in a lane: value[k] is coefficient 64 (k / 2) + 2 lane + k % 2.
template <class R>
struct Sums {
    int32_t value[R::sums] = {};
};

// Interpretation of bytes: natural is unsigned, integer is signed.
enum class Bytes { natural, integer };

// Multiplies a 16 x 32 matrix by a 32 x 8 matrix. A host test supplies its own implementation.
#ifdef __CUDACC__
template <Bytes a_kind, Bytes b_kind>
__device__ __forceinline__ void multiply_tile(int32_t* c, uint32_t a0, uint32_t a1, uint32_t a2,
                                              uint32_t a3, uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
#define WARPSEAL_TILE(types)                                                   \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." types                         \
        ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                       \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
#else  // same fragments, a quarter at a time
#define WARPSEAL_QUARTER(types, c, a, b)                                                     \
    asm("mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
        : "+r"((c)[0]), "+r"((c)[1])                                                         \
        : "r"(a), "r"(b))
#define WARPSEAL_TILE(types)                \
    WARPSEAL_QUARTER(types, c, a0, b0);     \
    WARPSEAL_QUARTER(types, c, a2, b1);     \
    WARPSEAL_QUARTER(types, c + 2, a1, b0); \
    WARPSEAL_QUARTER(types, c + 2, a3, b1)
#endif
    if constexpr (a_kind == Bytes::natural && b_kind == Bytes::natural) {
        WARPSEAL_TILE("u8.u8");
    }
    if constexpr (a_kind == Bytes::integer && b_kind == Bytes::natural) {
        WARPSEAL_TILE("s8.u8");
    }
    if constexpr (a_kind == Bytes::integer && b_kind == Bytes::integer) {
        WARPSEAL_TILE("s8.s8");
    }
#undef WARPSEAL_TILE
#undef WARPSEAL_QUARTER
}
#else
template <Bytes a_kind, Bytes b_kind>
void multiply_tile(int32_t* c, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                   uint32_t b1);
#endif

// Computes c += a b with a whole warp. a must be valid from -n + 8 to `covered`, b from -8 to n.
// The barrier also keeps the compiler from holding all words of a factor in registers between
// products, which would spill.
template <class R, Bytes a_kind, Bytes b_kind>
__device__ __forceinline__ void multiply_add(Sums<R>& c, const uint8_t* a, const uint8_t* b) {
    __syncwarp();
    // PTX ISA, "Matrix fragments for mma.m16n8k32": lane 4 g + t holds bytes 4 t to 4 t + 3, and
    // those 16 further right, of rows g and g + 8 of a and of column g of b.
    const int g = static_cast<int>(lane_id() / 4), t = static_cast<int>(lane_id() % 4);
    a += 8 * g + 4 * t - R::shift;
    // The bytes of b descend from v + s - m. They come from two words, by a byte permutation that
    // depends on g.
    b += R::shift - 4 * t + (g + 1) / 4 * 4 - 4;
    const uint32_t first = static_cast<uint32_t>((g + 1) % 4),
                   backwards = 0x0123u + 0x1111u * first;
    auto column = [&](int m) { return __byte_perm(word_at(b - m), word_at(b - m + 4), backwards); };
    auto mask = [&](int m) {
        const int gone = R::masked - (m + 4 * t);
        return gone <= 0 ? 0xffffffffu : gone >= 4 ? 0u : 0xffffffffu << (8 * gone);
    };

    constexpr int diagonals = 8 * (R::row_tiles - 1) + 4;  // words that a step shares with the next
    uint32_t z[diagonals + 8];
#pragma unroll
    for (int k = 0; k < diagonals; ++k) z[k] = word_at(a + 16 * k);
    auto step = [&](int j, int k, uint32_t b0, uint32_t b1) {
        z[diagonals + 2 * k] = word_at(a + 32 * j + 16 * diagonals);
        z[diagonals + 2 * k + 1] = word_at(a + 32 * j + 16 * diagonals + 16);
#pragma unroll
        for (int i = 0; i < R::row_tiles; ++i) {
            const uint32_t* w = z + 8 * i + 2 * k;
            multiply_tile<a_kind, b_kind>(c.value + 4 * i, w[0], w[4], w[1], w[5], b0, b1);
        }
    };
    auto four_steps = [&](int j, int count) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (k < count) {
                uint32_t b0 = column(32 * (j + k)), b1 = column(32 * (j + k) + 16);
                if (j + k == 0) b0 &= mask(0), b1 &= mask(16);
                step(j + k, k, b0, b1);
            }
#pragma unroll
        for (int k = 0; k < diagonals; ++k) z[k] = z[k + 8];
    };
#pragma unroll
    for (int j = 0; j + 4 <= R::steps; j += 4) four_steps(j, 4);
    if constexpr (R::steps % 4 != 0) four_steps(R::steps / 4 * 4, R::steps % 4);
}

// Fills the previous period: bytes -n + 1 to -1 from bytes 1 to n - 1. The warp must synchronize
// before and after.
template <class R>
__device__ __forceinline__ void extend_behind(uint8_t* band) {
#pragma unroll
    for (int first = -(R::n - 1); first < 0; first += 128) {
        const int i = first + 4 * static_cast<int>(lane_id());
        if (i < 0)
            put_word(band + i, __byte_perm(word_at(band + i + R::n - 1),
                                           word_at(band + i + R::n + 3), 0x4321));
    }
}

// Fills the bytes of the previous period that a right factor needs.
template <class R>
__device__ __forceinline__ void extend_factor(uint8_t* band) {
    const int i = 4 * static_cast<int>(lane_id()) - 8;
    if (i < 0)
        put_word(band + i,
                 __byte_perm(word_at(band + i + R::n - 1), word_at(band + i + R::n + 3), 0x4321));
}

// Fills the next period, up to `covered`. The bytes before 0 must be valid.
template <class R>
__device__ __forceinline__ void extend_ahead(uint8_t* band) {
    const int i = R::n - 1 + 4 * static_cast<int>(lane_id());
    if (i < R::covered)
        put_word(band + i,
                 __byte_perm(word_at(band + i - R::n - 3), word_at(band + i - R::n + 1), 0x6543));
}

}  // namespace warpseal::cuda::ntru
