// ML-KEM for a group of items, one for each lane of a Keccak word: the matrix, the noise, and
// K-PKE (FIPS 203, section 5). Fewer items use lanes for several polynomials of one item.
#pragma once

#include "backends/cpu/kem/mlkem_hash.h"
#include "kem/mlkem_bytes.h"

// The test of constant time marks here what becomes public (tests/timing).
#ifndef WARPSEAL_NOW_PUBLIC
#define WARPSEAL_NOW_PUBLIC(memory, bytes) static_cast<void>(memory)
#endif

namespace warpseal::cpu {
namespace {

template <class Target, const kem::MlKemParams& set>
struct MlKemGroup {
    using Lanes = typename Target::Lanes;
    using Word = typename Target::KeccakWord;
    using Poly = kem::mlkem::Poly;
    static constexpr int lanes = hash_lanes<Word>, k = set.k;
    static constexpr int scratch_polys = lanes > 4 ? lanes : 4;
    // Vectors may read and write up to 64 bytes past the end of these arrays.
    static constexpr size_t slack = 64;
    static constexpr size_t block_bytes = 8 * words_of_shake128;
    static constexpr size_t noise_bytes = 64 * (set.eta1 > set.eta2 ? set.eta1 : set.eta2);
    static constexpr size_t ciphertext_bytes = (set.ciphertext_bytes() + slack + 63) / 64 * 64;

    Poly secret[lanes][k];   // s, or y
    Poly sum[lanes][k + 1];  // of products
    Poly scratch[scratch_polys];
    Word state[25];  // of the hash at work
    alignas(64) uint8_t blocks[lanes][block_bytes + slack - block_bytes % 64];
    alignas(64) uint8_t noise[lanes][2 * k + 1][noise_bytes];
    // For each item: what the matrix is made of, the seed of the noise, the shared secret.
    alignas(64) uint8_t rho[lanes][32], seed[lanes][32], key[lanes][32];
    alignas(64) uint8_t message[lanes][32], hash[lanes][32], rejected[lanes][32];
    alignas(64) uint8_t ciphertext[lanes][ciphertext_bytes];

    // Values computed from a public key, independent of coins.
    struct PreparedKey {
        Poly matrix[k * k];  // transposed, in the transform's order, as t
        Poly t[k];
        alignas(64) uint8_t hash[32];
        uint32_t refused;  // 1 if items under the key have no result, else 0
    };
    struct PreparedSecret {
        PreparedKey key;
        Poly s[k];  // in the transform's order
        alignas(64) uint8_t rejection[32];
    };

    // Draws PRF output for noise polynomials [begin, end) of each item, `words` words each.
    void draw_noise(int count, int begin, int end, int words) {
        const int each = end - begin;
        for (int first = 0; first < count * each; first += lanes) {
            const int some = count * each - first < lanes ? count * each - first : lanes;
            const auto stream = [&](int lane) { return first + (lane < some ? lane : 0); };
            WordSponge<Word, words_of_shake256> sponge(state);
            sponge.absorb_messages([&](int lane) { return seed[stream(lane) / each]; }, 4);
            uint64_t last[lanes];
            for (int i = 0; i < lanes; ++i)
                last[i] = static_cast<uint64_t>(begin + stream(i) % each) |
                          uint64_t{kem::keccak::shake_suffix} << 8;
            sponge.finish(word_of(last));
            const auto to = [&](int i) {
                return noise[stream(i) / each][begin + stream(i) % each];
            };
            const int now = words < words_of_shake256 ? words : words_of_shake256;
            sponge.write(to, 0, now, some);
            if (words > now) {
                permute<Word>(sponge.state);
                sponge.write([&](int i) { return to(i) + 8 * now; }, 0, words - now, some);
            }
        }
    }
    // Draws the noise of `wide` polynomials of width eta1 and `narrow` ones of width eta2.
    void draw_noise(int count, int wide, int narrow) {
        if constexpr (set.eta1 == set.eta2) {
            draw_noise(count, 0, wide + narrow, 8 * set.eta1);
        } else {
            draw_noise(count, 0, wide, 8 * set.eta1);
            if (narrow > 0) draw_noise(count, wide, wide + narrow, 8 * set.eta2);
        }
    }

    // Samples every polynomial of the items' matrices once, from rho. Calls each(item, i,
    // polynomial) with polynomial i of the item's matrix, of its transpose if `transposed`.
    template <class Each>
    void for_matrices(int count, bool transposed, const Each& each) {
        for (int first = 0; first < count * k * k; first += lanes) {
            const int left = count * k * k - first, some = left < lanes ? left : lanes;
            sample_matrix(first, some, transposed);
            kem::mlkem::for_all<Lanes>(scratch, some,
                                       [](Poly& a, Poly& b) { kem::mlkem::to_split<Lanes>(a, b); });
            for (int i = 0; i < some; ++i)
                each((first + i) / (k * k), (first + i) % (k * k), scratch[i]);
        }
    }
    // Row i of sum gets the product of row i of the matrix, or its transpose, and `secret`.
    void multiply_matrix(int count, bool transposed) {
        for (int item = 0; item < count; ++item) memset(sum[item], 0, k * sizeof(Poly));
        for_matrices(count, transposed, [&](int item, int at, const Poly& polynomial) {
            kem::mlkem::multiply_add<Lanes>(sum[item][at / k], polynomial, secret[item][at % k]);
        });
    }
    void sample_matrix(int first, int some, bool transposed) {
        const auto stream = [&](int lane) { return first + (lane < some ? lane : 0); };
        WordSponge<Word, words_of_shake128> sponge(state);
        sponge.absorb_messages([&](int lane) { return rho[stream(lane) / (k * k)]; }, 4);
        uint64_t last[lanes];
        for (int i = 0; i < lanes; ++i) {
            const int at = stream(i) % (k * k), row = at / k, column = at % k;
            last[i] = static_cast<uint64_t>(transposed ? row : column) |
                      static_cast<uint64_t>(transposed ? column : row) << 8 |
                      uint64_t{kem::keccak::shake_suffix} << 16;
        }
        sponge.finish(word_of(last));
        int have[lanes] = {};
        for (bool done = false;;) {
            sponge.write([&](int i) { return blocks[i]; }, 0, words_of_shake128, some);
            done = true;
            for (int i = 0; i < some; ++i) {
                have[i] = Target::append_below_q(scratch[i].at, have[i], blocks[i],
                                                 static_cast<int>(block_bytes));
                done = done && have[i] == kem::mlkem::n;
            }
            if (done) return;
            permute<Word>(sponge.state);
        }
    }
    static WARPSEAL_INLINE Word word_of(const uint64_t (&lane)[lanes]) {
        Word word;
        memcpy(&word, lane, sizeof word);
        return word;
    }

    // Reads k polynomials of 12 bits a coefficient to scratch, in the transform's order. Returns 1
    // if a coefficient is q or more, else 0.
    uint32_t read_vector(const uint8_t* in) {
        uint32_t exceeds = 0;
        for (int j = 0; j < k; ++j) {
            Target::template decode<12>(scratch[j].at, in + j * kem::MlKemParams::poly_bytes(12));
            exceeds |= kem::mlkem::exceeds_modulus<Lanes>(scratch[j]);
        }
        kem::mlkem::for_all<Lanes>(scratch, k,
                                   [](Poly& a, Poly& b) { kem::mlkem::to_split<Lanes>(a, b); });
        return exceeds;
    }
    // Adds the product of k polynomials and the item's `secret`.
    void add_products(int item, const Poly* polys, Poly& to) {
        for (int j = 0; j < k; ++j) kem::mlkem::multiply_add<Lanes>(to, polys[j], secret[item][j]);
    }
    // Writes k polynomials of the transform's domain, from scratch.
    void write_vector(uint8_t* out) {
        kem::mlkem::for_all<Lanes>(scratch, k,
                                   [](Poly& a, Poly& b) { kem::mlkem::from_split<Lanes>(a, b); });
        for (int j = 0; j < k; ++j) {
            kem::mlkem::for_lanes<Lanes>(scratch[j],
                                         [](auto& v, int) { v = kem::mlkem::canonical<Lanes>(v); });
            Target::template encode<12>(out + j * kem::MlKemParams::poly_bytes(12), scratch[j].at);
        }
    }
    static void transform(Poly* polys, int count) {
        kem::mlkem::for_all<Lanes>(polys, count,
                                   [](Poly& a, Poly& b) { kem::mlkem::ntt<Lanes>(a, b); });
    }
    static void transform_back(Poly* polys, int count) {
        kem::mlkem::for_all<Lanes>(polys, count,
                                   [](Poly& a, Poly& b) { kem::mlkem::inverse_ntt<Lanes>(a, b); });
    }
    void sample_secrets(int count) {
        for (int item = 0; item < count; ++item)
            for (int j = 0; j < k; ++j)
                kem::mlkem::sample_noise<Lanes, set.eta1>(secret[item][j], noise[item][j]);
        transform(secret[0], count * k);
    }

    // K-PKE.KeyGen after its first line (algorithm 13), from rho and seed: writes s and t.
    template <class PublicKey, class SecretKey>
    void make_keys(int count, const PublicKey& public_key, const SecretKey& secret_key) {
        draw_noise(count, 2 * k, 0);
        sample_secrets(count);
        multiply_matrix(count, false);
        for (int item = 0; item < count; ++item) {
            for (int i = 0; i < k; ++i)
                kem::mlkem::sample_noise<Lanes, set.eta1>(scratch[i], noise[item][k + i]);
            transform(scratch, k);
            for (int i = 0; i < k; ++i)
                kem::mlkem::for_lanes<Lanes>(scratch[i], [&](auto& v, int at) {
                    v = kem::mlkem::reduce<Lanes>(v) +
                        kem::mlkem::montgomery<Lanes>(Lanes::load(sum[item][i].at + at),
                                                      kem::mlkem::montgomery_square);
                });
            write_vector(public_key(item));
            memcpy(public_key(item) + set.vector_bytes(), rho[item], 32);
            for (int i = 0; i < k; ++i) scratch[i] = secret[item][i];
            write_vector(secret_key(item));
        }
    }

    // Prepares a public key, but for its hash.
    void prepare(const uint8_t* public_key, PreparedKey& out) {
        memcpy(rho[0], public_key + set.vector_bytes(), 32);
        for_matrices(1, true, [&](int, int at, const Poly& polynomial) {
            memcpy(&out.matrix[at], &polynomial, sizeof(Poly));
        });
        out.refused = read_vector(public_key);
        memcpy(out.t, scratch, sizeof out.t);
    }

    // Rows of sum get the products of the transposed matrix and `secret`, the last that of t. Sets
    // refused[i] to 1 if public key i has a coefficient of q or more, else to 0.
    template <class PublicKey>
    void multiply_keys(int count, const PublicKey& public_key, uint32_t (&refused)[lanes]) {
        for (int item = 0; item < count; ++item)
            memcpy(rho[item], public_key(item) + set.vector_bytes(), 32);
        multiply_matrix(count, true);
        for (int item = 0; item < count; ++item) {
            refused[item] = read_vector(public_key(item));
            memset(&sum[item][k], 0, sizeof(Poly));
            add_products(item, scratch, sum[item][k]);
        }
    }
    void multiply_keys(int count, const PreparedKey& key, uint32_t (&refused)[lanes]) {
        for (int item = 0; item < count; ++item) {
            memset(sum[item], 0, sizeof sum[item]);
            for (int i = 0; i < k; ++i) add_products(item, key.matrix + i * k, sum[item][i]);
            add_products(item, key.t, sum[item][k]);
            refused[item] = key.refused;
        }
    }

    // K-PKE.Encrypt (algorithm 14) of message, from seed, under keys as multiply_keys takes them.
    template <class Keys, class Ciphertext>
    void encrypt(int count, const Keys& keys, const Ciphertext& to, uint32_t (&refused)[lanes]) {
        draw_noise(count, k, k + 1);
        sample_secrets(count);
        multiply_keys(count, keys, refused);
        transform_back(sum[0], count * (k + 1));
        for (int item = 0; item < count; ++item) {
            for (int i = 0; i <= k; ++i) {
                kem::mlkem::sample_noise<Lanes, set.eta2>(scratch[i % k], noise[item][k + i]);
                if (i == k) Target::add_message(scratch[i % k], message[item]);
                kem::mlkem::for_lanes<Lanes>(sum[item][i], [&](auto& v, int at) {
                    v += Lanes::load(scratch[i % k].at + at);
                });
                write_compressed(item, i, to(item));
            }
        }
    }
    void write_compressed(int item, int i, uint8_t* out) {
        if (i < k)
            compress<set.du>(sum[item][i], out + static_cast<size_t>(i) * set.poly_bytes(set.du));
        else
            compress<set.dv>(sum[item][i], out + set.u_bytes());
    }
    template <int d>
    static void compress(Poly& a, uint8_t* out) {
        kem::mlkem::for_lanes<Lanes>(a, [](auto& v, int) {
            v = kem::mlkem::compress<Lanes, d>(kem::mlkem::canonical<Lanes>(v));
        });
        Target::template encode<d>(out, a.at);
    }
    template <int d>
    static void decompress(Poly& a, const uint8_t* in) {
        Target::template decode<d>(a.at, in);
        kem::mlkem::for_lanes<Lanes>(a,
                                     [](auto& v, int) { v = kem::mlkem::decompress<Lanes, d>(v); });
    }

    // Adds the product of an item's s and its `secret`.
    template <class SecretKey>
    void add_secret_products(int item, const SecretKey& secret_key, Poly& to) {
        read_vector(secret_key(item));
        add_products(item, scratch, to);
    }
    void add_secret_products(int item, const PreparedSecret& key, Poly& to) {
        add_products(item, key.s, to);
    }

    // K-PKE.Decrypt (algorithm 15) to message, under keys as add_secret_products takes them.
    template <class Keys, class Ciphertext>
    void decrypt(int count, const Keys& keys, const Ciphertext& ciphertext_of) {
        for (int item = 0; item < count; ++item)
            for (int j = 0; j < k; ++j)
                decompress<set.du>(
                    secret[item][j],
                    ciphertext_of(item) + static_cast<size_t>(j) * set.poly_bytes(set.du));
        transform(secret[0], count * k);
        for (int item = 0; item < count; ++item) {
            memset(&sum[item][0], 0, sizeof(Poly));
            add_secret_products(item, keys, sum[item][0]);
        }
        for (int item = 0; item < count; ++item) {
            transform_back(sum[item], 1);
            decompress<set.dv>(scratch[0], ciphertext_of(item) + set.u_bytes());
            kem::mlkem::for_lanes<Lanes>(
                sum[item][0], [&](auto& v, int at) { v = Lanes::load(scratch[0].at + at) - v; });
            compress<1>(sum[item][0], message[item]);
        }
    }
};

}  // namespace
}  // namespace warpseal::cpu
