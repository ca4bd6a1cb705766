// Byte-sliced representation: vector i holds byte i of many blocks. S-boxes come from the target's
// Substitution.
#pragma once

#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "backends/cipher_backend.h"
#include "backends/cpu/representations/cipher_traits.h"
#include "backends/cpu/representations/transpose.h"
#include "backends/cpu/representations/vector.h"
#include "core/bitsliced_byte.h"
#include "core/block.h"
#include "core/feistel.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

// Vector type for a cipher's byte-sliced functions.
template <size_t bytes, class Substitution>
struct Bytes {
    using Vector = VectorOf<uint8_t, bytes>;
    using Halves = VectorOf<uint16_t, bytes>;
    using Quads = VectorOf<uint64_t, bytes>;
    // Same layout as __m128i, __m256i or __m512i, but without their permission to alias other
    // types.
    using Native = VectorOf<long long, bytes>;
    Vector v;

    WARPSEAL_INLINE static Bytes zero() { return {Vector{}}; }
    WARPSEAL_INLINE static Bytes all(uint8_t x) { return {Vector{} + x}; }
    WARPSEAL_INLINE static Bytes eight(uint64_t x) { return {(Vector)(Quads{} + x)}; }

    friend WARPSEAL_INLINE Bytes operator^(const Bytes& a, const Bytes& b) { return {a.v ^ b.v}; }
    friend WARPSEAL_INLINE Bytes operator&(const Bytes& a, const Bytes& b) { return {a.v & b.v}; }
    friend WARPSEAL_INLINE Bytes operator|(const Bytes& a, const Bytes& b) { return {a.v | b.v}; }
    friend WARPSEAL_INLINE Bytes operator+(const Bytes& a, const Bytes& b) { return {a.v + b.v}; }
    friend WARPSEAL_INLINE Bytes operator~(const Bytes& a) { return {~a.v}; }
    WARPSEAL_INLINE Bytes& operator^=(const Bytes& other) { return *this = *this ^ other; }

    template <class S>
    friend WARPSEAL_INLINE Bytes substitute(const Bytes& a) {
        return {(Vector)Substitution::template substitute<S>((Native)a.v)};
    }
    // Lane orders of the two halves of a cipher: core/feistel.h.
    template <class S, Half from>
    WARPSEAL_INLINE Bytes across() const requires(Substitution::moves_lanes) {
        return {(Vector)Substitution::template across<S, from>((Native)v)};
    }
    WARPSEAL_INLINE Bytes enter_right() const requires(Substitution::moves_lanes) {
        return {(Vector)Substitution::enter_right((Native)v)};
    }
    WARPSEAL_INLINE Bytes leave_right() const requires(Substitution::moves_lanes) {
        return {(Vector)Substitution::leave_right((Native)v)};
    }
    template <int n>
    friend WARPSEAL_INLINE Bytes shift_left(const Bytes& a) {
        if constexpr (n == 1) return {a.v + a.v};
        return {(Vector)((Halves)a.v << n) & static_cast<uint8_t>(0xff << n)};
    }
    template <int n>
    friend WARPSEAL_INLINE Bytes shift_right(const Bytes& a) {
        if constexpr (requires(Native x) { Substitution::template shift_right<n>(x); })
            return {(Vector)Substitution::template shift_right<n>((Native)a.v)};
        return {(Vector)((Halves)a.v >> n) & static_cast<uint8_t>(0xff >> n)};
    }
    friend WARPSEAL_INLINE Bytes add3(const Bytes& a, const Bytes& b, const Bytes& c) {
#if defined(__AVX512VL__)
        if constexpr (bytes == 64)
            return {
                (Vector)_mm512_ternarylogic_epi64((__m512i)a.v, (__m512i)b.v, (__m512i)c.v, 0x96)};
        else if constexpr (bytes == 16)
            return {(Vector)_mm_ternarylogic_epi64((__m128i)a.v, (__m128i)b.v, (__m128i)c.v, 0x96)};
        else
#endif
            return a ^ b ^ c;
    }
};

// Result of the first rounds for the bytes that all blocks of a run share: all but the last two.
template <int block_bytes>
struct ByteCounting {
    uint8_t shared[block_bytes - 2];
    bool begun;
    uint64_t byte[block_bytes];
};

template <class Cipher, size_t vector_bytes, class Substitution>
struct ByteSliced {
    static constexpr int block_bytes = Cipher::block_bytes;
    static constexpr int words = block_bytes / 4;
    using Wide = Bytes<vector_bytes, Substitution>;
    using Narrow = Bytes<16, Substitution>;

    static constexpr const char* name = "byte-sliced";
    // Runs two states side by side if the cipher supports it. One is in the S-boxes while the other
    // is in the linear layer.
    static constexpr bool pairs = requires(Wide(&s)[block_bytes], Wide (*key)(int)) {
        Cipher::encrypt_bytes(s, s, key);
    };
    static constexpr bool counts = requires(Wide(&s)[block_bytes], Wide (*key)(int)) {
        Cipher::encrypt_counting_bytes(s, key, key);
    };
    static constexpr size_t wide_blocks = (pairs ? 2 : 1) * vector_bytes,
                            state_blocks = vector_bytes, narrow_blocks = 16;
    static constexpr size_t stack_bytes = 4096 + 96 * wide_blocks, small_stack_bytes = 4096;

    // Holds each key byte eight times. A broadcast load of eight bytes merges into the instruction
    // that uses it; a broadcast of one byte does not.
    struct Schedule {
        uint64_t key[direction_count][4 * Cipher::schedule_words];
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        SecretOf<uint32_t[direction_count][Cipher::schedule_words]> expanded;
        auto& [forward, inverse] = expanded.value;
        Cipher::expand(forward, key, WordSubstitution{});
        Cipher::invert(inverse, forward);
        for (int d = 0; d < direction_count; ++d)
            for (int i = 0; i < 4 * Cipher::schedule_words; ++i)
                schedule.key[d][i] =
                    (expanded.value[d][i / 4] >> (8 * (i % 4)) & 0xff) * 0x0101010101010101u;
    }

    template <Direction direction, size_t blocks>
    WARPSEAL_INLINE static void run(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        text<direction == Direction::decrypt && decrypts_otherwise<Cipher>, blocks>(
            schedule.key[static_cast<int>(direction)], in, out);
    }
    // Not inlined, so that each cipher is compiled once for each width, or once for each width and
    // direction.
    template <bool decrypt, size_t blocks>
    __attribute__((noinline)) static void text(const uint64_t* keys, const uint8_t* in,
                                               uint8_t* out) {
        using V = std::conditional_t<blocks % state_blocks == 0, Wide, Narrow>;
        constexpr size_t state_bytes = block_bytes * sizeof(V);
        V a[block_bytes];
        load(a, in);
        if constexpr (blocks == sizeof(V)) {
            cipher<decrypt>(keys, a);
        } else {
            V b[block_bytes];
            load(b, in + state_bytes);
            cipher<decrypt>(keys, a, b);
            store(b, out + state_bytes);
        }
        store(a, out);
    }

    // Processes one block, for serial modes: uses lane 0 only, without a transposition.
    template <Direction direction>
    WARPSEAL_INLINE static void one(const Schedule& schedule, const uint8_t* in, uint8_t* out) {
        text_of_one<direction == Direction::decrypt && decrypts_otherwise<Cipher>>(
            schedule.key[static_cast<int>(direction)], in, out);
    }
    template <bool decrypt>
    __attribute__((noinline)) static void text_of_one(const uint64_t* keys, const uint8_t* in,
                                                      uint8_t* out) {
        __m128i block = block_bytes == 16 ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(in))
                                          : _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
        Narrow s[block_bytes];
        split(s, block, std::make_integer_sequence<int, block_bytes>{});
        cipher<decrypt>(keys, s);
        __m128i v[block_bytes];
        for (int i = 0; i < block_bytes; ++i) v[i] = (__m128i)s[i].v;
        for (int i = 0; i < block_bytes; i += 2) v[i] = _mm_unpacklo_epi8(v[i], v[i + 1]);
        for (int i = 0; i < block_bytes; i += 4) v[i] = _mm_unpacklo_epi16(v[i], v[i + 2]);
        for (int i = 0; i < block_bytes; i += 8) v[i] = _mm_unpacklo_epi32(v[i], v[i + 4]);
        if constexpr (block_bytes == 16)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi64(v[0], v[8]));
        else
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), v[0]);
    }

    using Counting = ByteCounting<block_bytes>;
    // Counter mode: XORs `tiles` tiles of wide_blocks blocks of text with the encrypted counter
    // blocks from `first` on. Returns the number of tiles done, which stops before a carry into
    // more than the last two bytes.
    static size_t count(const Schedule& schedule, Counting& counting, const Block<words>& first,
                        const uint8_t* in, uint8_t* out, size_t tiles) {
        const size_t until_carry =
            (0x10000 - (swap_bytes(first.word[words - 1]) & 0xffff)) / wide_blocks;
        if (tiles > until_carry) tiles = until_carry;
        if (tiles == 0) return 0;
        if constexpr (counts) {
            if (!counting.begun || memcmp(counting.shared, first.word, sizeof counting.shared) != 0)
                begin(schedule, counting, first);
        }
        count_run(schedule, counting, first, in, out, tiles);
        return tiles;
    }

private:
    template <class V>
    WARPSEAL_INLINE static void load(V (&s)[block_bytes], const uint8_t* in) {
        typename V::Vector v[block_bytes];
        memcpy(v, in, sizeof v);
        Transpose<typename V::Vector, block_bytes>::run(v);
        for (int i = 0; i < block_bytes; ++i) s[i].v = v[i];
    }
    template <class V>
    WARPSEAL_INLINE static void store(const V (&s)[block_bytes], uint8_t* out) {
        typename V::Vector v[block_bytes];
        for (int i = 0; i < block_bytes; ++i) v[i] = s[i].v;
        Transpose<typename V::Vector, block_bytes>::run(v);
        memcpy(out, v, sizeof v);
    }

    // Processes one state, or two side by side.
    template <bool decrypt, class... State>
    WARPSEAL_INLINE static void cipher(const uint64_t* keys, State&... s) {
        const auto key = [&](int i) __attribute__((always_inline)) {
            return std::common_type_t<std::remove_extent_t<State>...>::eight(keys[i]);
        };
        if constexpr (!decrypt)
            Cipher::encrypt_bytes(s..., key);
        else if constexpr (requires { Cipher::decrypt_bytes(s..., key); })
            Cipher::decrypt_bytes(s..., key);
        else
            (Cipher::decrypt_bytes(s, key), ...);
    }

    template <int... i>
    WARPSEAL_INLINE static void split(Narrow (&s)[block_bytes], __m128i block,
                                      std::integer_sequence<int, i...>) {
        ((s[i].v = (typename Narrow::Vector)_mm_srli_si128(block, i)), ...);
    }

    struct BlockNumbers {
        alignas(64) uint8_t of_lane[vector_bytes] = {};
        constexpr BlockNumbers() {
            for (size_t i = 0; i < vector_bytes; ++i)
                of_lane[i] = static_cast<uint8_t>(
                    Transpose<typename Wide::Vector, block_bytes>::block_of_lane(
                        static_cast<int>(i)));
        }
    };

    __attribute__((noinline)) static void begin(const Schedule& schedule, Counting& counting,
                                                const Block<words>& first) {
        uint8_t bytes[block_bytes];
        store_block(bytes, first);
        Narrow s[block_bytes];
        for (int i = 0; i < block_bytes; ++i) s[i] = Narrow::all(bytes[i]);
        Cipher::begin_counting_bytes(
            s, [&](int i)
                   __attribute__((always_inline)) { return Narrow::eight(schedule.key[0][i]); });
        for (int i = 0; i < block_bytes; ++i)
            memcpy(&counting.byte[i], &s[i].v, sizeof counting.byte[i]);
        memcpy(counting.shared, bytes, sizeof counting.shared);
        counting.begun = true;
    }

    // Sets s to the counter blocks from `first` + `from` on. They must not carry into more than the
    // last two bytes. Sets only these two if nothing reads the others.
    WARPSEAL_INLINE static void number(Wide (&s)[block_bytes], const Block<words>& first,
                                       size_t from) {
        static constexpr BlockNumbers numbers;
        const uint32_t low = swap_bytes(first.word[words - 1]) + static_cast<uint32_t>(from);
        typename Wide::Vector last;
        memcpy(&last, numbers.of_lane, sizeof last);
        s[block_bytes - 1].v = last + static_cast<uint8_t>(low);
        s[block_bytes - 2].v = static_cast<uint8_t>(low >> 8) -
                               (typename Wide::Vector)(s[block_bytes - 1].v < last);  // carry
        if constexpr (!counts) {
            uint8_t bytes[block_bytes];
            store_block(bytes, first);
            for (int i = 0; i < block_bytes - 2; ++i) s[i] = Wide::all(bytes[i]);
        }
    }

    template <class... State>
    WARPSEAL_INLINE static void encrypt_counted(const Schedule& schedule, const Counting& counting,
                                                State&... s) {
        if constexpr (counts)
            Cipher::encrypt_counting_bytes(
                s...,
                [&](int i)
                    __attribute__((always_inline)) { return Wide::eight(schedule.key[0][i]); },
                [&](int i)
                    __attribute__((always_inline)) { return Wide::eight(counting.byte[i]); });
        else
            cipher<false>(schedule.key[0], s...);
    }

    // Returns the key bytes that the cipher leaves to be XORed with whole blocks, repeated for each
    // block of a vector.
    WARPSEAL_INLINE static Wide last_key(const Schedule& schedule) {
        Wide key = Wide::zero();
        if constexpr (counts) {
            uint8_t blocks[vector_bytes] = {};
            for (size_t i = 0; i < vector_bytes; ++i)
                if (const int byte = i % block_bytes; byte < Cipher::last_key_bytes)
                    blocks[i] = static_cast<uint8_t>(schedule.key[0][Cipher::last_key + byte]);
            memcpy(&key.v, blocks, sizeof key.v);
        }
        return key;
    }

    WARPSEAL_INLINE static void store_sum(const Wide (&s)[block_bytes], const Wide& key,
                                          const uint8_t* in, uint8_t* out) {
        typename Wide::Vector v[block_bytes];
        for (int i = 0; i < block_bytes; ++i) v[i] = s[i].v;
        Transpose<typename Wide::Vector, block_bytes>::run(v);
        WARPSEAL_UNROLL
        for (int i = 0; i < block_bytes; ++i) {
            Wide text;
            memcpy(&text.v, in + i * sizeof text, sizeof text);
            text = counts ? add3(text, Wide{v[i]}, key) : text ^ Wide { v[i] };
            memcpy(out + i * sizeof text, &text.v, sizeof text);
        }
    }

    __attribute__((noinline)) static void count_run(const Schedule& schedule,
                                                    const Counting& counting,
                                                    const Block<words>& first, const uint8_t* in,
                                                    uint8_t* out, size_t tiles) {
        constexpr size_t state_bytes = block_bytes * vector_bytes;
        const size_t bytes = tiles * wide_blocks * block_bytes;
        const Wide key = last_key(schedule);
        for (size_t at = 0; at != bytes; at += wide_blocks * block_bytes) {
            Wide a[block_bytes];
            number(a, first, at / block_bytes);
            if constexpr (wide_blocks == vector_bytes) {
                encrypt_counted(schedule, counting, a);
                store_sum(a, key, in + at, out + at);
            } else {
                Wide b[block_bytes];
                number(b, first, at / block_bytes + vector_bytes);
                encrypt_counted(schedule, counting, a, b);
                store_sum(a, key, in + at, out + at);
                store_sum(b, key, in + at + state_bytes, out + at + state_bytes);
            }
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
