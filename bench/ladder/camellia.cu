// Camellia: P2's tables of bytes and of words, and its three memory kinds for one merged table,
// with the keystream in registers; a copy of all four tables; and the product.
#include "ciphers/camellia.h"

#include "bench/ladder/reused_rounds.cuh"

namespace warpseal::ladder {
namespace {

using Tables = ciphers::camellia::EncryptTables;

template <int key_bits, class Layout>
const Study* keystream() {
    return sweep_study<ciphers::camellia::Camellia<key_bits>, Layout, StudyMode::keystream>();
}
template <int key_bits, template <class> class Storage>
const Study* merged_keystream() {
    return keystream<key_bits, Merged<Tables, Storage>>();
}
using Camellia128 = ciphers::camellia::Camellia<128>;

}  // namespace

std::span<const Step> camellia_steps() {
    static constexpr Family keystream_of[] = {{"camellia-128", "ctr", false, true},
                                              {"camellia-192", "ctr", false, true},
                                              {"camellia-256", "ctr", false, true}};
    static constexpr Family ctr[] = {
        {"camellia-128", "ctr"}, {"camellia-192", "ctr"}, {"camellia-256", "ctr"}};
    static constexpr const char *
        bytes = "the reference code's four 8-bit tables in shared memory, once; keystream alone",
       *words = "OpenSSL's four 32-bit tables in shared memory, once: 4 KB",
       *global = "one table of the four S-boxes' bytes in global memory, and byte permutes",
       *shared = "that table in shared memory, once", *copies = "32 copies of it, one in each bank",
       *product = "the product: counting_kernel in src/backends/cuda/kernels/sweep.cuh";
    static constexpr const char
        *sharing =
            "four entries share a word, and lanes that read one word do not wait for each other",
        *whole = "an entry needs no permute, and its lanes wait for banks",
        *cached =
            "the first-level cache serves a table of 1 KB as fast as shared memory does with bank "
            "conflicts",
        *conflicts = "a look-up of 32 lanes takes as long as its fullest bank",
        *free =
            "no conflict for any data; three instructions for an address and a permute are what is "
            "left",
        *end = "the parts of a byte lie in a neighbour's register, not in shared memory";
    static const Step steps[] = {
        keystream_of[0].step("camellia-128.byte-tables", bytes, sharing,
                             keystream<128, BytesInShared<Tables>>(), "P2"),
        keystream_of[1].step("camellia-192.byte-tables", bytes, sharing,
                             keystream<192, BytesInShared<Tables>>(), "P2"),
        keystream_of[2].step("camellia-256.byte-tables", bytes, sharing,
                             keystream<256, BytesInShared<Tables>>(), "P2"),
        keystream_of[0].step("camellia-128.word-tables", words, whole,
                             keystream<128, InShared<Tables>>(), "P2"),
        keystream_of[1].step("camellia-192.word-tables", words, whole,
                             keystream<192, InShared<Tables>>(), "P2"),
        keystream_of[2].step("camellia-256.word-tables", words, whole,
                             keystream<256, InShared<Tables>>(), "P2"),
        keystream_of[0].step("camellia-128.global", global, cached,
                             merged_keystream<128, OnceInGlobal>(), "P2"),
        keystream_of[1].step("camellia-192.global", global, cached,
                             merged_keystream<192, OnceInGlobal>(), "P2"),
        keystream_of[2].step("camellia-256.global", global, cached,
                             merged_keystream<256, OnceInGlobal>(), "P2"),
        keystream_of[0].step("camellia-128.merged", shared, conflicts,
                             merged_keystream<128, OnceInShared>(), "P2"),
        keystream_of[1].step("camellia-192.merged", shared, conflicts,
                             merged_keystream<192, OnceInShared>(), "P2"),
        keystream_of[2].step("camellia-256.merged", shared, conflicts,
                             merged_keystream<256, OnceInShared>(), "P2"),
        keystream_of[0].step("camellia-128.merged-copies", copies, free,
                             merged_keystream<128, CopiesInShared>(), "P2"),
        keystream_of[1].step("camellia-192.merged-copies", copies, free,
                             merged_keystream<192, CopiesInShared>(), "P2"),
        keystream_of[2].step("camellia-256.merged-copies", copies, free,
                             merged_keystream<256, CopiesInShared>(), "P2"),
        keystream_of[0].step(
            "camellia-128.copies-keystream",
            "32 copies of all four 32-bit tables; addresses by one byte permute",
            "the permutes and two thirds of the address arithmetic were half of the time",
            sweep_study<Camellia128, Copies<Tables, BytePermute>, StudyMode::keystream>()),
        ctr[0].step("camellia-128.copies-permute", "the same, reading, adding and writing",
                    "memory hides behind look-ups",
                    sweep_study<Camellia128, Copies<Tables, BytePermute>, StudyMode::ctr>()),
        ctr[0].step("camellia-128.copies-both",
                    "half of the addresses by a byte permute, half by a dot product",
                    "two pipes make addresses faster than one that rotates words as well",
                    sweep_study<Camellia128, Copies<Tables, PermuteOrDot>, StudyMode::ctr>()),
        ctr[0].step("camellia-128.reused-rounds",
                    "two rounds, and the third but for four look-ups, that counters have in common",
                    "20 of 144 look-ups never happen",
                    reused_rounds_study<Camellia128, Copies<Tables, PermuteOrDot>>()),
        ctr[0].product("camellia-128.product", product, end),
        ctr[1].product("camellia-192.product", product, end),
        ctr[2].product("camellia-256.product", product, end),
    };
    return steps;
}

}  // namespace warpseal::ladder
