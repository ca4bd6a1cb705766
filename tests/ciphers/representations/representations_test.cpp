// Compares the representations of every cipher header with each other, the standard's example and
// the reference.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary
// interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "core/bit_planes.h"
#include "core/bitsliced_byte.h"
#include "every_cipher.h"
#include "reference/modes.h"

namespace {

using namespace warpseal;

std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(count);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    return bytes;
}

// A byte of one block: the simplest byte representation, with S-boxes as tables.
struct PlainByte {
    uint8_t v = 0;
    static PlainByte zero() { return {}; }
    friend PlainByte operator^(PlainByte a, PlainByte b) { return of(a.v ^ b.v); }
    friend PlainByte operator&(PlainByte a, PlainByte b) { return of(a.v & b.v); }
    friend PlainByte operator|(PlainByte a, PlainByte b) { return of(a.v | b.v); }
    friend PlainByte operator~(PlainByte a) { return of(~a.v); }
    friend PlainByte operator+(PlainByte a, PlainByte b) { return of(a.v + b.v); }
    PlainByte& operator^=(PlainByte b) { return *this = *this ^ b; }
    friend PlainByte add3(PlainByte a, PlainByte b, PlainByte c) { return a ^ b ^ c; }
    template <class S>
    friend PlainByte substitute(PlainByte a) {
        return of(table<S>()[a.v]);
    }
    template <int n>
    friend PlainByte shift_left(PlainByte a) {
        return of(a.v << n);
    }
    template <int n>
    friend PlainByte shift_right(PlainByte a) {
        return of(a.v >> n);
    }
    template <class S>
    static const std::vector<uint8_t>& table() {
        static const std::vector<uint8_t> entries = [] {
            std::vector<uint8_t> out;
            for (int x = 0; x < 256; ++x) out.push_back(value<S>(static_cast<uint8_t>(x)));
            return out;
        }();
        return entries;
    }

private:
    static PlainByte of(int x) { return {static_cast<uint8_t>(x)}; }
};

// Substitutes the four bytes of a word by table, for key expansion.
struct TableSubstitution {
    template <class S>
    uint32_t substitute(uint32_t word) const {
        uint32_t out = 0;
        for (int i = 0; i < 32; i += 8)
            out |= uint32_t{PlainByte::table<S>()[word >> i & 255]} << i;
        return out;
    }
};

// Every representation of a cipher header, on 64 blocks under one key.
template <class Cipher>
struct Representations {
    static constexpr int block_bytes = Cipher::block_bytes, blocks = 64;
    using Schedule = uint32_t[Cipher::schedule_words];

    Schedule schedule[2] = {};  // forward, inverse
    explicit Representations(const uint8_t* key) {
        Cipher::expand(schedule[0], key, TableSubstitution{});
        Cipher::invert(schedule[1], schedule[0]);
        Schedule by_circuit = {};
        Cipher::expand(by_circuit, key, WordSubstitution{});
        EXPECT_EQ(std::memcmp(by_circuit, schedule[0], sizeof by_circuit), 0)
            << Cipher::name << ": key expansion by circuits";
    }
    uint32_t bit(int d, int i) const { return schedule[d][i / 32] >> (i % 32) & 1; }
    uint8_t byte(int d, int i) const {
        return static_cast<uint8_t>(schedule[d][i / 4] >> (8 * (i % 4)));
    }

    // d: 0 encrypts, 1 decrypts. Returns false if the cipher has no such representation.
    bool by_bytes(int d, std::vector<uint8_t>& text) const {
        const auto key = [&](int i) { return PlainByte{byte(d, i)}; };
        PlainByte s[block_bytes];
        if constexpr (requires { Cipher::encrypt_bytes(s, key); }) {
            for (size_t at = 0; at < text.size(); at += block_bytes) {
                for (int i = 0; i < block_bytes; ++i) s[i].v = text[at + static_cast<size_t>(i)];
                if constexpr (requires { Cipher::decrypt_bytes(s, key); })
                    d == 0 ? Cipher::encrypt_bytes(s, key) : Cipher::decrypt_bytes(s, key);
                else
                    Cipher::encrypt_bytes(s, key);
                for (int i = 0; i < block_bytes; ++i) text[at + static_cast<size_t>(i)] = s[i].v;
            }
            return true;
        }
        return false;
    }
    // The byte representation over bitsliced bytes.
    bool by_bitsliced_bytes(int d, std::vector<uint8_t>& text) const {
        using V = BitslicedByte<uint64_t>;
        const auto key = [&](int i) {
            V v{};
            for (int b = 0; b < 8; ++b) v.bit[b] = byte(d, i) >> b & 1 ? ~uint64_t{0} : 0;
            return v;
        };
        V s[block_bytes];
        if constexpr (requires { Cipher::encrypt_bytes(s, key); }) {
            uint64_t plane[8 * block_bytes];
            BitPlanes<uint64_t>::from_blocks<block_bytes>(plane, text.data());
            for (int i = 0; i < 8 * block_bytes; ++i) s[i / 8].bit[i % 8] = plane[i];
            if constexpr (requires { Cipher::decrypt_bytes(s, key); })
                d == 0 ? Cipher::encrypt_bytes(s, key) : Cipher::decrypt_bytes(s, key);
            else
                Cipher::encrypt_bytes(s, key);
            for (int i = 0; i < 8 * block_bytes; ++i) plane[i] = s[i / 8].bit[i % 8];
            BitPlanes<uint64_t>::to_blocks<block_bytes>(text.data(), plane);
            return true;
        }
        return false;
    }
    bool by_words(int d, std::vector<uint8_t>& text) const {
        const auto key = [&](int i) { return schedule[d][i]; };
        uint32_t s[block_bytes / 4];
        if constexpr (requires { Cipher::encrypt_words(s, key); }) {
            for (size_t at = 0; at < text.size(); at += block_bytes) {
                std::memcpy(s, &text[at], block_bytes);
                if constexpr (requires { Cipher::decrypt_words(s, key); })
                    d == 0 ? Cipher::encrypt_words(s, key) : Cipher::decrypt_words(s, key);
                else
                    Cipher::encrypt_words(s, key);
                std::memcpy(&text[at], s, block_bytes);
            }
            return true;
        }
        return false;
    }
    template <class Word>
    bool by_bitsliced_words(int d, std::vector<uint8_t>& text) const {
        const auto key = [&](int i) { return static_cast<Word>(0 - static_cast<Word>(bit(d, i))); };
        Word plane[8 * block_bytes];
        if constexpr (requires { Cipher::encrypt_bitsliced(plane, key); }) {
            for (size_t at = 0; at < text.size(); at += BitPlanes<Word>::blocks * block_bytes) {
                BitPlanes<Word>::template from_blocks<block_bytes>(plane, &text[at]);
                if constexpr (requires { Cipher::decrypt_bitsliced(plane, key); })
                    d == 0 ? Cipher::encrypt_bitsliced(plane, key)
                           : Cipher::decrypt_bitsliced(plane, key);
                else
                    Cipher::encrypt_bitsliced(plane, key);
                BitPlanes<Word>::template to_blocks<block_bytes>(&text[at], plane);
            }
            return true;
        }
        return false;
    }
    bool by_tables(int d, std::vector<uint8_t>& text) const {
        if constexpr (requires { typename Cipher::EncryptTables; }) {
            static const TableData<typename Cipher::EncryptTables> table_data;
            const ArrayLayout<typename Cipher::EncryptTables> tables{table_data};
            uint32_t s[block_bytes / 4];
            for (size_t at = 0; at < text.size(); at += block_bytes) {
                std::memcpy(s, &text[at], block_bytes);
                if constexpr (requires { typename Cipher::DecryptTables; }) {
                    static const TableData<typename Cipher::DecryptTables> inverse_tables;
                    d == 0 ? Cipher::encrypt(s, schedule[0], tables)
                           : Cipher::decrypt(
                                 s, schedule[1],
                                 ArrayLayout<typename Cipher::DecryptTables>{inverse_tables});
                } else {
                    Cipher::encrypt(s, schedule[d], tables);
                }
                std::memcpy(&text[at], s, block_bytes);
            }
            return true;
        }
        return false;
    }
};

TEST(Representations, AllMatchTheStandardsExample) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        const KnownAnswer known = Cipher::known();
        const Representations<Cipher> representations(known.key);
        std::vector<uint8_t> in, out;
        for (int j = 0; j < 64; ++j) {
            in.insert(in.end(), known.plaintext, known.plaintext + Cipher::block_bytes);
            out.insert(out.end(), known.ciphertext, known.ciphertext + Cipher::block_bytes);
        }
        int found = 0;
        for (int d = 0; d < 2; ++d) {
            const std::vector<uint8_t>&from = d == 0 ? in : out, &to = d == 0 ? out : in;
            const auto expect = [&](const char* representation, bool has,
                                    const std::vector<uint8_t>& got) {
                EXPECT_TRUE(!has || got == to)
                    << Cipher::name << " by " << representation << (d == 0 ? "" : ", back");
                found += has ? 1 : 0;
            };
            std::vector<uint8_t> text[6] = {from, from, from, from, from, from};
            expect("bytes", representations.by_bytes(d, text[0]), text[0]);
            expect("bitsliced bytes", representations.by_bitsliced_bytes(d, text[1]), text[1]);
            expect("words", representations.by_words(d, text[2]), text[2]);
            expect("bitsliced words of 32",
                   representations.template by_bitsliced_words<uint32_t>(d, text[3]), text[3]);
            expect("bitsliced words of 64",
                   representations.template by_bitsliced_words<uint64_t>(d, text[4]), text[4]);
            expect("tables", representations.by_tables(d, text[5]), text[5]);
        }
        EXPECT_GE(found, 2) << Cipher::name << " has no representation";
    });
}

// Random keys and blocks: every representation equals the reference or, without one in
// tests/reference, each other.
TEST(Representations, AgreeWithTheReference) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        for (unsigned round = 0; round < 20; ++round) {
            const std::vector<uint8_t> key = random_bytes(Cipher::key_bytes, 100 + round),
                                       in = random_bytes(64 * Cipher::block_bytes, 200 + round);
            const Representations<Cipher> representations(key.data());
            const auto reference_cipher = reference::cipher(Cipher::name, key);
            if (reference_cipher == nullptr && round == 0)
                std::printf(
                    "NOTE %s: no reference implementation; its representations are compared with "
                    "each other\n",
                    Cipher::name);
            for (int d = 0; d < 2; ++d) {
                std::vector<uint8_t> wanted = in;
                if (reference_cipher != nullptr)
                    wanted = d == 0 ? reference::ecb_encrypt(*reference_cipher, in)
                                    : reference::ecb_decrypt(*reference_cipher, in);
                else if (!representations.by_bytes(d, wanted) &&
                         !representations.by_words(d, wanted))
                    representations.template by_bitsliced_words<uint64_t>(d, wanted);
                const auto expect = [&](const char* representation, bool has,
                                        const std::vector<uint8_t>& got) {
                    EXPECT_TRUE(!has || got == wanted)
                        << Cipher::name << " by " << representation << (d == 0 ? "" : ", back");
                };
                std::vector<uint8_t> text[6] = {in, in, in, in, in, in};
                expect("bytes", representations.by_bytes(d, text[0]), text[0]);
                expect("bitsliced bytes", representations.by_bitsliced_bytes(d, text[1]), text[1]);
                expect("words", representations.by_words(d, text[2]), text[2]);
                expect("bitsliced words of 32",
                       representations.template by_bitsliced_words<uint32_t>(d, text[3]), text[3]);
                expect("bitsliced words of 64",
                       representations.template by_bitsliced_words<uint64_t>(d, text[4]), text[4]);
                expect("tables", representations.by_tables(d, text[5]), text[5]);
            }
            if (testing::Test::HasFailure()) return;
        }
    });
}

}  // namespace
