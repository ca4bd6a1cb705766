// ARIA-128: P1's two representations, the best layouts of AES's ladder, and the product.
#include "ciphers/aria.h"

#include "ladder/byte_threads.cuh"
#include "ladder/reused_rounds.cuh"

namespace warpseal::ladder {
namespace {

using Cipher = ciphers::aria::Aria<128>;
using Tables = Cipher::EncryptTables;

}  // namespace

std::span<const Step> aria_steps() {
    static constexpr Family ecb{"aria-128", "ecb"}, ctr{"aria-128", "ctr"};
    static const Step steps[] = {
        ecb.step("aria-128.bytes",
                 "16 threads a block, a byte each; a byte of the diffusion layer is the sum of "
                 "seven threads' bytes",
                 "seven bytes to fetch a round, where AES has four",
                 byte_threads_study<AriaByBytes>(), "P1"),
        ecb.step("aria-128.words",
                 "a thread a block, the 32-bit tables of CPUs and the round keys in shared memory",
                 "P1 had ARIA ahead, as the state of AES did not fit into registers; where both "
                 "fit, fewer rounds win",
                 sweep_study<Cipher, InShared<Tables>, StudyMode::ecb, 256, SharedKeys>(), "P1"),
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
