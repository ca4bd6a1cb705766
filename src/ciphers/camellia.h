// Camellia-128, Camellia-192 and Camellia-256 (RFC 3713): byte-sliced, row and table-based
// representations.
#pragma once

#include "core/circuits/camellia.h"
#include "core/feistel.h"
#include "core/known_answer.h"
#include "core/sbox.h"
#include "core/table.h"
#include "core/word.h"

namespace warpseal::ciphers::camellia {

// SBOX1 (RFC 3713 2.4.1) is h(g(f(x ^ c5))) ^ 6e. f and h are linear, and g is the inverse in
// GF(2^8) as a quadratic extension of GF(2^4): K. Aoki et al., "Specification of Camellia" (2001),
// 4.4.4. Bit j of a byte stands for alpha^(j mod 4) beta^(j / 4), where beta is a root of x^8 + x^6
// + x^5 + x^3 + 1 and alpha is beta^238.
namespace field_of_g {
inline constexpr unsigned polynomial = 0x169;

constexpr Affine from_basis_map() {
    const uint8_t beta = 2, alpha = field::power_modulo(polynomial, beta, 238);
    uint8_t column[8] = {};
    for (unsigned j = 0; j < 8; ++j)
        column[j] =
            field::multiply_modulo(polynomial, field::power_modulo(polynomial, alpha, j % 4),
                                   field::power_modulo(polynomial, beta, j / 4));
    return affine(column, 0);
}
inline constexpr Affine from_basis = from_basis_map(), to_basis = inverse(from_basis);
}  // namespace field_of_g

inline constexpr Affine f = {{0x14, 0x81, 0x48, 0x12, 0x21, 0x29, 0x82, 0x44}, 0};
inline constexpr Affine h = {{0x24, 0x88, 0x81, 0x22, 0x41, 0x12, 0x44, 0x4c}, 0x6e};
inline constexpr Affine add_c5 = plus(identity, 0xc5);
inline constexpr Affine rotate_1 = {{128, 1, 2, 4, 8, 16, 32, 64}, 0};  // <<< 1

struct S1 {
    static constexpr Affine to_fips =
        compose(field::isomorphism(field_of_g::polynomial), field_of_g::from_basis);
    static constexpr Affine in = compose(to_fips, compose(f, add_c5)),
                            out = compose(h, inverse(to_fips));
    using Gates = circuits::Camellia;
};
struct S2 {
    static constexpr Affine in = S1::in, out = compose(rotate_1, S1::out);
};
struct S3 {
    static constexpr Affine in = S1::in, out = compose(inverse(rotate_1), S1::out);
};
struct S4 {
    static constexpr Affine in = compose(S1::in, rotate_1), out = S1::out;
};

constexpr uint8_t rotate(uint8_t x, int n) { return static_cast<uint8_t>(x << n | x >> (8 - n)); }
constexpr uint8_t s1(uint8_t x) {
    const uint8_t y = apply(field_of_g::from_basis, apply(f, x ^ 0xc5));
    return apply(h,
                 apply(field_of_g::to_basis, field::power_modulo(field_of_g::polynomial, y, 254)));
}
static_assert(is_s_box<S1>(s1) && s1(0) == 0x70 && s1(0xff) == 0x9e);
static_assert(is_s_box<S2>([](uint8_t x) { return rotate(value<S1>(x), 1); }));
static_assert(is_s_box<S3>([](uint8_t x) { return rotate(value<S1>(x), 7); }));
static_assert(is_s_box<S4>([](uint8_t x) { return value<S1>(rotate(x, 1)); }));

// An S-box combined with P (RFC 3713 2.4.1), for t1 to t4, which are bytes 1 to 4 of the half
// block. Bytes 5 to 8 use the same entries in other positions.
struct EncryptTables {
    enum { sp1110, sp0222, sp3033, sp4404, count };
    static constexpr void fill(uint32_t (&entries)[count][256]) {
        for (int x = 0; x < 256; ++x) {
            const uint8_t y = static_cast<uint8_t>(x);
            entries[sp1110][x] = 0x00010101u * value<S1>(y);
            entries[sp0222][x] = 0x01010100u * value<S2>(y);
            entries[sp3033][x] = 0x01010001u * value<S3>(y);
            entries[sp4404][x] = 0x01000101u * value<S4>(y);
        }
    }
};

// Rotates a big-endian word in memory order left by 1.
WARPSEAL_INLINE constexpr uint32_t rotate_in_memory(uint32_t w) {
    return (w << 1 & 0xfefefefeu) | (rotate_left(w, 17) & 0x01010101u);
}

template <int key_bits>
struct Camellia {
    static constexpr const char* name = key_bits == 128   ? "camellia-128"
                                        : key_bits == 192 ? "camellia-192"
                                                          : "camellia-256";
    static constexpr uint32_t key_bytes = key_bits / 8;
    static constexpr uint32_t block_bytes = 16;
    // Sections of six rounds, with FL and FLINV between them.
    static constexpr int sections = key_bits == 128 ? 3 : 4;

    // Each round key is added at the end of the previous round, together with the previous key of
    // its half. Within a section the state thus holds the XOR of half and round key. A section has
    // the words with which the left half starts, six round keys, and the words with which the right
    // half ends. Four words for FL and FLINV follow.
    static constexpr int section_words = 2 + 6 * 2 + 2, layer_words = 4;
    static constexpr int schedule_words = sections * (section_words + layer_words) - layer_words;
    static constexpr int last_key = 4 * schedule_words - 8, last_key_bytes = 8;
    using EncryptTables = camellia::EncryptTables;
    static constexpr KnownAnswer known() {  // RFC 3713 A
        constexpr const char* ciphertext = key_bits == 128   ? "67673138549669730857065648eabe43"
                                           : key_bits == 192 ? "b4993401b3e996f84ee5cee7d79b09b9"
                                                             : "9acc237dff16d76c20ef7c919e3a7509";
        return known_answer("0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
                            key_bytes, "0123456789abcdeffedcba9876543210", ciphertext);
    }

    // Key expansion, RFC 3713 2.2: subkeys are halves of KL, KR, KA and KB, rotated.
    template <class Sub>
    WARPSEAL_INLINE static void expand(uint32_t (&forward)[schedule_words], const uint8_t* key,
                                       const Sub& sub) {
        uint32_t kl[4], kr[4] = {}, ka[4], kb[4];
        for (int i = 0; i < 4; ++i) kl[i] = load_le32(key + 4 * i);
        for (int i = 4; i < key_bits / 32; ++i) kr[i - 4] = load_le32(key + 4 * i);
        if (key_bits == 192) kr[2] = ~kr[0], kr[3] = ~kr[1];
        for (int i = 0; i < 4; ++i) ka[i] = kl[i] ^ kr[i];
        add_round(ka + 2, ka, 0xa09e667f, 0x3bcc908b, sub);
        add_round(ka, ka + 2, 0xb67ae858, 0x4caa73b2, sub);
        for (int i = 0; i < 4; ++i) ka[i] ^= kl[i];
        add_round(ka + 2, ka, 0xc6ef372f, 0xe94f82be, sub);
        add_round(ka, ka + 2, 0x54ff53a5, 0xf1d36f1c, sub);
        for (int i = 0; i < 4; ++i) kb[i] = ka[i] ^ kr[i];
        add_round(kb + 2, kb, 0x10e527fa, 0xde682d1d, sub);
        add_round(kb, kb + 2, 0xb05688c2, 0xb3e6c1fd, sub);
        for (int i = 0; i < 4; ++i) {
            kl[i] = swap_bytes(kl[i]), kr[i] = swap_bytes(kr[i]);
            ka[i] = swap_bytes(ka[i]), kb[i] = swap_bytes(kb[i]);
        }

        Subkeys u;  // in the order of use: kw1 kw2, six k, two ke, six k, ..., kw3 kw4
        if constexpr (key_bits == 128) {
            u.append(kl, 0), u.append(ka, 0), u.append(kl, 15), u.append(ka, 15), u.append(ka, 30),
                u.append(kl, 45);
            u.append(ka, 45, 0, 2), u.append(kl, 60, 2, 4);
            u.append(ka, 60), u.append(kl, 77), u.append(kl, 94), u.append(ka, 94),
                u.append(kl, 111), u.append(ka, 111);
        } else {
            u.append(kl, 0), u.append(kb, 0), u.append(kr, 15), u.append(ka, 15), u.append(kr, 30),
                u.append(kb, 30), u.append(kl, 45), u.append(ka, 45);
            u.append(kl, 60), u.append(kr, 60), u.append(kb, 60), u.append(kl, 77),
                u.append(ka, 77), u.append(kr, 94), u.append(ka, 94);
            u.append(kl, 111), u.append(kb, 111);
        }
        WARPSEAL_UNROLL
        for (int section = 0; section < sections; ++section) {
            uint32_t* to = forward + section * (section_words + layer_words);
            const bool first = section == 0, last = section == sections - 1;
            WARPSEAL_UNROLL
            for (int w = 0; w < 2; ++w) {
                // k[2 * i] is round key i of this section.
                const uint32_t* k = u.word + 4 + 16 * section + w;
                to[w] = k[0] ^ (first ? u.word[w] : 0);
                to[2 + w] = k[2] ^ (first ? u.word[2 + w] : 0);
                for (int i = 1; i < 5; ++i) to[2 + 2 * i + w] = k[2 * i - 2] ^ k[2 * i + 2];
                to[12 + w] = k[8] ^ (last ? k[14] : 0);
                to[14 + w] = k[10] ^ (last ? k[12] : 0);
                if (!last) to[16 + w] = k[12], to[18 + w] = k[14];
            }
        }
        for (int i = 0; i < schedule_words; ++i) forward[i] = swap_bytes(forward[i]);
    }

    // Computes the schedule for decryption, RFC 3713 2.3.3: the subkeys, and XORs of two of them,
    // in reverse order.
    WARPSEAL_INLINE static void invert(uint32_t (&inverse)[schedule_words],
                                       const uint32_t (&forward)[schedule_words]) {
        for (int i = 0; i < schedule_words; ++i) inverse[i] = forward[(schedule_words - 1 - i) ^ 1];
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&s)[16], const Key& key) {
        add(s, key, 0);
        for (int i = 8; i < 16; ++i) s[i] = enter_right(s[i]);
        rounds_from<0>(s, key);
        add(s, key, last_key);
    }
    template <class V, class Key>
    WARPSEAL_INLINE static void encrypt_bytes(V (&a)[16], V (&b)[16], const Key& key) {
        add(a, key, 0);
        add(b, key, 0);
        for (int i = 8; i < 16; ++i) a[i] = enter_right(a[i]), b[i] = enter_right(b[i]);
        rounds_from<0>(a, b, key);
        add(a, key, last_key);
        add(b, key, last_key);
    }

    // Counter mode for blocks that differ only in their last two bytes.
    // begin_counting_bytes precomputes the first two rounds for the 14 bytes that every block of
    // the run shares. It ignores bytes 14 and 15 of s. encrypt_counting_bytes reads byte i of its
    // result as begun(i).
    // The last round key is not added: the caller adds it to the first last_key_bytes bytes of each
    // block, after conversion from the byte-sliced representation.
    template <class V, class Key>
    WARPSEAL_INLINE static void begin_counting_bytes(V (&s)[16], const Key& key) {
        V z[8];
        s[14] = s[15] = V::zero();
        add(s, key, 0);
        substitute_half<Half::left>(z, s);
        add_permuted_bytes(s + 8, z, key, 8);
        substitute_half<Half::right>(z, s + 8);
        z[6] = z[7] = V::zero();
        add_permuted_bytes(s, z, key, 16);
    }
    template <class V, class Key, class Begun>
    WARPSEAL_INLINE static void encrypt_counting_bytes(V (&s)[16], const Key& key,
                                                       const Begun& begun) {
        first_rounds_counting(s, begun);
        rounds_from<2>(s, key);
    }
    template <class V, class Key, class Begun>
    WARPSEAL_INLINE static void encrypt_counting_bytes(V (&a)[16], V (&b)[16], const Key& key,
                                                       const Begun& begun) {
        first_rounds_counting(a, begun);
        first_rounds_counting(b, begun);
        rounds_from<2>(a, b, key);
    }

    // Row representation, for one message at a time. R is 16 bytes: here a half block twice. Each
    // byte is stored as the input of the inversion in S1, S2 and S3, with their constants merged
    // into the keys. S4 takes it rotated, which needs one more map, so its result is used last.
    template <class R>
    struct Rows {
        struct Keys {
            R add[sections][8];
            // Before each section except the first; each is a word at the start of the row.
            R layer[sections][layer_words];
        };
        struct State {
            R left, right;
            friend WARPSEAL_INLINE State operator^(const State& a, const State& b) {
                return {a.left ^ b.left, a.right ^ b.right};
            }
        };

        WARPSEAL_INLINE static void expand(Keys& keys, const uint32_t (&forward)[schedule_words]) {
            uint32_t constants[2] = {};
            add_permuted(constants,
                         0x00010101u * S1::out.constant ^ 0x01010100u * S2::out.constant ^
                             0x01010001u * S3::out.constant ^ 0x01000101u * S4::out.constant,
                         0x01010100u * S2::out.constant ^ 0x01010001u * S3::out.constant ^
                             0x01000101u * S4::out.constant ^ 0x00010101u * S1::out.constant);
            for (int section = 0; section < sections; ++section) {
                const uint32_t* const k = forward + section * (section_words + layer_words);
                for (int i = 0; i < layer_words; ++i)
                    keys.layer[section][i] = R::twice(section == 0 ? 0 : k[i - layer_words]);
                for (int i = 0; i < 8; ++i) {
                    keys.add[section][i] = row(k[2 * i], k[2 * i + 1]);
                    if (i < 2 || i > 5)
                        keys.add[section][i] = keys.add[section][i] ^ R::all(S1::in.constant);
                    if (i != 0 && i != 7)
                        keys.add[section][i] =
                            keys.add[section][i] ^ row(constants[0], constants[1]);
                }
            }
        }
        WARPSEAL_INLINE static State load(const uint8_t* p) {
            uint64_t half[2];
            memcpy(half, p, sizeof half);
            return {R::template linear<Enter>(R::twice(half[0])),
                    R::template linear<Enter>(R::twice(half[1]))};
        }
        WARPSEAL_INLINE static void store(uint8_t* p, const State& s) {
            const uint64_t half[2] = {R::template linear<ToSBoxOutput>(s.left).low(),
                                      R::template linear<ToSBoxOutput>(s.right).low()};
            memcpy(p, half, sizeof half);
        }
        WARPSEAL_INLINE static State encrypt(const Keys& keys, State s) {
            for (int section = 0; section < sections; ++section) {
                if (section != 0) layer(s, keys.layer[section]);
                const R* const k = keys.add[section];
                s.left = s.left ^ k[0];
                WARPSEAL_UNROLL
                for (int r = 0; r < 6; r += 2) {
                    s.right = round(s.right ^ k[1 + r], s.left);
                    s.left = round(s.left ^ k[2 + r], s.right);
                }
                s.right = s.right ^ k[7];
            }
            return {s.right, s.left};
        }

    private:
        struct Enter {
            static constexpr Affine map = S1::in;
        };
        struct ToSBoxOutput {
            static constexpr Affine map = inverse(S1::in);
        };
        struct Rotate {
            static constexpr Affine map = compose(S4::in, inverse(S1::in));
        };
        template <class S>
        struct Out {
            static constexpr Affine map = compose(S1::in, S::out);
        };
        // Moves byte i, which is at i + offset, to each byte of P(x) that includes it.
        template <int i, int offset = 0>
        struct Bring {
            static constexpr uint8_t p[8] = {0xed, 0xdb, 0xb7, 0x7e, 0xe3, 0xd6, 0xbc, 0x79};
            static constexpr int from(int j) { return p[j % 8] >> i & 1 ? i + offset : -1; }
        };

        // Back moves the second word of a half to the first one's position. Forth moves the first
        // word to the second one's position; with ShiftLeft, ForthNext and TopBit it is rotated by
        // 1.
        struct Back {
            static constexpr int from(int j) { return j % 8 < 4 ? j % 8 + 4 : -1; }
        };
        struct Forth {
            static constexpr int from(int j) { return j % 8 < 4 ? -1 : j % 8 - 4; }
        };
        struct ForthNext {
            static constexpr int from(int j) { return j % 8 < 4 ? -1 : (j + 1) % 4; }
        };
        struct ShiftLeft {
            static constexpr Affine map = {{0, 1, 2, 4, 8, 16, 32, 64}, 0};
        };
        struct TopBit {
            static constexpr Affine map = {{128}, 0};
        };

        WARPSEAL_INLINE static R row(uint32_t w0, uint32_t w1) {
            return R::template linear<Enter>(R::twice(w0 | uint64_t{w1} << 32));
        }
        // Returns to + P(S(from)).
        WARPSEAL_INLINE static R round(const R& to, const R& from) {
            const R rotated = R::template map<Rotate>(from),
                    s12 = R::template invert<Out<S1>, Out<S2>>(from),
                    s3 = R::template invert<Out<S3>, Out<S3>>(from),
                    s4 = R::template invert<Out<S4>, Out<S4>>(rotated);
            const R a =
                add3(to, R::template bring<Bring<0>>(s12), R::template bring<Bring<7>>(s12));
            const R b =
                add3(a, R::template bring<Bring<1, 8>>(s12), R::template bring<Bring<4, 8>>(s12));
            const R c = add3(b, R::template bring<Bring<2>>(s3), R::template bring<Bring<5>>(s3));
            return add3(c, R::template bring<Bring<3>>(s4), R::template bring<Bring<6>>(s4));
        }
        // FL and FLINV, RFC 3713 2.4.2.
        WARPSEAL_INLINE static void layer(State& s, const R (&k)[layer_words]) {
            R x = R::template linear<ToSBoxOutput>(s.left),
              y = R::template linear<ToSBoxOutput>(s.right);
            x = add_rotated_word(x, x & k[0]);
            x = x ^ (R::template bring<Back>(x) | k[1]);
            y = y ^ (R::template bring<Back>(y) | k[3]);
            y = add_rotated_word(y, y & k[2]);
            s.left = R::template linear<Enter>(x);
            s.right = R::template linear<Enter>(y);
        }
        WARPSEAL_INLINE static R add_rotated_word(const R& to, const R& from) {
            return add3(to, R::template linear<ShiftLeft>(R::template bring<Forth>(from)),
                        R::template linear<TopBit>(R::template bring<ForthNext>(from)));
        }
    };

    // Encrypts one block by tables. tables.lookup<table, byte>(word) is the entry of `table` for
    // that byte of the word.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt(uint32_t (&s)[4], const uint32_t* k,
                                        const TableLookup& tables) {
        for (int i = 0; i < 2; ++i) s[i] ^= k[i];
        encrypt_rounds<0>(s, k, tables);
    }

    // Table-based counter mode for blocks that differ only in their last two bytes. These do not
    // affect round 1, and each has its own contribution to round 2. In the input of round 3, the
    // third byte of each word depends on byte 15 and the fourth on byte 14. The others depend on
    // both. The words are the state after round 3 without the four bytes that depend on both.
    static constexpr int counting_words = 4;

    // Contribution of all bytes except byte 14, which is ignored.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_last(uint32_t (&section)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        using T = EncryptTables;
        begin_counting(section, s, k, tables);
        const uint32_t f = tables.template lookup<T::sp1110, 0>(section[2]) ^
                           tables.template lookup<T::sp0222, 1>(section[2]) ^
                           tables.template lookup<T::sp3033, 2>(section[2]) ^
                           tables.template lookup<T::sp4404, 3>(section[2]);
        add_permuted(section, f,
                     tables.template lookup<T::sp0222, 0>(section[3]) ^
                         tables.template lookup<T::sp3033, 1>(section[3]) ^
                         tables.template lookup<T::sp1110, 3>(section[3]));
        section[2] ^= k[6], section[3] = (section[3] & 0xff00ffffu) ^ k[7];
        add_permuted(section + 2, tables.template lookup<T::sp3033, 2>(section[0]),
                     tables.template lookup<T::sp4404, 2>(section[1]));
    }
    // Contribution of byte 14, the next counter byte.
    template <class TableLookup>
    WARPSEAL_INLINE static void count_next(uint32_t (&section)[counting_words],
                                           const uint32_t (&s)[4], const uint32_t* k,
                                           const TableLookup& tables) {
        using T = EncryptTables;
        uint32_t x[4];
        begin_counting(x, s, k, tables);
        section[0] = section[1] = section[2] = 0, section[3] = x[3] & 0x00ff0000u;
        add_permuted(section, 0, tables.template lookup<T::sp4404, 2>(x[3]));
        uint32_t left[2] = {x[0] ^ section[0], x[1] ^ section[1]};
        const uint32_t f = tables.template lookup<T::sp1110, 0>(x[2]) ^
                           tables.template lookup<T::sp0222, 1>(x[2]) ^
                           tables.template lookup<T::sp3033, 2>(x[2]) ^
                           tables.template lookup<T::sp4404, 3>(x[2]);
        add_permuted(left, f,
                     tables.template lookup<T::sp0222, 0>(x[3]) ^
                         tables.template lookup<T::sp3033, 1>(x[3]));
        add_permuted(left, 0, tables.template lookup<T::sp1110, 3>(x[3]));
        add_permuted(section + 2, tables.template lookup<T::sp4404, 3>(left[0]),
                     tables.template lookup<T::sp1110, 3>(left[1]));
    }
    // Runs the remaining rounds on the XOR of the contributions.
    template <class TableLookup>
    WARPSEAL_INLINE static void encrypt_counting(uint32_t (&s)[counting_words], const uint32_t* k,
                                                 const TableLookup& tables) {
        using T = EncryptTables;
        add_permuted(
            s + 2,
            tables.template lookup<T::sp1110, 0>(s[0]) ^ tables.template lookup<T::sp0222, 1>(s[0]),
            tables.template lookup<T::sp0222, 0>(s[1]) ^
                tables.template lookup<T::sp3033, 1>(s[1]));
        encrypt_rounds<3>(s, k, tables);
    }

private:
    // Runs rounds `first`, counted from 0, to the last.
    template <int first, class TableLookup>
    WARPSEAL_INLINE static void encrypt_rounds(uint32_t (&s)[4], const uint32_t* k,
                                               const TableLookup& tables) {
        WARPSEAL_UNROLL
        for (int section = 0; section < sections; ++section, k += section_words + layer_words) {
            if (section != 0) {
                s[1] ^= rotate_in_memory(s[0] & k[-4]);  // FL, RFC 3713 2.4.2
                s[0] ^= s[1] | k[-3];
                s[2] ^= s[3] | k[-1];  // FLINV
                s[3] ^= rotate_in_memory(s[2] & k[-2]);
                for (int i = 0; i < 2; ++i) s[i] ^= k[i];
            }
            WARPSEAL_UNROLL
            for (int r = 0; r < 6; r += 2) {
                if (section != 0 || r >= first)
                    add_round_by_tables(s + 2, s, k + 2 + 2 * r, tables);
                if (section != 0 || r + 1 >= first)
                    add_round_by_tables(s, s + 2, k + 4 + 2 * r, tables);
            }
            for (int i = 0; i < 2; ++i) s[2 + i] ^= k[14 + i];
        }
        swap_halves(s);
    }
    // Runs round 1 and adds the key of round 2, before its S-boxes.
    template <class TableLookup>
    WARPSEAL_INLINE static void begin_counting(uint32_t (&x)[4], const uint32_t (&s)[4],
                                               const uint32_t* k, const TableLookup& tables) {
        for (int i = 0; i < 4; ++i) x[i] = i < 2 ? s[i] ^ k[i] : s[i];
        add_round_by_tables(x + 2, x, k + 2, tables);
        for (int i = 0; i < 2; ++i) x[i] ^= k[4 + i];
    }

    struct Subkeys {
        uint32_t word[16 * sections + 4];
        int count = 0;
        // Appends words `from` to `end` of w rotated left by n bits.
        WARPSEAL_INLINE void append(const uint32_t (&w)[4], int n, int from = 0, int end = 4) {
            for (int i = from; i < end; ++i) {
                const uint32_t high = w[(i + n / 32) & 3], low = w[(i + n / 32 + 1) & 3];
                word[count++] = n % 32 == 0 ? high : high << n % 32 | low >> (32 - n % 32);
            }
        }
    };

    template <class T, int n>
    WARPSEAL_INLINE static void swap_halves(T (&s)[n]) {
        for (int i = 0; i < n / 2; ++i) {
            const T t = s[i];
            s[i] = s[n / 2 + i];
            s[n / 2 + i] = t;
        }
    }

    // P (RFC 3713 2.4.1) in words. `first` and `second` are the contributions of bytes 1 to 4 and 5
    // to 8 of x to bytes 1 to 4 of P(x).
    WARPSEAL_INLINE static void add_permuted(uint32_t* to, uint32_t first, uint32_t second) {
        to[0] ^= first ^ second;
        to[1] ^= first ^ second ^ rotate_left(first, 8);
    }

    template <class TableLookup>
    WARPSEAL_INLINE static void add_round_by_tables(uint32_t* to, const uint32_t* from,
                                                    const uint32_t* k, const TableLookup& tables) {
        using T = EncryptTables;
        const uint32_t first = tables.template lookup<T::sp1110, 0>(from[0]) ^
                               tables.template lookup<T::sp0222, 1>(from[0]) ^
                               tables.template lookup<T::sp3033, 2>(from[0]) ^
                               tables.template lookup<T::sp4404, 3>(from[0]);
        const uint32_t second = tables.template lookup<T::sp0222, 0>(from[1]) ^
                                tables.template lookup<T::sp3033, 1>(from[1]) ^
                                tables.template lookup<T::sp4404, 2>(from[1]) ^
                                tables.template lookup<T::sp1110, 3>(from[1]);
        for (int i = 0; i < 2; ++i) to[i] ^= k[i];
        add_permuted(to, first, second);
    }

    // F for key expansion. SBOX1 replaces all four S-boxes: the others are SBOX1 with its output or
    // input rotated (RFC 3713 2.4.1).
    template <class Sub>
    WARPSEAL_INLINE static void add_round(uint32_t* to, const uint32_t* from, uint32_t k0,
                                          uint32_t k1, const Sub& sub) {
        uint32_t x = from[0] ^ swap_bytes(k0), y = from[1] ^ swap_bytes(k1);
        x = sub.template substitute<S1>(rotate_bytes<1, 0xff000000>(x));
        y = sub.template substitute<S1>(rotate_bytes<1, 0x00ff0000>(y));
        x = rotate_bytes<1, 0x0000ff00>(rotate_bytes<7, 0x00ff0000>(x));
        y = rotate_bytes<1, 0x000000ff>(rotate_bytes<7, 0x0000ff00>(y));
        add_permuted(to, x ^ rotate_left(x, 8) ^ rotate_left(x, 16),
                     rotate_left(y, 8) ^ rotate_left(y, 16) ^ rotate_left(y, 24));
    }
    // Rotates each byte of w that `mask` selects left by n bits.
    template <int n, uint32_t mask>
    WARPSEAL_INLINE static uint32_t rotate_bytes(uint32_t w) {
        const uint32_t b = w & mask;
        return (w & ~mask) | (b << n & mask) | (b >> (8 - n) & mask);
    }

    template <int first, class V, class Key>
    WARPSEAL_INLINE static void rounds_from(V (&s)[16], const Key& key) {
        V z[8];
        for (int section = 0, k = 0, r = first;;
             ++section, k += 4 * (section_words + layer_words), r = 0) {
            for (; r < 6; r += 2) {
                substitute_half<Half::left>(z, s);
                add_permuted_bytes(s + 8, z, key, k + 8 + 8 * r);
                substitute_half<Half::right>(z, s + 8);
                add_permuted_bytes(s, z, key, k + 16 + 8 * r);
            }
            if (section == sections - 1) break;
            add(s + 8, key, k + 56);
            layer(s, key, k + 64);
        }
        for (int i = 8; i < 16; ++i) s[i] = leave_right(s[i]);
        swap_halves(s);
    }
    // Two states, half a round apart: where S-boxes and XORs run on different execution units, each
    // unit has work. The S-boxes of `a` after a section's last round are unused; the compiler
    // removes them.
    template <int first, class V, class Key>
    WARPSEAL_INLINE static void rounds_from(V (&a)[16], V (&b)[16], const Key& key) {
        for (int section = 0, k = 0;; ++section, k += 4 * (section_words + layer_words)) {
            V y[8], z[8];
            const auto two_rounds = [&](int at) __attribute__((always_inline)) {
                substitute_half<Half::left>(z, b);
                add_permuted_bytes(a + 8, y, key, at);
                substitute_half<Half::right>(y, a + 8);
                add_permuted_bytes(b + 8, z, key, at);
                substitute_half<Half::right>(z, b + 8);
                add_permuted_bytes(a, y, key, at + 8);
                substitute_half<Half::left>(y, a);
                add_permuted_bytes(b, z, key, at + 8);
            };
            substitute_half<Half::left>(y, a);
            if (first == 0 || section != 0) two_rounds(k + 8);
            two_rounds(k + 24);
            two_rounds(k + 40);
            if (section == sections - 1) break;
            add(a + 8, key, k + 56);
            add(b + 8, key, k + 56);
            layer(a, key, k + 64);
            layer(b, key, k + 64);
        }
        for (int i = 8; i < 16; ++i) a[i] = leave_right(a[i]), b[i] = leave_right(b[i]);
        swap_halves(a);
        swap_halves(b);
    }

    template <class V, class Begun>
    WARPSEAL_INLINE static void first_rounds_counting(V (&s)[16], const Begun& begun) {
        s[14] = enter_right(s[14] ^ begun(14));
        s[15] = enter_right(s[15] ^ begun(15));
        const V a = substitute_across<S4, Half::right>(s[14]),
                b = substitute_across<S1, Half::right>(s[15]),
                both = a ^ b;  // bytes 7 and 8 in P
        WARPSEAL_UNROLL
        for (int i = 0; i < 8; ++i) s[i] = begun(i) ^ (i % 4 == 2 ? b : i % 4 == 3 ? a : both);
        for (int i = 8; i < 14; ++i) s[i] = begun(i);
    }

    template <class V, class Key>
    WARPSEAL_INLINE static void add(V* half, const Key& key, int k) {
        for (int i = 0; i < 8; ++i) half[i] ^= key(k + i);
    }
    template <Half from, class V>
    WARPSEAL_INLINE static void substitute_half(V* z, const V* x) {
        z[0] = substitute_across<S1, from>(x[0]), z[1] = substitute_across<S2, from>(x[1]);
        z[2] = substitute_across<S3, from>(x[2]), z[3] = substitute_across<S4, from>(x[3]);
        z[4] = substitute_across<S2, from>(x[4]), z[5] = substitute_across<S3, from>(x[5]);
        z[6] = substitute_across<S4, from>(x[6]), z[7] = substitute_across<S1, from>(x[7]);
    }
    // Adds P in bytes: 20 sums of two or three bytes, four of which are used twice.
    template <class V, class Key>
    WARPSEAL_INLINE static void add_permuted_bytes(V* to, const V* z, const Key& key, int k) {
        const V pair[4] = {z[0] ^ z[5], z[1] ^ z[6], z[2] ^ z[7], z[3] ^ z[4]};
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i) {
            // Byte 5 + i of P.
            const V right = add3(pair[(i + 1) & 3], z[4 + ((i + 3) & 3)], pair[i]);
            const int next = (i + 1) & 3;
            to[next] =
                add3(to[next], right, add3(pair[(next + 2) & 3], z[4 + next], key(k + next)));
            to[4 + i] = add3(to[4 + i], right, key(k + 4 + i));
        }
    }

    // Applies FL and FLINV, and adds the words with which the left half starts the next section.
    template <class V, class Key>
    WARPSEAL_INLINE static void layer(V (&s)[16], const Key& key, int k) {
        fl(s, key, k);
        fl_inverse(s + 8, key, k + 8);
        add(s, key, k + 16);
    }
    // RFC 3713 2.4.2. To rotate a big-endian word left by 1, each byte is shifted and takes a bit
    // of the next.
    template <class V, class Key>
    WARPSEAL_INLINE static void fl(V* s, const Key& key, int k) {
        add_rotated(s + 4, s, key, k);
        for (int i = 0; i < 4; ++i) s[i] ^= s[4 + i] | key(k + 4 + i);
    }
    template <class V, class Key>
    WARPSEAL_INLINE static void fl_inverse(V* s, const Key& key, int k) {
        for (int i = 0; i < 4; ++i) s[i] ^= s[4 + i] | key(k + 4 + i);
        add_rotated(s + 4, s, key, k);
    }
    template <class V, class Key>
    WARPSEAL_INLINE static void add_rotated(V* to, const V* from, const Key& key, int k) {
        const V t[4] = {from[0] & key(k), from[1] & key(k + 1), from[2] & key(k + 2),
                        from[3] & key(k + 3)};
        WARPSEAL_UNROLL
        for (int i = 0; i < 4; ++i)
            to[i] = add3(to[i], shift_left<1>(t[i]), shift_right<7>(t[(i + 1) & 3]));
    }
};

using Ciphers = List<Camellia<128>, Camellia<192>, Camellia<256>>;

}  // namespace warpseal::ciphers::camellia
