// AES-128: P1's two representations and our variants of them, every table layout in counter mode,
// and the product.
#include "ciphers/aes.h"

#include "bench/ladder/byte_threads.cuh"
#include "bench/ladder/five_tables.h"
#include "bench/ladder/reused_rounds.cuh"

namespace warpseal::ladder {
namespace {

using Cipher = ciphers::aes::Aes<128>;
using Tables = Cipher::EncryptTables;

template <class Layout>
const Study* counter_mode() {
    return sweep_study<Cipher, Layout, StudyMode::ctr>();
}

}  // namespace

std::span<const Step> aes_steps() {
    static constexpr Family ecb{"aes-128", "ecb"}, ctr{"aes-128", "ctr"};
    static const Step steps[] = {
        ecb.step("aes-128.bytes",
                 "a block of 16 threads for each block of text, a byte each; they exchange bytes "
                 "through shared memory, where each such block copies the S-box and the keys",
                 "half of each warp is empty, and 432 bytes are copied for 16 bytes of text",
                 byte_threads_study<AesByBytes>(), "P1"),
        ecb.step("aes-128.bytes-persistent",
                 "256 threads, 16 blocks of text, share a copy and stay for the next texts",
                 "parallelism within a block costs an exchange a round, and there are blocks "
                 "enough without it",
                 persistent_byte_threads_study<AesByBytes>()),
        ecb.step("aes-128.words",
                 "a thread for each block of text; five 32-bit tables, as on CPUs, and the round "
                 "keys in shared memory",
                 "an entry is a column's contribution of SubBytes and MixColumns; lanes that read "
                 "one bank wait for each other",
                 single_blocks_study<AesByFiveTables>(), "P1"),
        ecb.step("aes-128.words-four-tables", "the last round takes its S-box from the other four",
                 "two bytes of an entry hold the S-box unmultiplied: the fifth table is not needed",
                 single_blocks_study<Cipher>()),
        ecb.step("aes-128.words-persistent", "threads that stay for the next texts",
                 "tables are copied once for each block of threads, not once for 256 texts",
                 sweep_study<Cipher, InShared<Tables>, StudyMode::ecb, 256, SharedKeys>()),
        ecb.product("aes-128.ecb-product", "the product: src/backends/cuda/kernels/sweep.cuh",
                    "what the layouts below bring, without what counters have in common"),
        ctr.step("aes-128.constant",
                 "counter mode, round keys as instruction operands; four tables in constant memory",
                 "constant memory serves one address at a time: 32 lanes that want 32 entries wait "
                 "in line",
                 counter_mode<InConstant<Tables>>()),
        ctr.step(
            "aes-128.global", "four tables in global memory",
            "the first-level cache serves tables as fast as shared memory does with bank conflicts",
            counter_mode<InGlobal<Tables>>()),
        ctr.step("aes-128.shared", "four tables in shared memory, once",
                 "a look-up of 32 lanes takes as long as its fullest bank, and so a time that "
                 "depends on data",
                 counter_mode<InShared<Tables>>()),
        ctr.step(
            "aes-128.merged", "one table, once, and byte permutes in place of the other three",
            "a quarter of the memory at the same rate: beside conflicts the permutes cost nothing",
            counter_mode<Merged<Tables, OnceInShared>>()),
        ctr.step("aes-128.merged-copies", "32 copies of it, one in each bank",
                 "no conflict for any data, and now permutes and addresses are what is waited for",
                 counter_mode<Merged<Tables, CopiesInShared>>()),
        ctr.step("aes-128.copies", "32 copies of all four; addresses by a shift and a mask",
                 "shared memory is there to be filled: 128 KB save a permute for each look-up",
                 counter_mode<Copies<Tables, ShiftAndMask>>()),
        ctr.step("aes-128.copies-dot", "addresses by one dot product of bytes",
                 "one instruction in place of two, on the pipe that multiplies and has nothing "
                 "else to do",
                 counter_mode<Copies<Tables, DotProduct>>()),
        ctr.step("aes-128.copies-permute",
                 "two tables to a row of 256 bytes; addresses by one byte permute",
                 "a byte's place in the address is a matter of the layout",
                 counter_mode<Copies<Tables, BytePermute>>()),
        ctr.step("aes-128.copies-both", "half of the addresses by each of the two",
                 "nothing here, where nothing but addresses permutes; ARIA and Camellia gain",
                 counter_mode<Copies<Tables, PermuteOrDot>>()),
        ctr.step(
            "aes-128.reused-rounds",
            "two rounds that counters have in common; the last S-boxes of two blocks as bit planes",
            "32 of 160 look-ups never happen, and gates take the place of 16",
            reused_rounds_study<Cipher, Copies<Tables, PermuteOrDot>>()),
        ctr.product("aes-128.product",
                    "the product: counting_kernel in src/backends/cuda/kernels/sweep.cuh",
                    "rounds that counters have in common, and the last S-boxes of two blocks as "
                    "bit planes, which want the permutes' pipe"),
    };
    return steps;
}

}  // namespace warpseal::ladder
