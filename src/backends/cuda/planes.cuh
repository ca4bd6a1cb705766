// Sweep in plane form, for ciphers of 64-bit blocks that have one: a thread takes 32 blocks, a bit of each in a word (ECB, CTR, CBC and
// CFB decryption). Whole tiles, aligned; the rest goes the way of sweep.cuh and previous.cuh.
#pragma once

#include "backends/cuda/previous.cuh"
#include "backends/cuda/sweep.cuh"

namespace warpseal::cuda {

// 32 rows of 32 bits: row r's bit c changes places with row c's bit r. Halves swap off the diagonal, at every scale.
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
            row[r] = (a & low) | (b << half & ~low);
            row[r + half] = (a >> half & low) | (b & ~low);
        }
    }
    if constexpr (half > 1) transpose<half / 2>(row);
}

// Block j of lane l is block 32 j + l of the tile, so that a warp's accesses are whole rows.
inline constexpr uint32_t plane_tile = 1024;

template <class C>
struct PlanesJob {
    using Cipher = C;
    uint32_t key[32 * Cipher::schedule_words];  // bit i of the schedule in every lane: constant-bank operands
    PreviousJob<Cipher> text;                   // its schedule is not used
};

struct KeyPlanes {
    const uint32_t* key;
    __device__ __forceinline__ uint32_t operator()(int i) const { return key[i]; }
};

// The planes of the counters of a tile: base + 32 j + lane, a big-endian number.
__device__ __forceinline__ void counter_planes(uint32_t (&p)[64], uint64_t base) {
    constexpr uint32_t bit_of_j[5] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
    uint32_t carry = 0;
#pragma unroll
    for (int v = 0; v < 64; ++v) {
        const uint32_t a = 0u - static_cast<uint32_t>(base >> v & 1);
        const uint32_t b = v < 5 ? 0u - (lane_id() >> v & 1u) : v < 10 ? bit_of_j[v < 5 ? 0 : v < 10 ? v - 5 : 0] : 0;
        p[8 * (7 - v / 8) + v % 8] = a ^ b ^ carry;
        carry = (a & b) | (a & carry) | (b & carry);
    }
}

template <class Way>
__device__ __forceinline__ void run_planes(uint32_t (&p)[64], const uint32_t* key) {
    if constexpr (Way::direction == Direction::encrypt)
        Way::Cipher::encrypt_planes(p, KeyPlanes{key});
    else
        Way::Cipher::decrypt_planes(p, KeyPlanes{key});
}

// CTR's iv is the counter of the first block.
template <class Way, class Mode>
__global__ void __launch_bounds__(tuning::plane_threads, tuning::plane_blocks)
    planes_kernel(const __grid_constant__ PlanesJob<typename Way::Cipher> job) {
    constexpr bool counts = Mode::keystream && !Mode::takes_previous;
    const PreviousJob<typename Way::Cipher>& text = job.text;
    const int lane = lane_id();
    const uint64_t step = uint64_t{gridDim.x} * (tuning::plane_threads / 32);
    for (uint64_t tile = uint64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x; tile < text.tiles; tile += step) {
        // No __restrict__: in place, what is read again below may have been written.
        const uint2* const in = reinterpret_cast<const uint2*>(text.in) + tile * plane_tile + lane;
        uint2* const out = reinterpret_cast<uint2*>(text.out) + tile * plane_tile + lane;
        Block<2> edge{};
        if (Mode::takes_previous) edge = before_tile(text, tile, 8);
        const auto previous_of = [&](int j) {
            if (j == 0 && lane == 0) return edge;
            const uint2 v = in[32 * j - 1];
            return Block<2>{{v.x, v.y}};
        };
        uint32_t p[64];
        if constexpr (counts) {
            const uint64_t counter = uint64_t{swap_bytes(text.iv.word[0])} << 32 | swap_bytes(text.iv.word[1]);
            counter_planes(p, counter + tile * plane_tile);
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
        run_planes<Way>(p, job.key);
        transpose(p);
        transpose(p + 32);
        __syncwarp();
        // From the last row, so that in place a previous block is still there.
#pragma unroll
        for (int j = 31; j >= 0; --j) {
            Block<2> b{{p[j], p[32 + j]}}, data{}, previous{};
            if constexpr (Mode::keystream) {
                const uint2 v = in[32 * j];
                data = {{v.x, v.y}};
            } else if constexpr (Mode::takes_previous) {
                previous = previous_of(j);
                __syncwarp();
            }
            b = Mode::after(data, previous, b);
            out[32 * j] = {b.word[0], b.word[1]};
        }
        __syncwarp();
    }
}

// How much of a sweep goes in plane form: as many whole tiles as there are, if they are worth it.
inline size_t planes_part(const uint8_t* in, const uint8_t* out, size_t bytes, const Limits& limits) {
    const bool aligned = (reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) % 8 == 0;
    return aligned && bytes >= limits.from(tuning::plane_bytes) ? bytes / (8 * plane_tile) * (8 * plane_tile) : 0;
}

// bytes: whole tiles. rest() is queued first.
template <class Cipher, class Mode, Direction direction, class Rest>
warpseal_status planes_sweep(const uint32_t (&schedule)[Cipher::schedule_words], const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                             uint8_t* out, size_t bytes, const Limits& limits, cudaStream_t stream, const Rest& rest) {
    using Way = Way<Cipher, direction>;
    SecretOf<PlanesJob<Cipher>> secret;
    PlanesJob<Cipher>& job = secret.value;
    job = {};
    for (int i = 0; i < 32 * Cipher::schedule_words; ++i) job.key[i] = KeyBits{schedule}(i);
    if (Mode::has_iv) job.text.iv = load_block<2>(iv);
    if (Mode::has_iv && !Mode::takes_previous) job.text.iv = add_big_endian<2>(job.text.iv, first_block);
    job.text.in = in;
    job.text.out = out;
    job.text.bytes = bytes;
    job.text.cut(plane_tile);
    const unsigned blocks = static_cast<unsigned>(
        std::min<uint64_t>(job.text.tiles / (tuning::plane_threads / 32) + 1, uint64_t(limits.multiprocessors) * tuning::plane_blocks));
    const auto run = [&] { return launch(planes_kernel<Way, Mode>, blocks, 0, job, stream, tuning::plane_threads); };
    if (Mode::takes_previous) return with_edges(job.text, limits, stream, rest, run);
    const warpseal_status status = rest();
    return status == WARPSEAL_OK ? run() : status;
}

}  // namespace warpseal::cuda
