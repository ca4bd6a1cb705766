// Word-sliced representation: word i of many blocks in one vector of 32-bit words.
#pragma once

#include <utility>

#include "backends/cipher_backend.h"
#include "backends/cpu/representations/transpose.h"
#include "backends/cpu/representations/vector.h"
#include "core/bitsliced_byte.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

// Word type for a cipher's word-sliced functions. It has `count` independent vectors, to hide the
// latency of each. It supports the operations of a GPU's uint32_t, including an integer for either
// operand, so that cipher headers compile for both.
template <size_t vector_bytes, int count>
struct Words {
    using Vector = VectorOf<uint32_t, vector_bytes>;
    Vector v[count];

    Words() = default;
    // Copied vector by vector: gcc 12 keeps a `const Words` that it copies as a whole in memory.
    WARPSEAL_INLINE Words(const Words& other) { *this = other; }
    WARPSEAL_INLINE Words& operator=(const Words& other) {
        WARPSEAL_UNROLL
        for (int i = 0; i < count; ++i) v[i] = other.v[i];
        return *this;
    }
    WARPSEAL_INLINE Words(uint32_t number) {  // same value in every lane
        WARPSEAL_UNROLL
        for (int i = 0; i < count; ++i) v[i] = Vector{} + number;
    }

    template <class F>
    WARPSEAL_INLINE static Words each(F f) {
        Words r;
        WARPSEAL_UNROLL
        for (int i = 0; i < count; ++i) r.v[i] = f(i);
        return r;
    }
    template <size_t... byte>
    WARPSEAL_INLINE static Vector swapped(const Vector& v, std::index_sequence<byte...>) {
        const auto bytes = (VectorOf<uint8_t, vector_bytes>)v;
        return (Vector)__builtin_shufflevector(bytes, bytes, static_cast<int>(byte ^ 3)...);
    }
    friend WARPSEAL_INLINE Words operator^(const Words& a, const Words& b) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] ^ b.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator&(const Words& a, const Words& b) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] & b.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator|(const Words& a, const Words& b) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] | b.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator+(const Words& a, const Words& b) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] + b.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator-(const Words& a, const Words& b) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] - b.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator~(const Words& a) {
        return each([&](int i) __attribute__((always_inline)) { return ~a.v[i]; });
    }
    friend WARPSEAL_INLINE Words operator<<(const Words& a, int n) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] << n; });
    }
    friend WARPSEAL_INLINE Words operator>>(const Words& a, int n) {
        return each([&](int i) __attribute__((always_inline)) { return a.v[i] >> n; });
    }
    friend WARPSEAL_INLINE Words swap_bytes(const Words& a) {
#if defined(__SSSE3__)
        return each([&](int i) __attribute__((always_inline)) {
            return swapped(a.v[i], std::make_index_sequence<vector_bytes>{});
        });
#else
        return (a << 24) | ((a & 0xff00u) << 8) | ((a >> 8) & 0xff00u) | (a >> 24);
#endif
    }
    WARPSEAL_INLINE Words& operator^=(const Words& other) { return *this = *this ^ other; }
    WARPSEAL_INLINE Words& operator&=(const Words& other) { return *this = *this & other; }
    WARPSEAL_INLINE Words& operator|=(const Words& other) { return *this = *this | other; }
    WARPSEAL_INLINE Words& operator+=(const Words& other) { return *this = *this + other; }
    WARPSEAL_INLINE Words& operator-=(const Words& other) { return *this = *this - other; }
    WARPSEAL_INLINE Words& operator<<=(int n) { return *this = *this << n; }
    WARPSEAL_INLINE Words& operator>>=(int n) { return *this = *this >> n; }
};

}  // namespace
}  // namespace warpseal::cpu

namespace warpseal {

// Three-input gates, by those of each vector.
template <size_t vector_bytes, int count>
struct Ternary<cpu::Words<vector_bytes, count>> {
    using Words = cpu::Words<vector_bytes, count>;
    using Vector = cpu::VectorOf<uint64_t, vector_bytes>;
    static constexpr bool one_instruction = Ternary<Vector>::one_instruction;
    template <int table>
    WARPSEAL_INLINE static Words of(const Words& a, const Words& b, const Words& c) {
        return Words::each([&](int i) __attribute__((always_inline)) {
            return (typename Words::Vector)Ternary<Vector>::template of<table>(
                (Vector)a.v[i], (Vector)b.v[i], (Vector)c.v[i]);
        });
    }
};

}  // namespace warpseal

namespace warpseal::cpu {
namespace {

template <class Cipher>
inline constexpr bool has_words = requires(Words<16, 1> (&s)[Cipher::block_bytes / 4],
                                           Words<16, 1> (*key)(int)) {
    Cipher::encrypt_words(s, key);
};

template <class Cipher, size_t vector_bytes>
struct WordSliced {
    static constexpr int words = Cipher::block_bytes / 4;
    // Limited by the number of vector registers: 32 with AVX-512, otherwise 16.
    static constexpr int vectors = vector_bytes == 64 ? 4 : 2;
    using Wide = Words<vector_bytes, vectors>;
    using Narrow = Words<16, 1>;

    static constexpr const char* name = "word-sliced";
    static constexpr size_t wide_blocks = vectors * vector_bytes / 4, narrow_blocks = 4;
    static constexpr size_t stack_bytes = 8192, small_stack_bytes = 4096;

    struct Schedule {
        uint32_t key[direction_count][Cipher::schedule_words];
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        Cipher::expand(schedule.key[0], key, WordSubstitution{});
        Cipher::invert(schedule.key[1], schedule.key[0]);
    }

    template <Direction direction, size_t blocks>
    WARPSEAL_INLINE static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        run_on<direction, std::conditional_t<blocks == wide_blocks, Wide, Narrow>>(schedule, in,
                                                                                   out);
    }

private:
    template <Direction direction, class W>
    WARPSEAL_INLINE static void run_on(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        using Vector = typename W::Vector;
        constexpr int count = sizeof(W) / sizeof(Vector);
        W s[words];
        for (int u = 0; u < count; ++u) {
            Vector v[words];
            memcpy(v, in + u * sizeof v, sizeof v);
            Transpose<Vector, words>::run(v);
            for (int i = 0; i < words; ++i) s[i].v[u] = v[i];
        }
        const uint32_t* const keys = schedule.key[static_cast<int>(direction)];
        const auto key = [&](int i) __attribute__((always_inline)) {
            return W::each([&](int) __attribute__((always_inline)) { return Vector{} + keys[i]; });
        };
        if constexpr (direction == Direction::decrypt &&
                      requires { Cipher::decrypt_words(s, key); })
            Cipher::decrypt_words(s, key);
        else
            Cipher::encrypt_words(s, key);
        for (int u = 0; u < count; ++u) {
            Vector v[words];
            for (int i = 0; i < words; ++i) v[i] = s[i].v[u];
            Transpose<Vector, words>::run(v);
            memcpy(out + u * sizeof v, v, sizeof v);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
