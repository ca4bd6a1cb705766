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
    TextBlock<Cipher> iv;
    bool continues;  // iv is the block before `in`
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    uint64_t tile_blocks, tiles;
    // [tile] Saved block before the tile, except for tile 0. Null if all of them are still in `in`.
    TextBlock<Cipher>* boundary_blocks;

    uint64_t blocks() const {
        return (bytes + TextBlock<Cipher>::bytes - 1) / TextBlock<Cipher>::bytes;
    }
    void split_into_tiles(uint64_t blocks_in_tile) {
        tile_blocks = blocks_in_tile;
        tiles = (blocks() + tile_blocks - 1) / tile_blocks;
    }
};

// Returns the block before a tile. A free function, because device code cannot call host member
// functions.
template <class Cipher>
__device__ __forceinline__ TextBlock<Cipher> before_tile(const PreviousJob<Cipher>& job,
                                                         uint64_t tile, uint32_t width) {
    if (tile == 0 && !job.continues) return job.iv;
    if (tile != 0 && job.boundary_blocks != nullptr) return job.boundary_blocks[tile];
    constexpr int bytes = TextBlock<Cipher>::bytes;
    return load_partial<bytes / 4>(job.in + tile * job.tile_blocks * bytes - bytes, bytes, width);
}

// One job type for each block size: the kernel does not depend on the cipher.
template <int n>
struct BoundaryJob {
    const uint8_t* in;
    uint64_t tile_blocks, tiles;
    Block<n>* boundary_blocks;
};

template <int n>
__global__ void __launch_bounds__(tuning::threads)
    boundary_kernel(const __grid_constant__ BoundaryJob<n> job) {
    const uint32_t width = common_width(job.in, nullptr);
    for (uint64_t t = 1 + uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; t < job.tiles;
         t += uint64_t{gridDim.x} * tuning::threads)
        job.boundary_blocks[t] =
            load_partial<n>(job.in + (t * job.tile_blocks - 1) * 4 * n, 4 * n, width);
}

template <class BlockFunction, class Mode, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    previous_kernel(const __grid_constant__ PreviousJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using TextBlock = TextBlock<typename BlockFunction::Cipher>;
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const RowText<TextBlock::words> text(job.in, job.out, job.bytes);
    const uint32_t width = common_width(job.in, job.out);
    const uint64_t blocks = (job.bytes + TextBlock::bytes - 1) / TextBlock::bytes;
    for (uint64_t tile = first_item(); tile < job.tiles; tile += item_step()) {
        const uint64_t first = tile * job.tile_blocks, last = first + job.tile_blocks,
                       end = last < blocks ? last : blocks;
        TextBlock carry = before_tile(job, tile, width);
        for (uint64_t i = first; i < end; i += 64) {
            const TextBlock line_a = text.line(i), line_b = text.line(i + 32);
            const TextBlock data_a = text.block(i, line_a), data_b = text.block(i + 32, line_b);
            const TextBlock previous_a = previous_blocks(data_a, carry),
                            previous_b = previous_blocks(data_b, carry);
            TextBlock a = Mode::before(data_a, previous_a), b = Mode::before(data_b, previous_b);
            BlockFunction::run(a, b, job.schedule, tables);
            text.store(i, Mode::after(data_a, previous_a, a));
            text.store(i + 32, Mode::after(data_b, previous_b, b));
        }
    }
}

// Queues rest() and then work(), which launches the job. In place, the blocks before the tiles are
// saved before work(). It then runs in rounds from the end, so that scratch is bounded and the
// block before a round is still intact. All scratch is allocated before anything is written.
template <class Cipher, class Rest, class Work>
warpseal_status with_boundary_blocks(PreviousJob<Cipher>& job, const Limits& limits,
                                     cudaStream_t stream, const Rest& rest, const Work& work) {
    const auto then = [](warpseal_status status, const auto& call) {
        return status == WARPSEAL_OK ? call() : status;
    };
    if (job.in != job.out || job.tiles <= 1) return then(rest(), work);
    using Boundary = TextBlock<Cipher>;
    const uint64_t round_tiles = std::min(job.tiles, tuning::tiles_per_round),
                   tile_bytes = job.tile_blocks * Boundary::bytes;
    return with_scratch(round_tiles * sizeof(Boundary), stream, [&](void* scratch) {
        job.boundary_blocks = static_cast<Boundary*>(scratch);
        uint8_t* const text = job.out;
        const bool continues = job.continues;
        uint64_t bytes = job.bytes;
        warpseal_status status = rest();
        for (uint64_t end = job.tiles; end != 0 && status == WARPSEAL_OK; end -= job.tiles) {
            job.tiles = std::min(end, round_tiles);
            const uint64_t before = (end - job.tiles) * tile_bytes;
            job.in = job.out = text + before;
            job.bytes = bytes - before;
            bytes = before;
            job.continues = continues || before != 0;
            const BoundaryJob<Boundary::words> boundaries{job.in, job.tile_blocks, job.tiles,
                                                          job.boundary_blocks};
            status = then(launch(boundary_kernel<Boundary::words>,
                                 blocks_for(job.tiles / 32 + 1, limits), 0, boundaries, stream),
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
    if (iv != nullptr) job.iv = load_block<TextBlock<Cipher>::words>(iv);
    job.in = in;
    job.out = out;
    job.bytes = bytes;
    const uint64_t pairs = (job.blocks() + 63) / 64,
                   warps = uint64_t(limits.multiprocessors) * tuning::warps;
    job.split_into_tiles(64 * std::clamp<uint64_t>(pairs / (tuning::tiles_per_warp * warps), 1,
                                                   tuning::tile_rows / 2));
    const auto no_rest = [] { return WARPSEAL_OK; };
    return with_boundary_blocks(job, limits, stream, no_rest, [&] {
        return launch(
            previous_kernel<BlockFunction, Mode, SharedMemoryLimit>, blocks_for(job.tiles, limits),
            shared_bytes<BlockFunction, SharedMemoryLimit>(limits.architecture), job, stream);
    });
}

}  // namespace warpseal::cuda
