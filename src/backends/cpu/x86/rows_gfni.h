// Byte-sliced representation with rows by GFNI. Serial modes run one message at the latency of its
// rounds, with a row of bytes in each register. Other modes use the byte-sliced functions.
#pragma once

#include <immintrin.h>

#include <type_traits>

#include "backends/cpu/representations/byte_sliced.h"
#include "backends/cpu/x86/bytes_gfni.h"
#include "core/block.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

// Register type for a cipher's Rows: 16 bytes. Maps are types with an Affine `map`.
struct Row {
    __m128i v;

    WARPSEAL_INLINE static Row all(uint8_t x) { return {_mm_set1_epi8(static_cast<char>(x))}; }
    WARPSEAL_INLINE static Row twice(uint64_t x) {
        return {_mm_set1_epi64x(static_cast<long long>(x))};
    }
    WARPSEAL_INLINE uint64_t low() const { return static_cast<uint64_t>(_mm_cvtsi128_si64(v)); }

    friend WARPSEAL_INLINE Row operator^(const Row& a, const Row& b) { return {a.v ^ b.v}; }
    friend WARPSEAL_INLINE Row operator&(const Row& a, const Row& b) { return {a.v & b.v}; }
    friend WARPSEAL_INLINE Row operator|(const Row& a, const Row& b) { return {a.v | b.v}; }
    friend WARPSEAL_INLINE Row add3(const Row& a, const Row& b, const Row& c) {
#if defined(__AVX512VL__)
        return {_mm_ternarylogic_epi64(a.v, b.v, c.v, 0x96)};
#else
        return a ^ b ^ c;
#endif
    }

    template <class M>
    WARPSEAL_INLINE static Row map(const Row& x) {
        return {_mm_gf2p8affine_epi64_epi8(x.v, _mm_set1_epi64x(matrix(M::map)), M::map.constant)};
    }
    // Applies a map without its constant.
    template <class M>
    WARPSEAL_INLINE static Row linear(const Row& x) {
        return {_mm_gf2p8affine_epi64_epi8(x.v, _mm_set1_epi64x(matrix(M::map)), 0)};
    }
    // Inverts in the field of FIPS 197, and then applies one map without its constant to each half
    // of the row.
    template <class Low, class High>
    WARPSEAL_INLINE static Row invert(const Row& x) {
        return {_mm_gf2p8affineinv_epi64_epi8(
            x.v, _mm_set_epi64x(matrix(High::map), matrix(Low::map)), 0)};
    }
    // Permutes bytes: byte j comes from byte Order::from(j), or is zero if that is -1.
    template <class Order>
    WARPSEAL_INLINE static Row bring(const Row& x) {
        static constexpr Positions<Order> positions;
        return {_mm_shuffle_epi8(x.v,
                                 _mm_load_si128(reinterpret_cast<const __m128i*>(positions.from)))};
    }

private:
    template <class Order>
    struct Positions {
        alignas(16) uint8_t from[16] = {};
        constexpr Positions() {
            for (int j = 0; j < 16; ++j) from[j] = static_cast<uint8_t>(Order::from(j));
        }
    };
};

template <class Cipher>
concept has_rows = requires {
    typename Cipher::template Rows<Row>::State;
};

template <class Cipher, size_t vector_bytes>
struct ByteSlicedRows : ByteSliced<Cipher, vector_bytes, SubstitutionByGfni> {
    using Wide = ByteSliced<Cipher, vector_bytes, SubstitutionByGfni>;
    using Rows = typename Cipher::template Rows<Row>;
    using State = typename Rows::State;

    struct Schedule : Wide::Schedule {
        typename Rows::Keys rows;
    };
    struct Words {
        uint32_t forward[Cipher::schedule_words];
    };

    static void expand(Schedule& schedule, const uint8_t* key) {
        Wide::expand(schedule, key);
        SecretOf<Words> words;
        Cipher::expand(words.value.forward, key, WordSubstitution{});
        Rows::expand(schedule.rows, words.value.forward);
    }

    // Runs the mode on states, so that blocks stay in rows from one block to the next.
    template <class Mode>
    static void chain(const Schedule& schedule, Block<4>& state, const uint8_t* in, uint8_t* out,
                      size_t blocks) {
        State s = Rows::load(reinterpret_cast<const uint8_t*>(state.word));
        for (; blocks != 0; --blocks, in += 16) {
            const State text = Rows::load(in),
                        given = Rows::encrypt(schedule.rows, Mode::before(text, s));
            if constexpr (requires { Mode::after(text, given); }) {
                Rows::store(out, Mode::after(text, given));
                out += 16;
            }
            s = Mode::next(text, given);
        }
        Rows::store(reinterpret_cast<uint8_t*>(state.word), s);
    }
};

template <class Cipher, size_t vector_bytes>
using ByteSlicedByGfni = std::conditional_t<has_rows<Cipher>, ByteSlicedRows<Cipher, vector_bytes>,
                                            ByteSliced<Cipher, vector_bytes, SubstitutionByGfni>>;

}  // namespace
}  // namespace warpseal::cpu
