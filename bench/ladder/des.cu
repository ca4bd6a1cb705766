// DES: P1's thread for each block, copies of its tables, the bitsliced representation, and the
// product.
#include "ciphers/des.h"

#include "bench/ladder/sweep.cuh"
#include "core/bit_planes.h"

namespace warpseal::ladder {
namespace {

using Cipher = ciphers::des::Des<1>;
using Tables = Cipher::EncryptTables;
using Tile = BitPlanes<uint32_t>;

struct BitslicedKey {
    const uint32_t* schedule;
    __device__ __forceinline__ uint32_t operator()(int i) const {
        return 0u - (schedule[i / 32] >> (i % 32) & 1);
    }
};

// Each thread processes 32 consecutive blocks, one bit of each per word; the last group may have
// fewer.
__global__ void __launch_bounds__(128) planes(const __grid_constant__ Job<Cipher> job) {
    const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i * Tile::blocks < job.blocks; i += step) {
        const uint64_t rest = job.blocks - i * Tile::blocks;
        const int count = rest < Tile::blocks ? static_cast<int>(rest) : Tile::blocks;
        const uint2* const in = reinterpret_cast<const uint2*>(job.in) + i * Tile::blocks;
        uint2* const out = reinterpret_cast<uint2*>(job.out) + i * Tile::blocks;
        uint32_t p[64];
#pragma unroll
        for (int j = 0; j < Tile::blocks; ++j) {
            const uint2 b = j < count ? in[j] : uint2{};
            p[j] = b.x, p[32 + j] = b.y;
        }
        Tile::transpose(p);
        Tile::transpose(p + 32);
        Cipher::encrypt_bitsliced(p, BitslicedKey{job.key});
        Tile::transpose(p);
        Tile::transpose(p + 32);
#pragma unroll
        for (int j = 0; j < Tile::blocks; ++j)
            if (j < count) out[j] = {p[j], p[32 + j]};
    }
}

const Study planes_study{.kernel = reinterpret_cast<const void*>(&planes),
                         .fill = fill_job<Cipher>,
                         .threads = 128,
                         .blocks_together = Tile::blocks};

}  // namespace

std::span<const Step> des_steps() {
    static constexpr Family ecb{"des", "ecb"};
    static const Step steps[] = {
        ecb.step("des.words",
                 "a thread for each block of text; S-boxes and P as eight tables of 64 words, and "
                 "the round keys, in shared memory",
                 "P in the tables and E in the order of bits leave eight look-ups a round, which "
                 "wait for banks",
                 single_blocks_study<Cipher>(), "P1"),
        ecb.step("des.words-persistent", "threads that stay for the next texts",
                 "tables are copied once for each block of threads, not once for 256 texts",
                 sweep_study<Cipher, InShared<Tables>, StudyMode::ecb, 256, SharedKeys>()),
        ecb.step("des.copies", "32 copies of the tables, one in each bank",
                 "no conflict for any data: twice the rate",
                 sweep_study<Cipher, Copies<Tables, DotProduct>, StudyMode::ecb>()),
        ecb.step(
            "des.planes",
            "bit planes: a thread takes 32 blocks, a bit of each in a word, and S-boxes are gates",
            "no memory to wait for; but a key bit made a word where it is used, and lanes 256 "
            "bytes apart, cost as much",
            &planes_study),
        ecb.product("des.product",
                    "the product: bitsliced_kernel in src/backends/cuda/kernels/bitsliced.cuh",
                    "key planes from shared memory, some of them added by multiplying, and rows "
                    "that a warp reads whole"),
    };
    return steps;
}

}  // namespace warpseal::ladder
