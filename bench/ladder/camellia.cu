// Camellia: P2's three memory kinds for one merged table, with the keystream in registers; a copy
// of all four tables; and the product.
#include "ciphers/camellia.h"

#include "ladder/reused_rounds.cuh"

namespace warpseal::ladder {
namespace {

template <int key_bits, template <class> class Storage>
const Study* keystream() {
    using Cipher = ciphers::camellia::Camellia<key_bits>;
    return sweep_study<Cipher, Merged<typename Cipher::EncryptTables, Storage>,
                       StudyMode::keystream>();
}
using Camellia128 = ciphers::camellia::Camellia<128>;

}  // namespace

std::span<const Step> camellia_steps() {
    static constexpr Family keystream_of[] = {{"camellia-128", "ctr", false, true},
                                              {"camellia-192", "ctr", false, true},
                                              {"camellia-256", "ctr", false, true}};
    static constexpr Family ctr[] = {
        {"camellia-128", "ctr"}, {"camellia-192", "ctr"}, {"camellia-256", "ctr"}};
    static constexpr const char
        *global =
            "one table of the four S-boxes' bytes in global memory, byte permutes; keystream alone",
        *shared = "the table in shared memory, once", *copies = "32 copies of it, one in each bank",
        *product = "the product: counting_kernel in src/backends/cuda/kernels/sweep.cuh";
    static constexpr const char
        *cached =
            "the first-level cache serves a table of 1 KB as fast as shared memory does with bank "
            "conflicts",
        *conflicts = "a look-up of 32 lanes takes as long as its fullest bank",
        *free =
            "no conflict for any data; three instructions for an address and a permute are what is "
            "left",
        *end = "the parts of a byte lie in a neighbour's register, not in shared memory";
    static const Step steps[] = {
        keystream_of[0].step("camellia-128.global", global, cached, keystream<128, OnceInGlobal>(),
                             "P2"),
        keystream_of[1].step("camellia-192.global", global, cached, keystream<192, OnceInGlobal>(),
                             "P2"),
        keystream_of[2].step("camellia-256.global", global, cached, keystream<256, OnceInGlobal>(),
                             "P2"),
        keystream_of[0].step("camellia-128.merged", shared, conflicts,
                             keystream<128, OnceInShared>(), "P2"),
        keystream_of[1].step("camellia-192.merged", shared, conflicts,
                             keystream<192, OnceInShared>(), "P2"),
        keystream_of[2].step("camellia-256.merged", shared, conflicts,
                             keystream<256, OnceInShared>(), "P2"),
        keystream_of[0].step("camellia-128.merged-copies", copies, free,
                             keystream<128, CopiesInShared>(), "P2"),
        keystream_of[1].step("camellia-192.merged-copies", copies, free,
                             keystream<192, CopiesInShared>(), "P2"),
        keystream_of[2].step("camellia-256.merged-copies", copies, free,
                             keystream<256, CopiesInShared>(), "P2"),
        keystream_of[0].step(
            "camellia-128.copies-keystream",
            "32 copies of all four 32-bit tables; addresses by one byte permute",
            "the permutes and two thirds of the address arithmetic were half of the time",
            sweep_study<Camellia128, Copies<Camellia128::EncryptTables, BytePermute>,
                        StudyMode::keystream>()),
        ctr[0].step("camellia-128.copies-permute", "the same, reading, adding and writing",
                    "memory hides behind look-ups",
                    sweep_study<Camellia128, Copies<Camellia128::EncryptTables, BytePermute>,
                                StudyMode::ctr>()),
        ctr[0].step("camellia-128.copies-both",
                    "half of the addresses by a byte permute, half by a dot product",
                    "two pipes make addresses faster than one that rotates words as well",
                    sweep_study<Camellia128, Copies<Camellia128::EncryptTables, PermuteOrDot>,
                                StudyMode::ctr>()),
        ctr[0].step(
            "camellia-128.reused-rounds",
            "two rounds, and the third but for four look-ups, that counters have in common",
            "20 of 144 look-ups never happen",
            reused_rounds_study<Camellia128, Copies<Camellia128::EncryptTables, PermuteOrDot>>()),
        ctr[0].product("camellia-128.product", product, end),
        ctr[1].product("camellia-192.product", product, end),
        ctr[2].product("camellia-256.product", product, end),
    };
    return steps;
}

}  // namespace warpseal::ladder
