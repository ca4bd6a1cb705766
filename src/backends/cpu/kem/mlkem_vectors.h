// Vectors of 16-bit numbers for ML-KEM's polynomials, for every length of vector.
#pragma once

#include "backends/cpu/representations/transpose.h"
#include "backends/cpu/representations/vector.h"
#include "core/word.h"

namespace warpseal::cpu {
namespace {

// `High` has multiply_high. See kem/mlkem.h.
template <size_t bytes, class High>
struct MlKemLanes : High {
    using Vector = VectorOf<int16_t, bytes>;
    using Unsigned = VectorOf<uint16_t, bytes>;
    static constexpr int lanes = bytes / 2, row = lanes < 16 ? lanes : 16, polys = lanes / row;

    WARPSEAL_INLINE static Vector load(const int16_t* at) {
        Vector v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    WARPSEAL_INLINE static void store(int16_t* at, const Vector& v) { memcpy(at, &v, sizeof v); }
    WARPSEAL_INLINE static Vector load_rows(const int16_t* a, const int16_t* b) {
        if constexpr (polys == 1) return load(a);
        Vector v;
        memcpy(&v, a, 2 * row);
        memcpy(reinterpret_cast<uint8_t*>(&v) + bytes - 2 * row, b, 2 * row);
        return v;
    }
    WARPSEAL_INLINE static void store_rows(int16_t* a, int16_t* b, const Vector& v) {
        memcpy(a, &v, 2 * row);
        if constexpr (polys == 2)
            memcpy(b, reinterpret_cast<const uint8_t*>(&v) + bytes - 2 * row, 2 * row);
    }
    WARPSEAL_INLINE static VectorOf<uint32_t, bytes> widen(const uint8_t* in) {
        VectorOf<uint8_t, bytes / 4> some;
        memcpy(&some, in, sizeof some);
        return __builtin_convertvector(some, VectorOf<uint32_t, bytes>);
    }
    // Transposes 8 x 8 numbers in each 16 bytes. Rows of 16 are 2 x 2 of these, which then move.
    WARPSEAL_INLINE static void transpose(Vector* v) {
        for (int i = 0; i < row; i += 8)
            Transpose<Vector, 8>::run(*reinterpret_cast<Vector(*)[8]>(v + i));
        if constexpr (row == 16) WARPSEAL_UNROLL for (int i = 0; i < 8; ++i) {
                using Halves = VectorOf<uint64_t, bytes>;
                const auto low = (Halves)v[i], high = (Halves)v[i + 8];
                if constexpr (polys == 1) {
                    v[i] = (Vector)__builtin_shufflevector(low, high, 0, 1, 4, 5);
                    v[i + 8] = (Vector)__builtin_shufflevector(low, high, 2, 3, 6, 7);
                } else {
                    v[i] = (Vector)__builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
                    v[i + 8] =
                        (Vector)__builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
                }
            }
    }
};

}  // namespace
}  // namespace warpseal::cpu
