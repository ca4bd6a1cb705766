// GHASH on tensor cores: GF(2^128) products as binary matrix products, the blocks of a segment by
// the bits of powers of H (SP 800-38D 6.4).
#pragma once

#include "backends/cuda/device/ghash_field.cuh"

namespace warpseal::cuda {

// Blocks in a strip. A segment is a whole number of consecutive strips. One matrix multiplies a
// strip; Horner's rule combines strips.
inline constexpr uint32_t strip_blocks = 64;

// Eight segments are the 16 rows of a matrix; 32 bits of a row are one word of a block. A quad of
// lanes holds four consecutive blocks of its segment, in the layout in which they were loaded.
// PTX ISA, "Matrix fragments for mma.m16n8k256" and "wgmma.m64nNk256": lane 4 r + t holds bits 32 t
// to 32 t + 31, and those 128 further right, of rows r and r + 8. So words 0 and 2 of a block lie
// in row r and words 1 and 3 in row r + 8. Row r + 8 is multiplied by the same matrix, and by x^32
// at the end: the GHASH value is row r + x^32 row (r + 8).
//
// The other matrix is an image in shared memory: steps of 256 x 128 bits. The last step multiplies
// the GHASH accumulator by the power of H for a whole strip. A step consists of 16 x 2 core
// matrices of 8 columns and 128 bits, in which the bits of a column are adjacent.
namespace image {

inline constexpr int steps = strip_blocks / 4 + 1, sum_step = steps - 1;
inline constexpr uint32_t step_bytes = 4096, bytes = steps * step_bytes;

// Returns the power of H for the block of lane t in a step. A quad holds blocks 4 step to 4 step +
// 3 of the strip.
WARPSEAL_INLINE constexpr uint32_t exponent(int step, int t) {
    return step == sum_step ? strip_blocks : strip_blocks - 1 - (4 * step + t);
}

// Number of warps that write the image. A warp writes 128 words: those of one step, one lane t of
// the quad, and one half of a row's bits.
inline constexpr int warps = steps * 8;
WARPSEAL_INLINE constexpr uint32_t word_at(int step, int half, int t, int column) {
    return (step * step_bytes + column / 8 * 256 + half * 128 + column % 8 * 16 + t * 4) / 4;
}

// Returns the exponent of x for bit `bit` of word `word` of a block.
WARPSEAL_INLINE constexpr int coefficient(int word, int bit) {
    return 32 * word + bit / 8 * 8 + 7 - bit % 8;
}

WARPSEAL_INLINE constexpr Element monomial(int exponent) {
    Element e;
    e.word[3 - exponent / 32] = 0x80000000u >> (exponent % 32);
    return e;
}

// Column 8 j + 2 t + e of a product is bit 2 j + e of word t of the result. A lane's own counts
// thus give one word.
WARPSEAL_INLINE constexpr uint32_t bit_of_column(const Block<4>& b, int column) {
    return b.word[column % 8 / 2] >> (column / 8 * 2 + column % 2) & 1;
}

// Contribution of a bit of a row: that bit of a block, or of the GHASH accumulator, times its power
// of H.
WARPSEAL_INLINE Block<4> row(const Element& power, int step, int half, int t, int bit) {
    if (step == sum_step && half == 1) return {};
    return macs::ghash::to_block(
        multiply(monomial(coefficient(step == sum_step ? t : 2 * half, bit)), multiplier(power)));
}

}  // namespace image

WARPSEAL_INLINE Element times_x32(const Element& a) {
    const uint32_t v = a.word[0];
    Element b;
    b.word[0] = a.word[1];
    b.word[1] = a.word[2];
    b.word[2] = a.word[3] ^ v << 31 ^ v << 30 ^ v << 25;
    b.word[3] = v ^ v >> 1 ^ v >> 2 ^ v >> 7;
    return b;
}

#ifdef __CUDACC__

// True if four warps share a multiplication (wgmma, 9.0). Otherwise each warp multiplies by itself
// (mma, from 8.0).
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool warps_multiply_together = true;
#else
inline constexpr bool warps_multiply_together = false;
#endif

// The matrix image in shared memory. All threads of the block have written to it.
class Matrix {
public:
    __device__ __forceinline__ explicit Matrix(const unsigned char* image) : image_(image) {
        // Core matrices are 128 bytes apart along a column's bits and 256 bytes apart along the
        // columns. PTX ISA, "Matrix descriptor", no swizzling.
        const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(image));
        descriptor_ = uint64_t{address >> 4} | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
    }
    // Each thread that wrote to the image calls this before the barrier that precedes the
    // construction of Matrix.
    __device__ static void written() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }

    __device__ __forceinline__ static void begin() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
    }
    __device__ __forceinline__ static void end() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
#endif
    }

    // Adds to d the number of ones in each row of `a` AND each column of a step.
    __device__ __forceinline__ void multiply(uint32_t (&d)[64], const Block<4>& a, int step) const {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
            "{%64, %65, %66, %67}, %68, 1;"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
              "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]),
              "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]),
              "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
              "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]),
              "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]),
              "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]),
              "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
              "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]),
              "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]),
              "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
            : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
              "l"(descriptor_ + step * (image::step_bytes >> 4)));
#else
        const auto* words =
            reinterpret_cast<const uint32_t*>(image_ + step * image::step_bytes) + threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            uint32_t* c = d + 4 * j;
#if __CUDA_ARCH__ >= 800
            asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, "
                "%5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
                  "r"(words[64 * j]), "r"(words[64 * j + 32]));
#endif
        }
#endif
    }

private:
    const unsigned char* image_;
    uint64_t descriptor_;
};

// The GHASH value of a segment, distributed over a quad of lanes: each lane has one word of both
// rows.
struct RowSums {
    uint32_t word[2] = {};
};

// Computes the GHASH value of a segment. load(i) returns its block i, or zero if there is none.
// Called by all lanes of four warps.
template <class Load>
__device__ __forceinline__ RowSums reduce_segment(const Matrix& matrix, uint32_t blocks,
                                                  const Load& load) {
    constexpr int groups = strip_blocks / 16;  // of four steps; loads are one group ahead
    const uint32_t t = threadIdx.x % 4;
    RowSums sum;
    Block<4> group[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) group[0][i] = load(4 * i + t);
#pragma unroll 1
    for (uint32_t first = 0; first < blocks; first += strip_blocks) {
        uint32_t d[64] = {};
#pragma unroll
        for (int g = 0; g < groups; ++g) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                group[(g + 1) % 2][i] = load(first + 16 * (g + 1) + 4 * i + t);
            Matrix::begin();
            if (g == 0) matrix.multiply(d, {{sum.word[0], sum.word[1], 0, 0}}, image::sum_step);
#pragma unroll
            for (int i = 0; i < 4; ++i) matrix.multiply(d, group[g % 2][i], 4 * g + i);
            Matrix::end();
        }
        // The lowest bit of each count is the column's parity.
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
            for (int bit = 0; bit < 32; ++bit)
                sum.word[i] = __funnelshift_r(sum.word[i], d[bit / 2 * 4 + 2 * i + bit % 2], 1);
    }
    return sum;
}

// Returns the segment's GHASH value in each lane of a quad.
__device__ __forceinline__ Element join_rows(const RowSums& sum) {
    Block<4> row[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int t = 0; t < 4; ++t) row[i].word[t] = __shfl_sync(0xffffffffu, sum.word[i], t, 4);
    return macs::ghash::from_block<uint32_t>(row[0]) ^
           times_x32(macs::ghash::from_block<uint32_t>(row[1]));
}

#endif

}  // namespace warpseal::cuda
