// Sweep: independent blocks under one key, distributed over the grid (ECB, CTR).
#pragma once

#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/rows.cuh"
#include "modes/ctr.h"
#include "modes/ecb.h"

namespace warpseal::cuda {

// Maximum number of blocks of one launch. Indexes and counters fit in 32 bits.
inline constexpr uint64_t launch_blocks_limit = uint64_t{1} << 31;

template <class Cipher>
struct SweepJob {
    uint32_t schedule[Cipher::schedule_words];
    // Only its last word is incremented: the launcher splits where that word wraps.
    TextBlock<Cipher> iv;
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
};

template <class BlockFunction, class Mode, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    sweep_kernel(const __grid_constant__ SweepJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using TextBlock = TextBlock<typename BlockFunction::Cipher>;
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const uint32_t width = common_width(job.in, job.out);
    const uint64_t blocks = (job.bytes + TextBlock::bytes - 1) / TextBlock::bytes;
    const uint64_t step = uint64_t{gridDim.x} * tuning::threads;
    for (uint64_t i = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; i < blocks; i += step) {
        const uint32_t bytes = bytes_in_block<TextBlock::words>(job.bytes, i);
        const TextBlock data =
            load_partial<TextBlock::words>(job.in + TextBlock::bytes * i, bytes, width);
        const TextBlock mask =
            Mode::has_iv ? add_big_endian<1>(job.iv, static_cast<uint32_t>(i)) : TextBlock{};
        TextBlock b = Mode::before(data, mask);
        BlockFunction::run(b, job.schedule, tables);
        store_partial(job.out + TextBlock::bytes * i, Mode::after(data, mask, b), bytes, width);
    }
}

// Long sweep without an IV: each thread processes one block of each of two rows at a time.
template <class BlockFunction, class Mode, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    rows_kernel(const __grid_constant__ SweepJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const RowText<4> text(job.in, job.out, job.bytes);
    const int64_t blocks = static_cast<int64_t>((job.bytes + 15) / 16),
                  step = int64_t{gridDim.x} * tuning::threads;
    for (int64_t first = int64_t{blockIdx.x} * tuning::threads + threadIdx.x / 32 * 32;
         first < blocks; first += 2 * step) {
        const Block<4> line_a = text.line(first), line_b = text.line(first + step);
        Block<4> a = text.block(first, line_a), b = text.block(first + step, line_b);
        BlockFunction::run(a, b, job.schedule, tables);
        text.store(first, a);
        text.store(first + step, b);
    }
}

template <class Cipher>
concept Counts = requires {
    Cipher::counting_words;
};

template <class Cipher, class TableLookup>
__device__ __forceinline__ void encrypt_counting(uint32_t (&a)[Cipher::counting_words],
                                                 uint32_t (&b)[Cipher::counting_words],
                                                 const uint32_t* k, const TableLookup& tables) {
    if constexpr (requires { Cipher::encrypt_counting(a, b, k, tables); }) {
        Cipher::encrypt_counting(a, b, k, tables);
    } else {
        Cipher::encrypt_counting(a, k, tables);
        Cipher::encrypt_counting(b, k, tables);
    }
}

// Counter mode over `blocks` blocks by a grid. `iv` is the first counter; only its last word is
// incremented, and it may wrap.
// The state after the early rounds is the XOR of three contributions: the last byte, the byte
// before it, and all others. The others are constant for 65,536 counters. A thread stores the
// contribution of the last byte for two blocks. The other byte is the same for a warp: each lane
// holds the contribution of one of the 32 values that the warp meets.
template <class Cipher, class TableLookup, class Blocks>
__device__ __forceinline__ void count_steps(const Block<4>& iv, uint64_t blocks,
                                            const uint32_t* schedule, const TableLookup& tables,
                                            const Blocks& text) {
    constexpr int words = Cipher::counting_words;
    static_assert(tuning::threads == 1024 && TableLookup::uses_tables);
    const uint32_t counter = swap_bytes(iv.word[3]), position = threadIdx.x / 128,
                   last = threadIdx.x % 128;
    const uint64_t first = counter / 2048, steps = (counter + blocks + 2047) / 2048 - first;
    const uint32_t end = static_cast<uint32_t>(first + steps * (blockIdx.x + 1) / gridDim.x);
    uint32_t step = static_cast<uint32_t>(first + steps * blockIdx.x / gridDim.x);
    while (step < end && blocks != 0) {
        const uint32_t high = step / 32 << 16;
        Block<4> block = iv;
        uint32_t contribution_a[words], contribution_b[words], lane_contribution[words];
        block.word[3] = swap_bytes(high | last);
        Cipher::count_last(contribution_a, block.word, schedule, tables);
        block.word[3] = swap_bytes(high | 128 | last);
        Cipher::count_last(contribution_b, block.word, schedule, tables);
        block.word[3] = swap_bytes(high | (lane_id() * 8 + position) << 8);
        Cipher::count_next(lane_contribution, block.word, schedule, tables);
        const uint32_t until = end < (step / 32 + 1) * 32 ? end : (step / 32 + 1) * 32;
        for (; step < until; ++step) {
            const int64_t row =
                static_cast<int64_t>(uint64_t{step} * 2048 + position * 256 + last / 32 * 32) -
                counter;
            uint32_t a[words], b[words];
            for (int w = 0; w < words; ++w) {
                const uint32_t contribution = __shfl_sync(0xffffffffu, lane_contribution[w], step);
                a[w] = contribution_a[w] ^ contribution;
                b[w] = contribution_b[w] ^ contribution;
            }
            encrypt_counting<Cipher>(a, b, schedule, tables);
            // Loaded late: the table lookups need the registers, and the other 31 warps hide the
            // latency.
            const Block<4> line_a = text.line(row), line_b = text.line(row + 128);
            text.store(row, text.block(row, line_a) ^ Block<4>{{a[0], a[1], a[2], a[3]}});
            text.store(row + 128,
                       text.block(row + 128, line_b) ^ Block<4>{{b[0], b[1], b[2], b[3]}});
        }
    }
}

// Long CTR sweep. Blocks is the type that accesses the text: LineText or RowText.
template <class BlockFunction, class SharedMemoryLimit, class Blocks>
__global__ void __launch_bounds__(tuning::threads, 1)
    counting_kernel(const __grid_constant__ SweepJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    count_steps<typename BlockFunction::Cipher>(job.iv, (job.bytes + 15) / 16, job.schedule, tables,
                                                Blocks(job.in, job.out, job.bytes));
}

template <class BlockFunction, class Mode, class SharedMemoryLimit>
warpseal_status sweep_segment(const SweepJob<typename BlockFunction::Cipher>& job,
                              const Limits& limits, cudaStream_t stream) {
    using Cipher = typename BlockFunction::Cipher;
    constexpr uint64_t row_bytes = 32 * TextBlock<Cipher>::bytes;
    const unsigned blocks = blocks_for((job.bytes + row_bytes - 1) / row_bytes, limits);
    const size_t shared = shared_bytes<BlockFunction, SharedMemoryLimit>(limits.architecture);
    if (job.bytes >= limits.min_bytes(tuning::rows_bytes)) {
        if constexpr (Mode::has_iv && Counts<Cipher>) {
            const bool lines = (reinterpret_cast<uintptr_t>(job.in) |
                                reinterpret_cast<uintptr_t>(job.out) | job.bytes) %
                                   16 ==
                               0;
            return launch(lines ? counting_kernel<BlockFunction, SharedMemoryLimit, LineText>
                                : counting_kernel<BlockFunction, SharedMemoryLimit, RowText<4>>,
                          blocks, shared, job, stream);
        }
        if constexpr (!Mode::has_iv && BlockFunction::pairs)
            return launch(rows_kernel<BlockFunction, Mode, SharedMemoryLimit>, blocks, shared, job,
                          stream);
    }
    return launch(sweep_kernel<BlockFunction, Mode, SharedMemoryLimit>, blocks, shared, job,
                  stream);
}

// `schedule` is for the direction in which the cipher itself runs.
template <class Cipher, class Mode, Direction direction, class SharedMemoryLimit>
warpseal_status sweep(const uint32_t (&schedule)[Cipher::schedule_words], const uint8_t* iv,
                      uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                      const Limits& limits, cudaStream_t stream) {
    constexpr int n = TextBlock<Cipher>::words;
    SecretOf<SweepJob<Cipher>> secret;
    SweepJob<Cipher>& job = secret.value;
    memcpy(job.schedule, schedule, sizeof job.schedule);
    TextBlock<Cipher> counter{};
    if (Mode::has_iv) counter = add_big_endian<n>(load_block<n>(iv), first_block);
    warpseal_status status = WARPSEAL_OK;
    for (size_t done = 0; done < bytes && status == WARPSEAL_OK; done += job.bytes) {
        job.iv = counter;
        job.in = in + done;
        job.out = out + done;
        const uint64_t until_wrap = Mode::has_iv
                                        ? (uint64_t{1} << 32) - swap_bytes(counter.word[n - 1])
                                        : launch_blocks_limit;
        job.bytes =
            std::min<uint64_t>(bytes - done, 4 * n * std::min(until_wrap, launch_blocks_limit));
        status = sweep_segment<BlockFunction<Cipher, direction>, Mode, SharedMemoryLimit>(
            job, limits, stream);
        counter = add_big_endian<n>(counter, job.bytes / (4 * n));
    }
    return status;
}

}  // namespace warpseal::cuda
