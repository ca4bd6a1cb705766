// The forms of the algorithms against each other and their standards: planes, tables, FIPS 197; GHASH by words against single bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

// A vector word without its instruction set is passed in memory; nothing here crosses a binary interface.
#pragma GCC diagnostic ignored "-Wpsabi"

#include "backends/cpu/planes.h"
#include "ciphers/aes.h"
#include "macs/ghash.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/gcm.h"

namespace {

using namespace warpseal;
using namespace warpseal::ciphers::aes;

using Vector128 = uint64_t __attribute__((vector_size(16)));
using Vector256 = uint64_t __attribute__((vector_size(32)));
using Vector512 = uint64_t __attribute__((vector_size(64)));

std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(count);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    return bytes;
}

template <class Word>
class PlanesOf : public testing::Test {};
using Words = testing::Types<uint32_t, uint64_t, Vector128, Vector256, Vector512>;
TYPED_TEST_SUITE(PlanesOf, Words);

template <class Word>
bool lane(const Word& word, size_t j) {
    uint8_t bytes[sizeof(Word)];
    std::memcpy(bytes, &word, sizeof word);
    return (bytes[j / 8] >> (j % 8) & 1) != 0;
}

template <class Word, int block_bytes>
void expect_transposed() {
    const std::vector<uint8_t> blocks = random_bytes(Planes<Word>::blocks * block_bytes, 1);
    Word plane[8 * block_bytes];
    Planes<Word>::template from_blocks<block_bytes>(plane, blocks.data());
    for (size_t j = 0; j < Planes<Word>::blocks; ++j)
        for (size_t i = 0; i < 8 * block_bytes; ++i)
            ASSERT_EQ(lane(plane[i], j), (blocks[j * block_bytes + i / 8] >> (i % 8) & 1) != 0) << "block " << j << ", bit " << i;
    std::vector<uint8_t> back(blocks.size());
    Planes<Word>::template to_blocks<block_bytes>(back.data(), plane);
    EXPECT_EQ(back, blocks);
}

TYPED_TEST(PlanesOf, HoldBitIOfEveryBlock) {
    expect_transposed<TypeParam, 8>();
    expect_transposed<TypeParam, 16>();
}

TYPED_TEST(PlanesOf, CircuitsAreTheSBoxes) {
    const SBoxes boxes;
    constexpr int lanes = Planes<TypeParam>::blocks;
    for (int base = 0; base < 256; base += lanes) {
        uint8_t in[lanes * 16] = {};
        for (int j = 0; j < lanes; ++j) in[16 * j] = static_cast<uint8_t>(base + j);
        TypeParam forward[128], inverse[128];
        Planes<TypeParam>::template from_blocks<16>(forward, in);
        std::memcpy(inverse, forward, sizeof forward);
        substitute_planes(forward);
        substitute_inverse_planes(inverse);
        uint8_t out[lanes * 16], back[lanes * 16];
        Planes<TypeParam>::template to_blocks<16>(out, forward);
        Planes<TypeParam>::template to_blocks<16>(back, inverse);
        for (int j = 0; j < lanes; ++j) {
            EXPECT_EQ(out[16 * j], boxes.forward[(base + j) & 255]);
            EXPECT_EQ(back[16 * j], boxes.inverse[(base + j) & 255]);
        }
    }
}

// One block by the tables that GPUs use.
template <class Cipher, Direction direction>
void by_tables(const uint8_t* key, const uint8_t* in, uint8_t* out) {
    static const TableData<EncryptTables> encrypt_tables;
    static const TableData<DecryptTables> decrypt_tables;
    static const SBoxes boxes;
    uint32_t forward[4 * (Cipher::rounds + 1)], inverse[4 * (Cipher::rounds + 1)];
    Cipher::expand(forward, key, [](uint32_t w) {
        return uint32_t{boxes.forward[w & 255]} | uint32_t{boxes.forward[w >> 8 & 255]} << 8 |
               uint32_t{boxes.forward[w >> 16 & 255]} << 16 | uint32_t{boxes.forward[w >> 24]} << 24;
    });
    for (int r = 0; r <= Cipher::rounds; ++r)
        for (int c = 0; c < 4; ++c) {
            const uint32_t w = forward[4 * (Cipher::rounds - r) + c];
            uint32_t mixed = 0;  // InvMixColumns of a word: row i of the column meets 0e 09 0d 0b, rotated down by i
            for (int i = 0; i < 4; ++i) {
                const uint8_t b = static_cast<uint8_t>(w >> (8 * i));
                const uint32_t column = uint32_t{field::multiply(14, b)} | uint32_t{field::multiply(9, b)} << 8 |
                                        uint32_t{field::multiply(13, b)} << 16 | uint32_t{field::multiply(11, b)} << 24;
                mixed ^= rotate_left(column, 8 * i);
            }
            inverse[4 * r + c] = r == 0 || r == Cipher::rounds ? w : mixed;
        }
    uint32_t s[4];
    std::memcpy(s, in, 16);
    if (direction == Direction::encrypt)
        Cipher::encrypt(s, forward, ArrayLayout<EncryptTables>{encrypt_tables});
    else
        Cipher::decrypt(s, inverse, ArrayLayout<DecryptTables>{decrypt_tables});
    std::memcpy(out, s, 16);
}

template <class Cipher, class Word>
void expect_planes_agree() {
    using Form = cpu::PlaneForm<Cipher, Word>;
    const Block<4> none{};
    auto schedule = std::make_unique<typename Form::Schedule>();

    const KnownBlock known = Cipher::known();
    uint8_t block[16];
    Form::expand(*schedule, known.key);
    Form::template sweep<modes::Ecb, Direction::encrypt>(*schedule, none, 0, known.plaintext, block, 16);
    EXPECT_EQ(std::memcmp(block, known.ciphertext, 16), 0) << "FIPS 197, appendix C";
    Form::template sweep<modes::Ecb, Direction::decrypt>(*schedule, none, 0, block, block, 16);
    EXPECT_EQ(std::memcmp(block, known.plaintext, 16), 0) << "FIPS 197, appendix C, back";

    // More blocks than one tile, the last tile not full.
    const size_t bytes = (Form::tile_blocks + Form::tile_blocks / 2 + 3) * 16;
    const std::vector<uint8_t> key = random_bytes(Cipher::key_bytes, 2), text = random_bytes(bytes, 3);
    std::vector<uint8_t> wanted(bytes), got(bytes);
    Form::expand(*schedule, key.data());
    for (size_t at = 0; at < bytes; at += 16) by_tables<Cipher, Direction::encrypt>(key.data(), text.data() + at, wanted.data() + at);
    Form::template sweep<modes::Ecb, Direction::encrypt>(*schedule, none, 0, text.data(), got.data(), bytes);
    EXPECT_EQ(got, wanted);
    for (size_t at = 0; at < bytes; at += 16) by_tables<Cipher, Direction::decrypt>(key.data(), text.data() + at, wanted.data() + at);
    Form::template sweep<modes::Ecb, Direction::decrypt>(*schedule, none, 0, text.data(), got.data(), bytes);
    EXPECT_EQ(got, wanted);

    // CTR across the end of 2^128, in place, ending within a block.
    Block<4> iv;
    std::memset(&iv, 0xff, sizeof iv);
    uint8_t counter[16] = {}, keystream[16];
    wanted = text;
    for (size_t at = 0, i = 0; at < bytes; at += 16, ++i) {  // block i has counter i - 1, modulo 2^128
        store_be64(counter, i == 0 ? ~uint64_t{0} : 0);
        store_be64(counter + 8, i - 1);
        by_tables<Cipher, Direction::encrypt>(key.data(), counter, keystream);
        for (size_t j = 0; j < 16; ++j) wanted[at + j] = static_cast<uint8_t>(text[at + j] ^ keystream[j]);
    }
    got = text;
    Form::template sweep<modes::Ctr, Direction::encrypt>(*schedule, iv, 0, got.data(), got.data(), bytes - 5);
    std::copy(text.end() - 5, text.end(), wanted.end() - 5);
    EXPECT_EQ(got, wanted);
}

TYPED_TEST(PlanesOf, AesAgreesWithItsTablesAndFips197) {
    if constexpr (sizeof(TypeParam) >= 8) {  // the cores' words; a kernel's word of 32 bits has the same text below `sweep`
        expect_planes_agree<Aes<128>, TypeParam>();
        expect_planes_agree<Aes<192>, TypeParam>();
        expect_planes_agree<Aes<256>, TypeParam>();
    } else {
        uint32_t bits[Aes<128>::key_planes / 32], plane[128];
        const KnownBlock known = Aes<128>::known();
        Aes<128>::expand_planes(bits, known.key);
        uint8_t blocks[32 * 16];
        for (int j = 0; j < 32; ++j) std::memcpy(blocks + 16 * j, known.plaintext, 16);
        Planes<uint32_t>::from_blocks<16>(plane, blocks);
        Aes<128>::encrypt_planes(plane, [&](int i) { return 0 - (bits[i / 32] >> (i % 32) & 1); });
        Planes<uint32_t>::to_blocks<16>(blocks, plane);
        for (int j = 0; j < 32; ++j) EXPECT_EQ(std::memcmp(blocks + 16 * j, known.ciphertext, 16), 0) << "lane " << j;
    }
}

TEST(Circuit, SubWordIsFourSBoxes) {
    const SBoxes boxes;
    std::mt19937 random(4);
    for (int i = 0; i < 10000; ++i) {
        const uint32_t w = random();
        uint32_t wanted = 0;
        for (int b = 0; b < 4; ++b) wanted |= uint32_t{boxes.forward[w >> (8 * b) & 255]} << (8 * b);
        ASSERT_EQ(CircuitSubWord{}(w), wanted);
    }
}

TEST(Counter, CarriesInItsOwnWordsAlone) {
    Block<4> ones;
    std::memset(&ones, 0xff, sizeof ones);
    const Block<4> all = modes::Ctr::mask(ones, 1), low = modes::Gcm::mask(ones, 0);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(all.word[i], 0u);
        EXPECT_EQ(low.word[i], i == 3 ? 0u : 0xffffffffu);
    }
    const Block<2> half = modes::Ctr::mask(Block<2>{{0xffffffffu, 0xffffffffu}}, 3);  // a cipher with 64-bit blocks
    EXPECT_EQ(half.word[0], 0u);
    EXPECT_EQ(half.word[1], swap_bytes(uint32_t{2}));
}

// SP 800-38D 6.3, one bit after the other.
Block<4> multiply_by_bits(const Block<4>& x, const Block<4>& y) {
    uint8_t a[16], v[16], z[16] = {};
    store_block(a, x);
    store_block(v, y);
    for (int i = 0; i < 128; ++i) {
        if (a[i / 8] >> (7 - i % 8) & 1)
            for (int j = 0; j < 16; ++j) z[j] = static_cast<uint8_t>(z[j] ^ v[j]);
        const bool low = (v[15] & 1) != 0;
        for (int j = 15; j > 0; --j) v[j] = static_cast<uint8_t>(v[j] >> 1 | v[j - 1] << 7);
        v[0] = static_cast<uint8_t>(v[0] >> 1 ^ (low ? 0xe1 : 0));
    }
    return load_block<4>(z);
}

template <class Word>
class GhashOf : public testing::Test {};
using HashWords = testing::Types<uint32_t, uint64_t>;
TYPED_TEST_SUITE(GhashOf, HashWords);

TYPED_TEST(GhashOf, MultipliesAsTheStandardDoes) {
    using namespace macs::ghash;
    std::mt19937 random(5);
    for (int i = 0; i < 3000; ++i) {
        Block<4> a, b;
        for (int w = 0; w < 4; ++w) {  // all ones make the most carries
            a.word[w] = i % 5 == 0 ? 0xffffffffu : random();
            b.word[w] = i % 7 == 0 ? 0xffffffffu : i % 11 == 0 ? 0 : random();
        }
        const Block<4> wanted = multiply_by_bits(a, b), got = to_block(multiply(from_block<TypeParam>(a), from_block<TypeParam>(b)));
        ASSERT_EQ(std::memcmp(&got, &wanted, 16), 0) << i;
    }
}

TYPED_TEST(GhashOf, PartsCombineToTheWhole) {
    using namespace macs::ghash;
    using E = Element<TypeParam>;
    const std::vector<uint8_t> bytes = random_bytes(16 * 101, 6);
    const auto block = [&](size_t i) { return from_block<TypeParam>(load_block<4>(bytes.data() + 16 * i)); };
    const E h = block(100);
    E whole;
    for (size_t i = 0; i < 100; ++i) whole = absorb(whole, h, block(i));
    for (size_t cut = 1; cut < 100; ++cut) {
        E first, second;
        for (size_t i = 0; i < cut; ++i) first = absorb(first, h, block(i));
        for (size_t i = cut; i < 100; ++i) second = absorb(second, h, block(i));
        const Block<4> got = to_block(combine(first, power(h, 100 - cut), second)), wanted = to_block(whole);
        ASSERT_EQ(std::memcmp(&got, &wanted, 16), 0) << "cut at " << cut;
    }
}

}  // namespace
