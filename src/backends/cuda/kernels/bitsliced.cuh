// Bitsliced sweep for ciphers of 64-bit blocks (ECB, CTR, CBC and CFB decryption). A thread
// processes 32 blocks, with one bit of each in a word. Only whole, aligned tiles; sweep.cuh and
// previous_block.cuh process the rest.
#pragma once

#include <cuda_pipeline.h>

#include "backends/cuda/kernels/previous_block.cuh"
#include "backends/cuda/kernels/sweep.cuh"
#include "core/lut.h"

namespace warpseal::cuda {

// Transposes a 32 x 32 bit matrix: at every scale, the two off-diagonal halves are swapped.
template <int half = 16>
__device__ __forceinline__ void transpose(uint32_t* row) {
    constexpr uint32_t low = half == 4 ? 0x0f0f0f0fu : half == 2 ? 0x33333333u : 0x55555555u;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int r = i / half * 2 * half + i % half;
        const uint32_t a = row[r], b = row[r + half];
        if constexpr (half >= 8) {
            row[r] = __byte_perm(a, b, half == 16 ? 0x5410 : 0x6240);
            row[r + half] = __byte_perm(a, b, half == 16 ? 0x7632 : 0x7351);
        } else {
            row[r] = lut<0xca>(low, a, b << half);
            row[r + half] = lut<0xca>(low, a >> half, b);
        }
    }
    if constexpr (half > 1) transpose<half / 2>(row);
}

// Blocks in a tile. Block j of lane l is block 32 j + l of the tile, so that a warp accesses whole
// rows.
inline constexpr uint32_t bitsliced_tile = 1024;

template <class C>
struct BitslicedJob {
    using Cipher = C;
    uint32_t key[32 * Cipher::schedule_words];  // bit i of the schedule in every lane
    PreviousJob<Cipher> text;                   // its schedule is not used
};

// The key in shared memory, loaded four words at a time. A key addition that cannot be merged with
// another operation runs on the multiplier, which is otherwise idle. XOR with a word of all zeros
// or all ones equals x times 1 or -1, plus that word.
template <int words>
struct BitslicedKey {
    uint32_t bit[words], factor[words];

    __device__ __forceinline__ void fill(const uint32_t (&key)[words]) {
        for (int i = threadIdx.x; i < words; i += blockDim.x) {
            bit[i] = key[i];
            factor[i] = key[i] | 1;
        }
        __syncthreads();
    }
    __device__ __forceinline__ uint32_t operator()(int i) const { return bit[i]; }
    __device__ __forceinline__ uint32_t add(uint32_t x, int i) const {
        uint32_t sum;
        asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "r"(factor[i]), "r"(bit[i]));
        return sum;
    }
};

// Returns bit `bit` of x in all positions. A byte permutation can replicate the top bit of a byte.
__device__ __forceinline__ uint32_t spread(uint32_t x, int bit) {
    uint32_t all;
    asm("prmt.b32 %0, %1, 0, %2;"
        : "=r"(all)
        : "r"(x << (7 - bit % 8)), "r"(0x8888 + 0x1111 * (bit / 8)));
    return all;
}

// Computes the bitsliced counters of a tile: base + 32 j + lane, as big-endian numbers.
__device__ __forceinline__ void bitsliced_counters(uint32_t (&p)[64], uint64_t base) {
    constexpr uint32_t bit_of_j[5] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u,
                                      0xffff0000u};
    const uint32_t low = static_cast<uint32_t>(base & 31) + lane_id(),
                   t = static_cast<uint32_t>(base >> 5 & 31) + low / 32;
    uint32_t carry = ~__funnelshift_rc(0xffffffffu, 0, t);  // bit j is the carry of j + t
#pragma unroll
    for (int v = 0; v < 64; ++v) {
        uint32_t& plane = p[8 * (7 - v / 8) + v % 8];
        if (v < 5) {
            plane = spread(low, v);
        } else if (v < 10) {
            plane = __funnelshift_r(bit_of_j[v < 10 ? v - 5 : 0], bit_of_j[v < 10 ? v - 5 : 0], t);
        } else {
            const uint32_t bit = spread(static_cast<uint32_t>(v < 32 ? base : base >> 32), v % 32);
            plane = bit ^ carry;
            carry &= bit;
        }
    }
}

template <class BlockFunction, class Keys>
__device__ __forceinline__ void run_bitsliced(uint32_t (&p)[64], const Keys& key) {
    if constexpr (BlockFunction::direction == Direction::encrypt)
        BlockFunction::Cipher::encrypt_bitsliced(p, key);
    else
        BlockFunction::Cipher::decrypt_bitsliced(p, key);
}

// Shared memory of a block: the key and, if it fits and the text is needed after the cipher, each
// warp's tile. The registers have no room for the tile.
template <class BlockFunction, class Mode, class SharedMemoryLimit>
struct BitslicedShared {
    using Keys = BitslicedKey<32 * BlockFunction::Cipher::schedule_words>;
    using Tile = uint2[bitsliced_tile];
    static constexpr bool staged(int architecture) {
        return (Mode::keystream || Mode::takes_previous) && architecture >= 80 &&
               sizeof(Keys) + tuning::bitsliced_threads / 32 * sizeof(Tile) <=
                   SharedMemoryLimit::limit(architecture);
    }
    static constexpr size_t bytes(int architecture) {
        return sizeof(Keys) +
               (staged(architecture) ? tuning::bitsliced_threads / 32 * sizeof(Tile) : 0);
    }
};

// In CTR, iv is the counter of the first block.
template <class BlockFunction, class Mode, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::bitsliced_threads, 1)
    bitsliced_kernel(const __grid_constant__ BitslicedJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Shared = BitslicedShared<BlockFunction, Mode, SharedMemoryLimit>;
    constexpr bool counter_mode = Mode::keystream && !Mode::takes_previous,
                   staged = Shared::staged(compiled_for);
    auto& key = *reinterpret_cast<typename Shared::Keys*>(shared);
    key.fill(job.key);
    const PreviousJob<typename BlockFunction::Cipher>& text = job.text;
    const int lane = lane_id();
    const uint32_t step = gridDim.x * (tuning::bitsliced_threads / 32),
                   tiles = static_cast<uint32_t>(text.tiles);
    for (uint32_t tile = threadIdx.x / 32 * gridDim.x + blockIdx.x; tile < tiles; tile += step) {
        // No __restrict__: in place, the data read again below may have been overwritten.
        const uint2* in =
            reinterpret_cast<const uint2*>(text.in) + uint64_t{tile} * bitsliced_tile + lane;
        uint2* const out =
            reinterpret_cast<uint2*>(text.out) + uint64_t{tile} * bitsliced_tile + lane;
        if constexpr (staged) {
            uint2* const copy = reinterpret_cast<uint2*>(shared + sizeof key) +
                                threadIdx.x / 32 * bitsliced_tile + lane;
#pragma unroll
            for (int j = 0; j < 32; ++j)
                __pipeline_memcpy_async(copy + 32 * j, in + 32 * j, sizeof *copy);
            __pipeline_commit();
            if (Mode::takes_previous) {
                __pipeline_wait_prior(0);
                __syncwarp();
            }
            in = copy;
        }
        const auto previous_of = [&](int j) {
            if (j == 0 && lane == 0) return before_tile(text, tile, 8);
            const uint2 v = in[32 * j - 1];
            return Block<2>{{v.x, v.y}};
        };
        uint32_t p[64];
        if constexpr (counter_mode) {
            const uint64_t counter =
                uint64_t{swap_bytes(text.iv.word[0])} << 32 | swap_bytes(text.iv.word[1]);
            bitsliced_counters(p, counter + uint64_t{tile} * bitsliced_tile);
        } else {
#pragma unroll
            for (int j = 0; j < 32; ++j) {
                Block<2> b{};
                if constexpr (Mode::takes_previous && Mode::keystream) {
                    b = previous_of(j);
                } else {
                    const uint2 v = in[32 * j];
                    b = {{v.x, v.y}};
                }
                p[j] = b.word[0];
                p[32 + j] = b.word[1];
            }
            transpose(p);
            transpose(p + 32);
        }
        run_bitsliced<BlockFunction>(p, key);
        transpose(p);
        transpose(p + 32);
        if constexpr (staged) __pipeline_wait_prior(0);
        __syncwarp();
        // From the last row to the first, so that in place the previous block is still intact.
#pragma unroll
        for (int j = 31; j >= 0; --j) {
            Block<2> b{{p[j], p[32 + j]}}, data{}, previous{};
            if constexpr (Mode::keystream) {
                const uint2 v = in[32 * j];
                data = {{v.x, v.y}};
            } else if constexpr (Mode::takes_previous) {
                previous = previous_of(j);
                if (!staged) __syncwarp();
            }
            b = Mode::after(data, previous, b);
            out[32 * j] = {b.word[0], b.word[1]};
        }
        __syncwarp();
    }
    __syncthreads();
    wipe_words(reinterpret_cast<uint32_t*>(shared), Shared::bytes(compiled_for) / 4, threadIdx.x,
               blockDim.x);
}

// Returns the number of bytes of a sweep to process bitsliced: all whole tiles, or 0 if the sweep
// is too short or not aligned.
inline size_t bitsliced_bytes(const uint8_t* in, const uint8_t* out, size_t bytes,
                              const Limits& limits) {
    const bool aligned =
        (reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) % 8 == 0;
    return aligned && bytes >= limits.min_bytes(tuning::bitsliced_min_bytes)
               ? bytes / (8 * bitsliced_tile) * (8 * bitsliced_tile)
               : 0;
}

// `bytes` must be whole tiles. Calls rest() first to queue the remaining text.
template <class Cipher, class Mode, Direction direction, class SharedMemoryLimit, class Rest>
warpseal_status bitsliced_sweep(const uint32_t (&schedule)[Cipher::schedule_words],
                                const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                                uint8_t* out, size_t bytes, const Limits& limits,
                                cudaStream_t stream, const Rest& rest) {
    using BlockFunction = BlockFunction<Cipher, direction>;
    SecretOf<BitslicedJob<Cipher>> secret;
    BitslicedJob<Cipher>& job = secret.value;
    job = {};
    for (int i = 0; i < 32 * Cipher::schedule_words; ++i) job.key[i] = KeyBits{schedule}(i);
    if (Mode::has_iv) job.text.iv = load_block<2>(iv);
    if (Mode::has_iv && !Mode::takes_previous)
        job.text.iv = add_big_endian<2>(job.text.iv, first_block);
    job.text.in = in;
    job.text.out = out;
    job.text.bytes = bytes;
    job.text.split_into_tiles(bitsliced_tile);
    const unsigned blocks = static_cast<unsigned>(std::min<uint64_t>(
        job.text.tiles / (tuning::bitsliced_threads / 32) + 1, limits.multiprocessors));
    const size_t shared =
        BitslicedShared<BlockFunction, Mode, SharedMemoryLimit>::bytes(limits.architecture);
    const auto run = [&] {
        return launch(bitsliced_kernel<BlockFunction, Mode, SharedMemoryLimit>, blocks, shared, job,
                      stream, tuning::bitsliced_threads);
    };
    if (Mode::takes_previous) return with_boundary_blocks(job.text, limits, stream, rest, run);
    const warpseal_status status = rest();
    return status == WARPSEAL_OK ? run() : status;
}

}  // namespace warpseal::cuda
