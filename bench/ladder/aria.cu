// ARIA-128: P1's two representations and our variants of them, the best layouts of AES's ladder,
// and the product.
#include "ciphers/aria.h"

#include "bench/ladder/byte_threads.cuh"
#include "bench/ladder/reused_rounds.cuh"

namespace warpseal::ladder {
namespace {

using Cipher = ciphers::aria::Aria<128>;
using Tables = Cipher::EncryptTables;

}  // namespace

std::span<const Step> aria_steps() {
    static constexpr Family ecb{"aria-128", "ecb"}, ctr{"aria-128", "ctr"};
    static const Step steps[] = {
        ecb.step("aria-128.bytes",
                 "a block of 16 threads for each block of text, a byte each; a byte of the "
                 "diffusion layer is the XOR of seven threads' bytes",
                 "seven bytes to fetch a round, where AES has four, and four S-boxes to copy",
                 byte_threads_study<AriaByBytes>(), "P1"),
        ecb.step("aria-128.bytes-persistent",
                 "256 threads, 16 blocks of text, share a copy and stay for the next texts",
                 "copies and idle lanes are gone; the exchange of seven bytes a round remains",
                 persistent_byte_threads_study<AriaByBytes>()),
        ecb.step("aria-128.words",
                 "a thread for each block of text; four 32-bit tables, as on CPUs, and the round "
                 "keys in shared memory",
                 "P1 had ARIA ahead, as it needs one table less than AES and its state fits into "
                 "registers; where both fit, fewer rounds win",
                 single_blocks_study<Cipher>(), "P1"),
        ecb.step("aria-128.words-persistent", "threads that stay for the next texts",
                 "tables are copied once for each block of threads, not once for 256 texts",
                 sweep_study<Cipher, InShared<Tables>, StudyMode::ecb, 256, SharedKeys>()),
        ecb.product("aria-128.ecb-product", "the product: src/backends/cuda/kernels/sweep.cuh",
                    "copies for each lane, and addresses in one instruction"),
        ctr.step(
            "aria-128.merged-copies",
            "counter mode; 32 copies of one table of the four S-boxes' bytes, and byte permutes",
            "where the diffusion layer takes most instructions, permutes take the rest",
            sweep_study<Cipher, Merged<Tables, CopiesInShared>, StudyMode::ctr>()),
        ctr.step("aria-128.copies-permute",
                 "32 copies of four tables; addresses by one byte permute",
                 "entries that hold the first sums of the diffusion layer save it three operations "
                 "a word",
                 sweep_study<Cipher, Copies<Tables, BytePermute>, StudyMode::ctr>()),
        ctr.step("aria-128.copies-both",
                 "half of the addresses by a byte permute, half by a dot product",
                 "the diffusion layer permutes too: what leaves that pipe is gained",
                 sweep_study<Cipher, Copies<Tables, PermuteOrDot>, StudyMode::ctr>()),
        ctr.step("aria-128.reused-rounds",
                 "round 1, and round 2 but for two look-ups, that counters have in common",
                 "30 of 192 look-ups never happen",
                 reused_rounds_study<Cipher, Copies<Tables, PermuteOrDot>>()),
        ctr.product("aria-128.product",
                    "the product: counting_kernel in src/backends/cuda/kernels/sweep.cuh",
                    "the parts of a byte lie in a neighbour's register, not in shared memory"),
    };
    return steps;
}

}  // namespace warpseal::ladder
