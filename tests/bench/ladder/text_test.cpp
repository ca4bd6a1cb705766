// Parts of the ladder's kernels compiled for the host: table layouts entry by entry, and the
// papers' own ciphers by known answers.
#include "support/device_on_host.h"

#define __constant__
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#pragma GCC diagnostic push  // nvcc ignores these
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "bench/ladder/layouts.cuh"
#pragma GCC diagnostic pop

#include "bench/ladder/byte_threads.h"
#include "bench/ladder/five_tables.h"
#include "bench/ladder/gkrypt.h"
#include "bench/papers/bank_conflicts.h"
#include "ciphers/camellia.h"
#include "ciphers/des.h"
#include "core/bitsliced_byte.h"
#include "support/random.h"

namespace {

using namespace warpseal;
using namespace warpseal::ladder;

template <class Layout, int table, int byte>
uint32_t tables(const Layout& layout, uint32_t word) {
    return layout.template lookup<table, byte>(word);
}

template <class Tables, class Layout, int... i>
void expect_tables(const Layout& layout, const TableData<Tables>& data, tests::Random& random,
                   std::integer_sequence<int, i...>) {
    uint32_t (*const lookups[])(const Layout&, uint32_t) = {tables<Layout, i / 4, i % 4>...};
    for (int table = 0; table < Tables::count; ++table)
        for (int byte = 0; byte < 4; ++byte)
            for (uint32_t x = 0; x < entries_of<Tables>(); ++x) {
                uint32_t word;
                random.fill(reinterpret_cast<uint8_t*>(&word), sizeof word);
                word = (word & ~(0xffu << (8 * byte))) | x << (8 * byte);
                ASSERT_EQ(lookups[4 * table + byte](layout, word), data.entries[table][x])
                    << "table " << table << " byte " << byte;
            }
}

// Filled by the threads of a block together, read by the first and the last of them.
template <class Tables, class Layout>
void expect_layout(uint64_t number) {
    static constexpr TableData<Tables> data;
    tests::Random random(number);
    for (const uint32_t threads : {96u, 1024u}) {
        std::vector<uint4> memory(Layout::bytes / 16 + 1,
                                  uint4{0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5});
        auto* const shared = reinterpret_cast<unsigned char*>(memory.data());
        blockDim.x = threads;
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) Layout{shared};
        for (const uint32_t thread : {0u, threads - 1}) {
            threadIdx.x = thread;
            expect_tables<Tables>(Layout(shared), data, random,
                                  std::make_integer_sequence<int, 4 * Tables::count>{});
        }
    }
}

template <class Tables>
void expect_all_tables_layouts(uint64_t number) {
    expect_layout<Tables, InGlobal<Tables>>(number);
    expect_layout<Tables, InConstant<Tables>>(number + 1);
    expect_layout<Tables, InShared<Tables>>(number + 2);
    expect_layout<Tables, Copies<Tables, ShiftAndMask>>(number + 3);
    expect_layout<Tables, Copies<Tables, DotProduct>>(number + 4);
    expect_layout<Tables, Copies<Tables, BytePermute>>(number + 5);
    expect_layout<Tables, Copies<Tables, PermuteOrDot>>(number + 6);
}
template <class Tables>
void expect_merged_layouts(uint64_t number) {
    expect_layout<Tables, Merged<Tables, OnceInGlobal>>(number);
    expect_layout<Tables, Merged<Tables, OnceInShared>>(number + 1);
    expect_layout<Tables, Merged<Tables, CopiesInShared>>(number + 2);
}

TEST(LadderLayouts, ContainEveryEntryOfEveryTable) {
    expect_all_tables_layouts<ciphers::aes::EncryptTables>(100);
    expect_all_tables_layouts<ciphers::aria::EncryptTables>(200);
    expect_all_tables_layouts<ciphers::camellia::EncryptTables>(300);
    expect_all_tables_layouts<ciphers::des::EncryptTables>(400);
    expect_layout<FiveTables, InShared<FiveTables>>(410);
}

TEST(LadderLayouts, RebuildTablesFromAMergedOne) {
    expect_merged_layouts<ciphers::aes::EncryptTables>(500);
    expect_merged_layouts<ciphers::aria::EncryptTables>(600);
    expect_merged_layouts<ciphers::camellia::EncryptTables>(700);
    expect_layout<ciphers::camellia::EncryptTables,
                  BytesInShared<ciphers::camellia::EncryptTables>>(710);
}

// Memory in which each word of 32 bits holds its own index, so that an entry that is looked up
// tells where it lies. BytesInShared has 256 words, whose index is in each of their bytes.
template <class Layout, bool in_bytes>
std::vector<uint4> words_with_their_index() {
    std::vector<uint4> memory(Layout::bytes / 16);
    auto* const words = reinterpret_cast<uint32_t*>(memory.data());
    for (uint32_t i = 0; i < Layout::bytes / 4; ++i) words[i] = in_bytes ? 0x01010101u * i : i;
    return memory;
}

template <int table>
uint32_t bytes_word(const BytesInShared<ciphers::camellia::EncryptTables>& layout, uint32_t x) {
    const uint32_t entry = layout.lookup<table, 1>(x << 8);
    for (int b = 0; b < 4; ++b)  // The S-box is in three bytes of an entry; the fourth is zero.
        if (entry >> (8 * b) & 0xff) return entry >> (8 * b) & 0xff;
    return 0;
}

// The simulated bank conflicts are those of the words that the device code reads.
TEST(LadderLayouts, ReadTheWordsThatBankConflictsAreComputedOf) {
    using namespace warpseal::papers;
    using Tables = ciphers::camellia::EncryptTables;
    using Bytes = BytesInShared<Tables>;
    using Words = InShared<Tables>;
    auto bytes = words_with_their_index<Bytes, true>(),
         words = words_with_their_index<Words, false>(),
         once = words_with_their_index<OnceInShared<Tables>, false>(),
         copies = words_with_their_index<CopiesInShared<Tables>, false>();
    const auto shared = [](std::vector<uint4>& memory) {
        return reinterpret_cast<unsigned char*>(memory.data());
    };
    blockDim.x = 1024;
    for (const uint32_t thread : {0u, 5u, 31u, 1000u}) {
        threadIdx.x = (1 << 16) + thread;  // past the end: fills nothing
        const Bytes in_bytes(shared(bytes));
        const Words in_words(shared(words));
        const OnceInShared<Tables> in_once(shared(once));
        const CopiesInShared<Tables> in_copies(shared(copies));
        for (uint32_t x = 0; x < 256; ++x) {
            EXPECT_EQ(bytes_word<0>(in_bytes, x), ByteTablesPlacement::word(0, x, thread % 32));
            EXPECT_EQ(bytes_word<2>(in_bytes, x), ByteTablesPlacement::word(2, x, thread % 32));
            EXPECT_EQ((in_words.lookup<3, 2>(x << 16)),
                      WordTablesPlacement::word(3, x, thread % 32));
            EXPECT_EQ(in_once.entry(x), MergedPlacement::word(3, x, thread % 32));
            EXPECT_EQ(in_copies.entry(x), MergedCopiesPlacement::word(3, x, thread % 32));
        }
    }
}

TEST(LadderLayouts, ListTablesThatDoNotMerge) {
    EXPECT_EQ(Merging<ciphers::aes::EncryptTables>{}.functions, 3);
    EXPECT_EQ(Merging<ciphers::aria::EncryptTables>{}.functions, 4);
    EXPECT_EQ(Merging<ciphers::camellia::EncryptTables>{}.functions, 4);
    EXPECT_GT(Merging<ciphers::aes::DecryptTables>{}.functions,
              4);  // four products and the bare S-box
}

TEST(LadderFiveTables, KnownAnswer) {
    static constexpr TableData<FiveTables> data;
    const KnownAnswer known = AesByFiveTables::known();
    uint32_t schedule[AesByFiveTables::schedule_words], state[4];
    AesByFiveTables::expand(schedule, known.key, WordSubstitution{});
    std::memcpy(state, known.plaintext, 16);
    AesByFiveTables::encrypt(state, schedule, ArrayLayout<FiveTables>{data});
    EXPECT_EQ(std::memcmp(state, known.ciphertext, 16), 0);
}

// 16 threads in lockstep, as the kernel runs them.
template <class C>
void expect_known_by_byte_threads() {
    static constexpr typename C::Data data;
    const KnownAnswer known = C::Cipher::known();
    uint32_t schedule[C::Cipher::schedule_words];
    C::Cipher::expand(schedule, known.key, WordSubstitution{});
    const auto* const keys = reinterpret_cast<const uint8_t*>(schedule);
    uint32_t x[16], exchange[16];
    for (int byte = 0; byte < 16; ++byte) x[byte] = known.plaintext[byte] ^ keys[byte];
    for (int r = 1; r <= C::rounds; ++r) {
        for (int byte = 0; byte < 16; ++byte)
            exchange[byte] = data.boxes[C(byte, data).box(r)][x[byte]];
        const auto read = [&](int i) { return exchange[i]; };
        for (int byte = 0; byte < 16; ++byte) {
            const C thread(byte, data);
            x[byte] = (r == C::rounds ? thread.last(read) : thread.mix(read)) ^ keys[16 * r + byte];
        }
    }
    for (int byte = 0; byte < 16; ++byte)
        EXPECT_EQ(x[byte], known.ciphertext[byte]) << C::Cipher::name << " byte " << byte;
}

TEST(LadderByteThreads, KnownAnswers) {
    expect_known_by_byte_threads<AesByBytes>();
    expect_known_by_byte_threads<AriaByBytes>();
}

template <bool unrolled>
void expect_known_by_gkrypt() {
    static constexpr gkrypt::Tables tables;
    const KnownAnswer known = ciphers::aes::Aes<256>::known();
    uint8_t schedule[gkrypt::schedule_bytes], state[16], next[16];
    gkrypt::expand(schedule, known.key, tables);
    std::memcpy(state, known.plaintext, 16);
    gkrypt::Cipher<unrolled>::encrypt(state, next, schedule, tables);
    EXPECT_EQ(std::memcmp(state, known.ciphertext, 16), 0);
    gkrypt::Cipher<unrolled>::decrypt(state, next, schedule, tables);
    EXPECT_EQ(std::memcmp(state, known.plaintext, 16), 0);
}

TEST(LadderGkrypt, KnownAnswers) {
    expect_known_by_gkrypt<false>();
    expect_known_by_gkrypt<true>();
}

TEST(LadderGkrypt, ExpandsKeysAsInFips197) {
    static constexpr gkrypt::Tables tables;
    tests::Random random(800);
    for (int i = 0; i < 20; ++i) {
        const auto key = random.text(gkrypt::key_bytes);
        uint8_t schedule[gkrypt::schedule_bytes];
        uint32_t words[ciphers::aes::Aes<256>::schedule_words];
        static_assert(sizeof words == sizeof schedule);
        gkrypt::expand(schedule, key.data(), tables);
        ciphers::aes::Aes<256>::expand(words, key.data(), WordSubstitution{});
        ASSERT_EQ(std::memcmp(schedule, words, sizeof words), 0);
    }
}

}  // namespace
