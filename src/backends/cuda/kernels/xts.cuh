// XTS (IEEE 1619, SP 800-38E). A first kernel computes the tweak of every 32nd block of each data
// unit; from there, each thread processes one block.
#pragma once

#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/rows.cuh"
#include "modes/xts.h"

namespace warpseal::cuda {

// Returns a tweak times x^k, k < 32, by funnel shifts. Same result as modes::advance_tweak, which
// suits a constant k.
__device__ __forceinline__ Block<4> times_x(const Block<4>& t, uint32_t k) {
    const uint32_t out = __funnelshift_l(t.word[3], 0, k);
    Block<4> r;
#pragma unroll
    for (int i = 3; i > 0; --i) r.word[i] = __funnelshift_l(t.word[i - 1], t.word[i], k);
    r.word[0] = t.word[0] << k ^ out ^ out << 1 ^ out << 2 ^ out << 7;
    r.word[1] ^= out >> 31 ^ out >> 30 ^ out >> 25;
    return r;
}
// Converts a tweak to a GHASH element: the same field with the bits reflected.
__device__ __forceinline__ Element element_of(const Block<4>& t) {
    Element e;
#pragma unroll
    for (int i = 0; i < 4; ++i) e.word[i] = __brev(t.word[3 - i]);
    return e;
}
__device__ __forceinline__ Block<4> tweak_of(const Element& e) {
    Block<4> t;
#pragma unroll
    for (int i = 0; i < 4; ++i) t.word[i] = __brev(e.word[3 - i]);
    return t;
}

// Returns x^(2048 n).
__device__ inline Block<4> power_of_x2048(uint32_t n) {
    Element factor, power = one();
    factor.word[1] = 0x80000000u;  // x^64
#pragma unroll 1
    for (int i = 0; i < 5; ++i) factor = square(factor);
#pragma unroll 1
    for (; n != 0; n >>= 1) {
        if (n & 1) power = multiply_once(power, factor);
        factor = square(factor);
    }
    return tweak_of(power);
}

template <class Cipher>
struct TweakJob {
    uint32_t schedule[Cipher::schedule_words];
    Block<4> first;        // number of the first unit
    uint32_t units, rows;  // rows of 32 blocks in each unit
    // A power of two, at most 64: one tweak for each `step` rows.
    uint32_t step;
    Block<4>* tweaks;  // [unit][row / step]
};

// Each thread computes the tweaks of 64 rows.
template <class BlockFunction, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    tweak_kernel(const __grid_constant__ TweakJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const uint32_t tiles = (job.rows + 63) / 64;
    for (uint64_t item = uint64_t{threadIdx.x} * gridDim.x + blockIdx.x;
         item < uint64_t{job.units} * tiles; item += uint64_t{gridDim.x} * tuning::threads) {
        const uint32_t unit = static_cast<uint32_t>(item % job.units),
                       tile = static_cast<uint32_t>(item / job.units);
        Block<4> t = modes::unit_number(job.first, unit);
        BlockFunction::run(t, job.schedule, tables);
        if (tile != 0) t = tweak_of(multiply_once(element_of(t), element_of(power_of_x2048(tile))));
        const uint32_t end = job.rows < tile * 64 + 64 ? job.rows : tile * 64 + 64;
        for (uint32_t row = tile * 64; row < end; ++row, t = modes::advance_tweak(t, 32))
            if (row % job.step == 0) job.tweaks[(uint64_t{unit} * job.rows + row) / job.step] = t;
    }
}

template <class Cipher>
struct XtsJob {
    uint32_t schedule[Cipher::schedule_words];
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes, unit_bytes;
    uint32_t units, unit_blocks, rows;  // whole blocks and rows in a unit
    uint32_t blocks;                    // whole blocks in all units
    uint32_t reciprocal;                // 2^32 / unit_blocks, rounded down
    const Block<4>* tweaks;
};

template <class BlockFunction, class SharedMemoryLimit, Direction direction>
__global__ void __launch_bounds__(tuning::threads, 1)
    xts_kernel(const __grid_constant__ XtsJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const uint32_t width = width_of(reinterpret_cast<uintptr_t>(job.in) |
                                    reinterpret_cast<uintptr_t>(job.out) | job.unit_bytes);
    for (uint64_t at = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; at < job.blocks;
         at += uint64_t{gridDim.x} * tuning::threads) {
        const uint32_t i = static_cast<uint32_t>(at);
        uint32_t unit = __umulhi(i, job.reciprocal), j = i - unit * job.unit_blocks;
        if (j >= job.unit_blocks) ++unit, j -= job.unit_blocks;
        const uint64_t offset = unit * job.unit_bytes + 16 * j;
        const uint8_t* const in = job.in + offset;
        uint8_t* const out = job.out + offset;
        const Block<4> t = times_x(job.tweaks[unit * job.rows + j / 32], j % 32);
        Block<4> mask = t, other = t;
        // Ciphertext stealing. If a unit is not whole blocks, its last whole block supplies the
        // missing bytes of the partial block and takes its position.
        const uint64_t rest =
            (unit + 1 == job.units ? job.bytes - unit * job.unit_bytes : job.unit_bytes) - 16 * j;
        const uint32_t tail = rest < 32 ? static_cast<uint32_t>(rest) - 16 : 0;
        if (tail != 0) (direction == Direction::encrypt ? other : mask) = times_x(t, 1);
        Block<4> b = load_partial<4>(in, 16, width) ^ mask;
        BlockFunction::run(b, job.schedule, tables);
        b = b ^ mask;
        if (tail != 0) {
            const Block<4> stolen = splice(load_partial<4>(in + 16, tail, 1), b, tail);
            store_partial(out + 16, b, tail, 1);
            b = run_once<BlockFunction>(stolen ^ other, job.schedule, tables) ^ other;
        }
        store_partial(out, b, 16, width);
    }
}

// For units of whole rows: a block's position is determined by its row.
template <class Cipher>
struct XtsRowsJob {
    uint32_t schedule[Cipher::schedule_words];
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    uint32_t step;  // rows that share one tweak
    const Block<4>* tweaks;
};

// A warp processes the rows of one tweak, two at a time. If a tweak covers one row, the warp
// processes two such rows.
template <class BlockFunction, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    xts_rows_kernel(const __grid_constant__ XtsRowsJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const RowText<4> text(job.in, job.out, job.bytes);
    const uint32_t rows = static_cast<uint32_t>(job.bytes / 512),
                   rows_of_warp = job.step == 1 ? 2 : job.step;
    for (uint64_t first = first_item() * rows_of_warp; first < rows;
         first += item_step() * rows_of_warp) {
        Block<4> tweak_a = times_x(job.tweaks[first / job.step], lane_id());
        for (uint32_t row = static_cast<uint32_t>(first); row < first + rows_of_warp; row += 2) {
            const int64_t i = int64_t{row} * 32;
            const Block<4> line_a = text.line(i), line_b = text.line(i + 32);
            Block<4> tweak_b = modes::advance_tweak(tweak_a, 32);
            if (job.step == 1 && row + 1 < rows) tweak_b = times_x(job.tweaks[row + 1], lane_id());
            Block<4> a = text.block(i, line_a) ^ tweak_a, b = text.block(i + 32, line_b) ^ tweak_b;
            BlockFunction::run(a, b, job.schedule, tables);
            text.store(i, a ^ tweak_a);
            text.store(i + 32, b ^ tweak_b);
            tweak_a = modes::advance_tweak(tweak_b, 32);
        }
    }
}

// Consecutive data units of equal length; the last may be shorter.
struct XtsText {
    Block<4> first;  // number of the first unit
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes, unit_bytes;

    uint64_t units() const { return (bytes + unit_bytes - 1) / unit_bytes; }
    XtsText segment(uint64_t unit, uint64_t count) const {
        const uint64_t at = unit * unit_bytes;
        return {modes::unit_number(first, unit), in + at, out + at,
                std::min(bytes - at, count * unit_bytes), unit_bytes};
    }
};

// Processes the text in segments of whole units, so that the scratch for tweaks is bounded.
// work(segment, tweaks) queues the kernels that use the tweaks. There is one tweak for each `step`
// rows.
template <class Cipher, class SharedMemoryLimit, class Work>
warpseal_status with_tweaks(const State<Cipher>& tweak_state, const XtsText& text, uint64_t step,
                            const Limits& limits, cudaStream_t stream, const Work& work) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    if (text.bytes == 0) return WARPSEAL_OK;
    const uint64_t rows = (text.unit_bytes / 16 + 31) / 32, tweaks = rows / step,
                   all = text.units();
    const uint64_t round_units =
        std::min<uint64_t>(std::max<uint64_t>(tuning::tweaks_per_round / tweaks, 1), all);
    SecretOf<TweakJob<Cipher>> secret;
    TweakJob<Cipher>& job = secret.value;
    job = {};
    memcpy(job.schedule, tweak_state.forward, sizeof job.schedule);
    job.rows = static_cast<uint32_t>(rows);
    job.step = static_cast<uint32_t>(step);
    return with_scratch(round_units * tweaks * 16, stream, [&](void* scratch) {
        job.tweaks = static_cast<Block<4>*>(scratch);
        warpseal_status queued = WARPSEAL_OK;
        for (uint64_t unit = 0; unit < all && queued == WARPSEAL_OK; unit += round_units) {
            const XtsText segment = text.segment(unit, round_units);
            job.units = static_cast<uint32_t>(segment.units());
            job.first = segment.first;
            // A GF(2^128) multiplication is slow: spread threads over all multiprocessors.
            queued =
                launch(tweak_kernel<Forward, SharedMemoryLimit>,
                       blocks_for(job.units * ((rows + 63) / 64), limits),
                       shared_bytes<Forward, SharedMemoryLimit>(limits.architecture), job, stream);
            if (queued == WARPSEAL_OK) queued = work(segment, job.tweaks);
        }
        return queued;
    });
}

// For whole units of whole rows. In small texts each tweak covers fewer rows, so that all warps
// have work.
template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status xts_rows(const uint32_t (&schedule)[Cipher::schedule_words],
                         const State<Cipher>& tweak_state, const XtsText& text,
                         const Limits& limits, cudaStream_t stream) {
    using BlockFunction = BlockFunction<Cipher, direction>;
    SecretOf<XtsRowsJob<Cipher>> secret;
    XtsRowsJob<Cipher>& job = secret.value;
    job = {};
    memcpy(job.schedule, schedule, sizeof job.schedule);
    const uint64_t tiles =
        uint64_t(limits.multiprocessors) * tuning::warps * tuning::tiles_per_warp;
    uint64_t step = 1;
    while (step < tuning::unit_rows && text.bytes / 512 >= limits.min_bytes(2 * step * tiles) &&
           text.unit_bytes / 512 % (2 * step) == 0)
        step *= 2;
    job.step = static_cast<uint32_t>(step);
    return with_tweaks<Cipher, SharedMemoryLimit>(
        tweak_state, text, step, limits, stream,
        [&](const XtsText& segment, const Block<4>* tweaks) {
            job.in = segment.in;
            job.out = segment.out;
            job.bytes = segment.bytes;
            job.tweaks = tweaks;
            return launch(xts_rows_kernel<BlockFunction, SharedMemoryLimit>,
                          blocks_for(segment.bytes / 512 / std::max<uint64_t>(step, 2) + 1, limits),
                          shared_bytes<BlockFunction, SharedMemoryLimit>(limits.architecture), job,
                          stream);
        });
}

// For units of any length.
template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status xts_blocks(const uint32_t (&schedule)[Cipher::schedule_words],
                           const State<Cipher>& tweak_state, const XtsText& text,
                           const Limits& limits, cudaStream_t stream) {
    using BlockFunction = BlockFunction<Cipher, direction>;
    SecretOf<XtsJob<Cipher>> secret;
    XtsJob<Cipher>& job = secret.value;
    job = {};
    memcpy(job.schedule, schedule, sizeof job.schedule);
    const uint64_t unit_blocks = text.unit_bytes / 16;
    job.unit_bytes = text.unit_bytes;
    job.unit_blocks = static_cast<uint32_t>(unit_blocks);
    job.rows = static_cast<uint32_t>((unit_blocks + 31) / 32);
    job.reciprocal =
        static_cast<uint32_t>(std::min<uint64_t>((uint64_t{1} << 32) / unit_blocks, UINT32_MAX));
    return with_tweaks<Cipher, SharedMemoryLimit>(
        tweak_state, text, 1, limits, stream, [&](const XtsText& segment, const Block<4>* tweaks) {
            job.units = static_cast<uint32_t>(segment.units());
            job.in = segment.in;
            job.out = segment.out;
            job.bytes = segment.bytes;
            job.blocks = static_cast<uint32_t>((job.units - 1) * unit_blocks +
                                               (job.bytes - (job.units - 1) * job.unit_bytes) / 16);
            job.tweaks = tweaks;
            return launch(xts_kernel<BlockFunction, SharedMemoryLimit, direction>,
                          blocks_for((uint64_t{job.blocks} + 31) / 32, limits),
                          shared_bytes<BlockFunction, SharedMemoryLimit>(limits.architecture), job,
                          stream);
        });
}

template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status xts(const void* state, const void* tweak_state, const XtsUnits& units,
                    const uint8_t* in, uint8_t* out, size_t bytes, void* stream_pointer) {
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    Limits limits;
    warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    const XtsText text{load_block<4>(units.first), in, out, bytes,
                       std::min<uint64_t>(units.unit_bytes, bytes)};
    const auto& schedule = static_cast<const State<Cipher>*>(state)->template schedule<direction>();
    const auto& tweaks = *static_cast<const State<Cipher>*>(tweak_state);
    const uint64_t units_in_rows = text.unit_bytes % 512 == 0 ? bytes / text.unit_bytes : 0;
    status = xts_rows<Cipher, direction, SharedMemoryLimit>(
        schedule, tweaks, text.segment(0, units_in_rows), limits, stream);
    if (status != WARPSEAL_OK) return status;
    XtsText rest = text.segment(units_in_rows, text.units() - units_in_rows);
    if (rest.bytes == 0) return WARPSEAL_OK;
    rest.unit_bytes = std::min(rest.unit_bytes, rest.bytes);
    return xts_blocks<Cipher, direction, SharedMemoryLimit>(schedule, tweaks, rest, limits, stream);
}

}  // namespace warpseal::cuda
