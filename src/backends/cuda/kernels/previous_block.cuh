// Sweep in which each block needs the previous ciphertext block: CBC and CFB decryption (SP 800-38A
// 6.2, 6.3), also in place.
#pragma once

#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/rows.cuh"
#include "modes/cbc.h"
#include "modes/cfb.h"

namespace warpseal::cuda {

// A warp processes a tile: pairs of rows of 32 blocks. Ciphertext passes from lane to lane and from
// row to row. In place, the last block of the previous tile may already be overwritten, so the last
// blocks of all tiles are saved first.
template <class Cipher>
struct PreviousJob {
    uint32_t schedule[Cipher::schedule_words];
    Text<Cipher> iv;
    bool continues;  // iv is the block before `in`
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    uint64_t tile_blocks, tiles;
    // [tile] Block before the tile, except for tile 0. Null if all of them are still in `in`.
    Text<Cipher>* edges;

    uint64_t blocks() const { return (bytes + Text<Cipher>::bytes - 1) / Text<Cipher>::bytes; }
    void cut(uint64_t blocks_in_tile) {
        tile_blocks = blocks_in_tile;
        tiles = (blocks() + tile_blocks - 1) / tile_blocks;
    }
};

// Returns the block before a tile. A free function, because device code cannot call host member
// functions.
template <class Cipher>
__device__ __forceinline__ Text<Cipher> before_tile(const PreviousJob<Cipher>& job, uint64_t tile,
                                                    uint32_t width) {
    if (tile == 0 && !job.continues) return job.iv;
    if (tile != 0 && job.edges != nullptr) return job.edges[tile];
    constexpr int bytes = Text<Cipher>::bytes;
    return load_partial<bytes / 4>(job.in + tile * job.tile_blocks * bytes - bytes, bytes, width);
}

// One job type for each block size: the kernel does not depend on the cipher.
template <int n>
struct EdgesJob {
    const uint8_t* in;
    uint64_t tile_blocks, tiles;
    Block<n>* edges;
};

template <int n>
__global__ void __launch_bounds__(tuning::threads)
    edges_kernel(const __grid_constant__ EdgesJob<n> job) {
    const uint32_t width = common_width(job.in, nullptr);
    for (uint64_t t = 1 + uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; t < job.tiles;
         t += uint64_t{gridDim.x} * tuning::threads)
        job.edges[t] = load_partial<n>(job.in + (t * job.tile_blocks - 1) * 4 * n, 4 * n, width);
}

template <class BlockFunction, class Mode, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    previous_kernel(const __grid_constant__ PreviousJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Text = Text<typename BlockFunction::Cipher>;
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const RowText<Text::words> text(job.in, job.out, job.bytes);
    const uint32_t width = common_width(job.in, job.out);
    const uint64_t blocks = (job.bytes + Text::bytes - 1) / Text::bytes;
    for (uint64_t tile = first_item(); tile < job.tiles; tile += item_step()) {
        const uint64_t first = tile * job.tile_blocks, last = first + job.tile_blocks,
                       end = last < blocks ? last : blocks;
        Text carry = before_tile(job, tile, width);
        for (uint64_t i = first; i < end; i += 64) {
            const Text line_a = text.line(i), line_b = text.line(i + 32);
            const Text data_a = text.block(i, line_a), data_b = text.block(i + 32, line_b);
            const Text previous_a = hand_on(data_a, carry), previous_b = hand_on(data_b, carry);
            Text a = Mode::before(data_a, previous_a), b = Mode::before(data_b, previous_b);
            BlockFunction::run(a, b, job.schedule, tables);
            text.store(i, Mode::after(data_a, previous_a, a));
            text.store(i + 32, Mode::after(data_b, previous_b, b));
        }
    }
}

// Queues rest() and then work(), which launches the job. In place, the tiles' edges are saved
// before work(). It then runs in rounds from the end, so that scratch is bounded and the block
// before a round is still intact. All scratch is allocated before anything is written.
template <class Cipher, class Rest, class Work>
warpseal_status with_edges(PreviousJob<Cipher>& job, const Limits& limits, cudaStream_t stream,
                           const Rest& rest, const Work& work) {
    const auto then = [](warpseal_status status, const auto& call) {
        return status == WARPSEAL_OK ? call() : status;
    };
    if (job.in != job.out || job.tiles <= 1) return then(rest(), work);
    using Edge = Text<Cipher>;
    const uint64_t at_once = std::min(job.tiles, tuning::edges_at_once),
                   tile_bytes = job.tile_blocks * Edge::bytes;
    return with_scratch(at_once * sizeof(Edge), stream, [&](void* scratch) {
        job.edges = static_cast<Edge*>(scratch);
        uint8_t* const text = job.out;
        const bool continues = job.continues;
        uint64_t bytes = job.bytes;
        warpseal_status status = rest();
        for (uint64_t end = job.tiles; end != 0 && status == WARPSEAL_OK; end -= job.tiles) {
            job.tiles = std::min(end, at_once);
            const uint64_t before = (end - job.tiles) * tile_bytes;
            job.in = job.out = text + before;
            job.bytes = bytes - before;
            bytes = before;
            job.continues = continues || before != 0;
            const EdgesJob<Edge::words> edges{job.in, job.tile_blocks, job.tiles, job.edges};
            status = then(launch(edges_kernel<Edge::words>, blocks_for(job.tiles / 32 + 1, limits),
                                 0, edges, stream),
                          work);
        }
        return status;
    });
}

// If iv is null, the IV is the block before `in` in memory.
template <class Cipher, class Mode, Direction direction, class SharedMemoryLimit>
warpseal_status previous_sweep(const uint32_t (&schedule)[Cipher::schedule_words],
                               const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                               const Limits& limits, cudaStream_t stream) {
    using BlockFunction = BlockFunction<Cipher, direction>;
    if (bytes == 0) return WARPSEAL_OK;
    SecretOf<PreviousJob<Cipher>> secret;
    PreviousJob<Cipher>& job = secret.value;
    job = {};
    memcpy(job.schedule, schedule, sizeof job.schedule);
    job.continues = iv == nullptr;
    if (iv != nullptr) job.iv = load_block<Text<Cipher>::words>(iv);
    job.in = in;
    job.out = out;
    job.bytes = bytes;
    const uint64_t pairs = (job.blocks() + 63) / 64,
                   warps = uint64_t(limits.multiprocessors) * tuning::warps;
    job.cut(64 * std::clamp<uint64_t>(pairs / (tuning::tiles_per_warp * warps), 1,
                                      tuning::tile_rows / 2));
    const auto no_rest = [] { return WARPSEAL_OK; };
    return with_edges(job, limits, stream, no_rest, [&] {
        return launch(
            previous_kernel<BlockFunction, Mode, SharedMemoryLimit>, blocks_for(job.tiles, limits),
            shared_bytes<BlockFunction, SharedMemoryLimit>(limits.architecture), job, stream);
    });
}

}  // namespace warpseal::cuda
