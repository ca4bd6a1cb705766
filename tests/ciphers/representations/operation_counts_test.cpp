// Inputs of the bounds in the reports of `warpseal bench`: operation counts of a cipher's code,
// compared with hand counts.
#include <gtest/gtest.h>

#include "bench/work/count.h"
#include "every_cipher.h"
#include "support/word_operators.h"

namespace {

using warpseal::bench::CipherWork;
using warpseal::work::count;

// Two rounds of an addition, an XOR with a key and a rotation by two shifts.
struct Words {
    static constexpr const char* name = "words";
    static constexpr uint32_t block_bytes = 8;
    template <class Word, class Key>
    static void encrypt_words(Word (&s)[2], const Key& key) {
        for (int i = 0; i < 2; ++i) {
            s[i] = s[i] + key(i);
            s[i] ^= key(i + 2);
            s[i] = s[i] << 3 | s[i] >> 29;
        }
    }
};

// Five lookups per block; one less each for two at once, and three for a counter.
struct Tables {
    static constexpr const char* name = "tables";
    static constexpr uint32_t block_bytes = 16, schedule_words = 4;
    static constexpr int counting_words = 2;
    struct EncryptTables;
    template <int times, class TableLookup>
    static void lookup(uint32_t& word, const TableLookup& tables) {
        for (int i = 0; i < times; ++i) word ^= tables.template lookup<0, 1>(word);
    }
    template <class TableLookup>
    static void encrypt(uint32_t (&s)[4], const uint32_t*, const TableLookup& tables) {
        lookup<5>(s[0], tables);
    }
    template <class TableLookup>
    static void encrypt(uint32_t (&a)[4], uint32_t (&b)[4], const uint32_t*,
                        const TableLookup& tables) {
        lookup<4>(a[0], tables);
        lookup<4>(b[0], tables);
    }
    template <class TableLookup>
    static void encrypt_counting(uint32_t (&sum)[counting_words], const uint32_t*,
                                 const TableLookup& tables) {
        lookup<3>(sum[0], tables);
    }
};

TEST(OperationCounts, OfEachOperator) {
    using warpseal::work::Counted;
    Counted a, b;
    tests::every_operator(a, b, warpseal::work::CountedKey{});
    for (const auto& logic :
         {+[](Counted&x, Counted y) { x ^= y; }, +[](Counted&x, Counted y) { x &= y; },
          +[](Counted&x, Counted y) { x |= y; }, +[](Counted&x, Counted y) { x = 5u ^ y; },
          +[](Counted&x, Counted y) { x = y & 5u; }, +[](Counted&x, Counted y) { x = ~y; }})
        EXPECT_EQ(count([&] { logic(a, b); }), 1u);
    EXPECT_EQ(count([&] { a += b, a -= b, a <<= 3, a >>= 3, a = a + 5u, a = 5u - b; }), 0u);
}

TEST(OperationCounts, OfTheWordRepresentation) {
    const CipherWork work = count<Words>();
    EXPECT_EQ(work.block_bytes, 8u);
    EXPECT_EQ(work.logic, 2u * 2u);
    EXPECT_EQ(work.lookups + work.plane_gates, 0u);
}

TEST(OperationCounts, OfTheTableRepresentation) {
    const CipherWork work = count<Tables>();
    EXPECT_EQ(work.block_bytes, 16u);
    EXPECT_EQ(work.lookups, 5u);
    EXPECT_EQ(work.pair_lookups, 4u);
    EXPECT_EQ(work.counting_lookups, 3u);
    EXPECT_EQ(work.logic + work.plane_gates, 0u);
}

TEST(OperationCounts, EachCipherHasCounts) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        const CipherWork work = count<Cipher>();
        EXPECT_STREQ(work.cipher, Cipher::name);
        EXPECT_GT(work.lookups + work.plane_gates + work.logic, 0u) << Cipher::name;
        EXPECT_LE(work.pair_lookups, work.lookups) << Cipher::name;
        EXPECT_LE(work.counting_lookups, work.pair_lookups) << Cipher::name;
    });
}

}  // namespace
