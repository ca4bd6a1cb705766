// NTRU byte strings and sort keys in vectors: each 16 bytes of a vector hold whole groups of
// coefficients (kem/pack.h, kem/sample.h).
//
// Accesses that would run past the caller's memory use a copy of its last bytes.
#pragma once

#include <utility>

#include "backends/cpu/representations/vector.h"
#include "kem/pack.h"
#include "kem/sample.h"

namespace warpseal::cpu {
namespace {

// `Vectors` wraps an instruction set. It has vectors of `bytes` bytes, and
//   load(in, stride)     loads 16 bytes at in, in + stride, ...
//   shuffle(v, order)    permutes bytes within each 16; zero if order is negative
//   join(v, factors)     multiplies 16-bit numbers by factors; adds the two in each 32 bits
//   narrow(low, high)    narrows 32-bit numbers below 2^16 to 16 bits; each 16 bytes of the
//                        result hold four of low, then four of high
//   high(v, factors)     returns the upper halves of 16-bit products
template <const kem::Params& set, class Vectors>
class Strings {
    static constexpr int bytes = Vectors::bytes, parts = bytes / 16;
    using Bytes = VectorOf<int8_t, bytes>;
    using Halves = VectorOf<uint16_t, bytes>;
    using Words = VectorOf<uint32_t, bytes>;
    using Doubles = VectorOf<uint64_t, bytes>;
    using Poly = kem::Poly<set>;

    // Returns the vector of element(i) for each i.
    template <class Vector, class Element>
    static constexpr Vector table(const Element& element) {
        return fill<Vector>(element,
                            std::make_integer_sequence<int, bytes / sizeof(Vector{}[0])>{});
    }
    template <class Vector, class Element, int... i>
    static constexpr Vector fill(const Element& element, std::integer_sequence<int, i...>) {
        return Vector{static_cast<__typeof__(Vector{}[0])>(element(i))...};
    }

    template <int stride>
    WARPSEAL_INLINE static Bytes load(const uint8_t* in) {
        return Vectors::load(in, stride);
    }
    // Returns the number of vectors that can be loaded or stored whole, with `stride` bytes of the
    // string for each 16 of a vector.
    static constexpr int whole(size_t length, int stride) {
        const int last = static_cast<int>(length) - 16 - (parts - 1) * stride;
        return last < 0 ? 0 : last / (parts * stride) + 1;
    }

public:
    // --- coefficients of log_q bits, eight to log_q bytes ---

    WARPSEAL_INLINE static void unpack_sq(Poly& a, const uint8_t* in) {
        constexpr int step = parts * set.log_q, vectors = Poly::size / (8 * parts),
                      safe = whole(set.rq_bytes(), set.log_q);
        static_assert(Poly::size % (8 * parts) == 0 && safe < vectors);
        alignas(64) uint8_t end[(vectors - safe) * step + 16] = {};
        memcpy(end, in + safe * step, set.rq_bytes() - safe * step);
        for (int i = 0; i < safe; ++i) unpack_vector(a.at + i * 8 * parts, in + i * step);
        for (int i = safe; i < vectors; ++i)
            unpack_vector(a.at + i * 8 * parts, end + (i - safe) * step);
        a.at[set.n - 1] = 0;  // also discards the spare bits
    }
    WARPSEAL_INLINE static void pack_rq(uint8_t* out, const Poly& a) {
        constexpr int step = parts * set.log_q, vectors = Poly::size / (8 * parts),
                      safe = whole(set.rq_bytes(), set.log_q);
        alignas(64) uint8_t end[(vectors - safe) * step + 16];
        for (int i = 0; i < safe; ++i)
            pack_vector(out + i * step, a.at + i * 8 * parts, set.n - 1 - i * 8 * parts);
        for (int i = safe; i < vectors; ++i)
            pack_vector(end + (i - safe) * step, a.at + i * 8 * parts, set.n - 1 - i * 8 * parts);
        memcpy(out + safe * step, end, set.rq_bytes() - safe * step);
    }

    // --- ternary coefficients, five to a byte ---

    WARPSEAL_INLINE static void unpack_ternary(Poly& a, const uint8_t* in) {
        constexpr int vectors = Poly::size / (8 * parts);
        alignas(64) uint8_t padded[(Poly::size / 40 + 2) * 8 + 16] = {};
        memcpy(padded, in, set.ternary_bytes());
        unpack_period(a, padded, std::make_integer_sequence<int, 5>{},
                      std::make_integer_sequence<int, (vectors + 4) / 5>{});
        for (int i = set.n - 1; i < Poly::size; ++i) a.at[i] = 0;
    }

    // --- sort keys, four of 30 bits to 15 bytes ---

    WARPSEAL_INLINE static void sort_keys(int32_t* keys, const uint8_t* coins) {
        constexpr int step = parts * 15, count = 4 * parts,
                      vectors = (set.n - 1 + count - 1) / count,
                      safe = whole(set.fixed_coins(), 15);
        static_assert(vectors * count <= kem::sort_capacity<set> && safe + 1 >= vectors);
        alignas(64) uint8_t end[step + 16] = {};
        memcpy(end, coins + safe * step, set.fixed_coins() - safe * step);
        Words position = table<Words>([](int i) { return i; });
        for (int i = 0; i < vectors; ++i) {
            const Words key = key_vector(i < safe ? coins + i * step : end, position);
            memcpy(keys + i * count, &key, sizeof key);
            position += count;
        }
    }

private:
    // Coefficient j of a group of eight begins at bit log_q j and ends within three bytes.
    static_assert(set.log_q <= 14);
    template <int first>
    WARPSEAL_INLINE static Words four(const Bytes& group) {
        const Bytes order = table<Bytes>(
            [](int i) { return i % 4 == 3 ? -1 : set.log_q * (first + i / 4 % 4) / 8 + i % 4; });
        const Words shift = table<Words>([](int i) { return set.log_q * (first + i % 4) % 8; });
        return ((Words)Vectors::shuffle(group, order) >> shift) &
               static_cast<uint32_t>(set.q() - 1);
    }
    WARPSEAL_INLINE static void unpack_vector(uint16_t* out, const uint8_t* in) {
        const Bytes group = load<set.log_q>(in);
        const Halves v = (Halves)Vectors::narrow(four<0>(group), four<4>(group));
        memcpy(out, &v, sizeof v);
    }

    // Packs a vector; coefficients from `count` on are taken as zero. Writes 16 bytes for each
    // part, and the next part overwrites the excess.
    WARPSEAL_INLINE static void pack_vector(uint8_t* out, const uint16_t* in, int count) {
        constexpr int two = 2 * set.log_q, four = 4 * set.log_q;
        Halves v;
        memcpy(&v, in, sizeof v);
        v &= static_cast<uint16_t>(set.q() - 1);
        if (count < 8 * parts)
            v &= (Halves)(table<Halves>([](int i) { return i; }) <
                          static_cast<uint16_t>(count > 0 ? count : 0));
        const Doubles pairs = (Doubles)Vectors::join(
            v, table<Halves>([](int i) { return i % 2 == 0 ? 1 : set.q(); }));
        const Doubles fours = (pairs & 0xffffffff) | (pairs >> 32 << two);
        const Doubles aligned = fours
                                << table<Doubles>([](int i) { return i % 2 == 0 ? 0 : four % 8; });
        const Bytes low = Vectors::shuffle(
            (Bytes)aligned, table<Bytes>([](int i) { return i % 16 < 8 ? i % 16 : -1; }));
        const Bytes high = Vectors::shuffle((Bytes)aligned, table<Bytes>([](int i) {
                                                const int byte = i % 16 - four / 8;
                                                return byte >= 0 && byte < 8 ? 8 + byte : -1;
                                            }));
        const Bytes joined = low | high;
        alignas(bytes) uint8_t at[bytes];
        memcpy(at, &joined, sizeof joined);
        WARPSEAL_UNROLL for (int part = 0; part < parts; ++part)
            memcpy(out + set.log_q * part, at + 16 * part, 16);
    }

    // Forty coefficients take eight bytes and five 16-byte parts, so the pattern repeats every five
    // vectors.
    template <int... phase, int... turn>
    WARPSEAL_INLINE static void unpack_period(Poly& a, const uint8_t* in,
                                              std::integer_sequence<int, phase...>,
                                              std::integer_sequence<int, turn...>) {
        for (int i = 0; i < static_cast<int>(sizeof...(turn)); ++i)
            (unpack_phase<phase>(a, in + i * parts * 8, 5 * i + phase), ...);
    }
    template <int phase>
    WARPSEAL_INLINE static void unpack_phase(Poly& a, const uint8_t* in, int vector) {
        if (vector >= Poly::size / (8 * parts)) return;
        // Lane i is coefficient 8 parts phase + i. Its byte is in the same eight bytes as the first
        // part's, or in the next eight.
        constexpr int start = parts * phase / 5 * 8;
        const auto coefficient = [](int i) { return 8 * parts * phase + i; };
        const Bytes order =
            table<Bytes>([&](int i) { return i % 2 == 0 ? coefficient(i / 2) / 5 - start : -1; });
        const Halves byte = (Halves)Vectors::shuffle(load<0>(in + start), order);
        // floor(byte / 3^j) = floor(byte ceil(2^16 / 3^j) / 2^16): the excess, at most 255 / 2^16,
        // does not reach the next multiple of 1 / 81.
        const Halves factor = table<Halves>([&](int i) {
            constexpr int inverse[5] = {0, 21846, 7282, 2428, 810};
            return inverse[coefficient(i) % 5];
        });
        const Halves itself =
            table<Halves>([&](int i) { return coefficient(i) % 5 == 0 ? 0xffff : 0; });
        const Halves quotient = (Halves)Vectors::high(byte, factor) | (byte & itself);
        const Halves rest = quotient - 3 * (Halves)Vectors::high(quotient, Halves{} + 21846);
        const Halves trit = rest - 3 * (rest >> 1);
        memcpy(a.at + vector * 8 * parts, &trit, sizeof trit);
    }

    // Key j of four begins at bit 30 j: takes four bytes from there, and the four bytes one further
    // up.
    WARPSEAL_INLINE static Words key_vector(const uint8_t* in, const Words& position) {
        const Bytes group = load<15>(in);
        const Words low = (Words)Vectors::shuffle(
            group, table<Bytes>([](int i) { return 30 * (i / 4 % 4) / 8 + i % 4; }));
        const Words high = (Words)Vectors::shuffle(
            group, table<Bytes>([](int i) { return 30 * (i / 4 % 4) / 8 + i % 4 + 1; }));
        const Words shift = table<Words>([](int i) { return 30 * (i % 4) % 8; });
        const Words residue =
            ((Words)(position < 2 * set.weight()) & 2) + (Words)(position < set.weight());
        return (low >> shift << 2) | (high << (10 - shift)) | residue;
    }
};

}  // namespace
}  // namespace warpseal::cpu
