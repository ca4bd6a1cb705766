// Included before every source of a build with MemorySanitizer, which instruments clang's
// intermediate code and does not know all instructions. Gives it expressions that it follows
// exactly for instructions whose secret operands it would report, and leaves out the barriers
// whose secret operands it would report too.
#pragma once

#include <immintrin.h>
#if __has_include(<sanitizer/msan_interface.h>)  // gcc has none
#include <sanitizer/msan_interface.h>
#endif

#include <cstdint>

// The proofs of tables and circuits take clang a third of the time. The release build has them.
#define static_assert(...) static_assert(true)

// ML-KEM's key generation derives the public seed of the matrix from a secret one.
#define WARPSEAL_NOW_PUBLIC(memory, bytes) __msan_unpoison(memory, bytes)

// Barriers against the compiler are asm statements without instructions: `__asm__("" ...)` and
// `__asm__ __volatile__("" ...)`. Code with instructions says `__asm__ volatile`.
#define __asm__(...)
#define __volatile__(...) ("")

namespace warpseal::msan {

// The gate of two inputs with this truth table, in the order 00, 01, 10, 11 from the lowest bit.
template <int table, class Word>
__attribute__((always_inline)) inline Word gate(Word a, Word b) {
    const Word zero = a ^ a;
    if constexpr (table == 0) return zero;
    if constexpr (table == 1) return ~(a | b);
    if constexpr (table == 2) return ~a & b;
    if constexpr (table == 3) return ~a;
    if constexpr (table == 4) return a & ~b;
    if constexpr (table == 5) return ~b;
    if constexpr (table == 6) return a ^ b;
    if constexpr (table == 7) return ~(a & b);
    if constexpr (table == 8) return a & b;
    if constexpr (table == 9) return ~(a ^ b);
    if constexpr (table == 10) return b;
    if constexpr (table == 11) return ~a | b;
    if constexpr (table == 12) return a;
    if constexpr (table == 13) return a | ~b;
    if constexpr (table == 14) return a | b;
    if constexpr (table == 15) return ~zero;
}
// VPTERNLOG: bit 4 a + 2 b + c of the table.
template <int table, class Word>
__attribute__((always_inline)) inline Word ternary(Word a, Word b, Word c) {
    if constexpr (table == 0x96) return a ^ b ^ c;
    constexpr int low = (table & 1) | (table >> 1 & 2) | (table >> 2 & 4) | (table >> 3 & 8);
    constexpr int high = (table >> 1 & 1) | (table >> 2 & 2) | (table >> 3 & 4) | (table >> 4 & 8);
    return gate<low>(a, b) ^ (c & gate<low ^ high>(a, b));
}

// VGF2P8AFFINEQB: MemorySanitizer maps the marks by the same matrix, and two marked bits cancel
// each other. Here they make every bit of their byte a secret. The product with 0 is 0.
// VGF2P8AFFINEINVQB is that map after x^254 in the same field.
#define WARPSEAL_AFFINE(Word, prefix)                                                     \
    template <int constant>                                                               \
    __attribute__((always_inline)) inline Word affine(Word x, Word matrix) {              \
        typedef uint8_t Bytes __attribute__((vector_size(sizeof(Word))));                 \
        const auto zero = (Bytes)prefix##_gf2p8mul_epi8(x, Word{}) != 0;                  \
        return prefix##_gf2p8affine_epi64_epi8(x, matrix, constant) ^ (Word)zero;         \
    }                                                                                     \
    template <int constant>                                                               \
    __attribute__((always_inline)) inline Word affine_inverse(Word x, Word matrix) {      \
        const Word x2 = prefix##_gf2p8mul_epi8(x, x), x3 = prefix##_gf2p8mul_epi8(x2, x); \
        const Word x6 = prefix##_gf2p8mul_epi8(x3, x3);                                   \
        const Word x12 = prefix##_gf2p8mul_epi8(x6, x6);                                  \
        Word y = prefix##_gf2p8mul_epi8(x12, x3);                                         \
        for (int i = 0; i < 4; ++i) y = prefix##_gf2p8mul_epi8(y, y);                     \
        y = prefix##_gf2p8mul_epi8(prefix##_gf2p8mul_epi8(y, x12), x2);                   \
        return affine<constant>(y, matrix);                                               \
    }
#if defined(__GFNI__)
WARPSEAL_AFFINE(__m128i, _mm)
#if defined(__AVX__)
WARPSEAL_AFFINE(__m256i, _mm256)
#endif
#if defined(__AVX512F__)
WARPSEAL_AFFINE(__m512i, _mm512)
#endif
#endif
#undef WARPSEAL_AFFINE

#if defined(__AVX512VBMI__)
// VPERMI2B, whose index may be secret: reads all 128 entries.
__attribute__((noinline)) inline __m512i lookup(__m512i low, __m512i index, __m512i high) {
    typedef uint8_t Bytes __attribute__((vector_size(64)));
    const Bytes at = (Bytes)index & 127;
    Bytes out{};
    for (int i = 0; i < 128; ++i)
        out |= (Bytes)(at == static_cast<uint8_t>(i)) & (i < 64 ? (Bytes)low : (Bytes)high)[i % 64];
    return (__m512i)out;
}
#endif

}  // namespace warpseal::msan

#undef _mm_ternarylogic_epi64
#undef _mm512_ternarylogic_epi64
#define _mm_ternarylogic_epi64(a, b, c, table) warpseal::msan::ternary<table>(a, b, c)
#define _mm512_ternarylogic_epi64(a, b, c, table) warpseal::msan::ternary<table>(a, b, c)
#undef _mm_gf2p8affine_epi64_epi8
#undef _mm256_gf2p8affine_epi64_epi8
#undef _mm512_gf2p8affine_epi64_epi8
#define _mm_gf2p8affine_epi64_epi8(x, m, constant) warpseal::msan::affine<constant>(x, m)
#define _mm256_gf2p8affine_epi64_epi8(x, m, constant) warpseal::msan::affine<constant>(x, m)
#define _mm512_gf2p8affine_epi64_epi8(x, m, constant) warpseal::msan::affine<constant>(x, m)
#undef _mm_gf2p8affineinv_epi64_epi8
#undef _mm256_gf2p8affineinv_epi64_epi8
#undef _mm512_gf2p8affineinv_epi64_epi8
#define _mm_gf2p8affineinv_epi64_epi8(x, m, constant) warpseal::msan::affine_inverse<constant>(x, m)
#define _mm256_gf2p8affineinv_epi64_epi8(x, m, constant) \
    warpseal::msan::affine_inverse<constant>(x, m)
#define _mm512_gf2p8affineinv_epi64_epi8(x, m, constant) \
    warpseal::msan::affine_inverse<constant>(x, m)
#define _mm512_permutex2var_epi8(low, index, high) warpseal::msan::lookup(low, index, high)
