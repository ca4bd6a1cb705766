// Sweep: independent blocks under one key, a grid over all of them (ECB, CTR).
#pragma once

#include "backends/cuda/access.cuh"
#include "backends/cuda/launch.cuh"
#include "backends/cuda/tables.cuh"
#include "core/secret.h"
#include "modes/ctr.h"
#include "modes/ecb.h"

namespace warpseal::cuda {

// One direction of a cipher: its tables, its schedule in a state, its function.
template <class Cipher, Direction direction>
struct Way {
    using Tables = typename Cipher::EncryptTables;
    template <class Look>
    WARPSEAL_INLINE static void run(Block<4>& b, const uint32_t* k, const Look& look) {
        Cipher::encrypt(b.word, k, look);
    }
};
template <class Cipher>
struct Way<Cipher, Direction::decrypt> {
    using Tables = typename Cipher::DecryptTables;
    template <class Look>
    WARPSEAL_INLINE static void run(Block<4>& b, const uint32_t* k, const Look& look) {
        Cipher::decrypt(b.word, k, look);
    }
};

// Blocks of one launch: 32 GiB. Indexes and counters fit in 32 bits.
inline constexpr uint64_t launch_blocks_limit = uint64_t{1} << 31;

template <class Cipher>
struct SweepJob {
    uint32_t schedule[Cipher::schedule_words];
    Block<4> iv;  // counted in its last word alone: the launcher splits where that one wraps
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
};

template <class Cipher, class Mode, Direction direction, template <class> class Layout>
__global__ void __launch_bounds__(tuning::threads, 1) sweep_kernel(const __grid_constant__ SweepJob<Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Forward = Way<Cipher, direction>;
    const Layout<typename Forward::Tables> look(shared);
    const uint32_t width = common_width(job.in, job.out);
    const uint64_t blocks = (job.bytes + 15) / 16;
    const uint64_t step = uint64_t{gridDim.x} * tuning::threads;
    for (uint64_t i = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; i < blocks; i += step) {
        const uint32_t bytes = bytes_in_block(job.bytes, i);
        const Block<4> data = load_part(job.in + 16 * i, bytes, width);
        const Block<4> mask = Mode::has_iv ? add_big_endian<1>(job.iv, static_cast<uint32_t>(i)) : Block<4>{};
        Block<4> b = Mode::before(data, mask);
        Forward::run(b, job.schedule, look);
        store_part(job.out + 16 * i, Mode::after(data, mask, b), bytes, width);
    }
}

// A long CTR sweep, 16-byte aligned. A block's 1024 threads take 1024 consecutive counters at a time, beginning with a multiple of 1024, so
// that for 64 such steps a thread's counter changes in its last byte but one alone, and the cipher keeps what the other bytes come to.
template <class Cipher, template <class> class Layout>
__global__ void __launch_bounds__(tuning::threads, 1) counting_kernel(const __grid_constant__ SweepJob<Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<typename Cipher::EncryptTables> look(shared);
    static_assert(tuning::threads == 1024);
    const uint32_t counter = swap_bytes(job.iv.word[3]);
    const uint32_t blocks = static_cast<uint32_t>(job.bytes / 16), tail = job.bytes % 16;
    const uint64_t first = counter / 1024, steps = (uint64_t{counter} + blocks + (tail != 0) - 1) / 1024 + 1 - first;
    const uint32_t end = static_cast<uint32_t>(first + steps * (blockIdx.x + 1) / gridDim.x);
    uint32_t step = static_cast<uint32_t>(first + steps * blockIdx.x / gridDim.x);
    while (step < end) {
        Block<4> b = job.iv;
        b.word[3] = swap_bytes((step / 64) << 16 | threadIdx.x % 256);
        const auto counting = Cipher::begin_counting(b.word, job.schedule, look);
        const uint32_t last_word = b.word[3];
        const uint32_t until = end < (step / 64 + 1) * 64 ? end : (step / 64 + 1) * 64;
        for (; step < until; ++step) {
            const uint32_t i = step * 1024 + threadIdx.x - counter;
            if (i > blocks || (i == blocks && tail == 0)) continue;
            const uint32_t bytes = i == blocks ? tail : 16;
            const uint64_t at = uint64_t{i} * 16;
            const Block<4> data = load_part(job.in + at, bytes, 16);
            Cipher::encrypt_counting(b.word, last_word | (step % 64 * 4 + threadIdx.x / 256) << 16, counting, job.schedule, look);
            store_part(job.out + at, data ^ b, bytes, 16);
        }
    }
}

template <class Cipher, class Mode, Direction direction>
warpseal_status sweep_part(const SweepJob<Cipher>& job, cudaStream_t stream) {
    using Tables = typename Way<Cipher, direction>::Tables;
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    const unsigned blocks = blocks_for((job.bytes + 511) / 512, limits);
    const bool aligned = (reinterpret_cast<uintptr_t>(job.in) | reinterpret_cast<uintptr_t>(job.out)) % 16 == 0;
    if constexpr (Mode::has_iv && requires { typename Cipher::Counting; }) {
        if (aligned && job.bytes >= tuning::counting_bytes) {
            if (limits.shared_bytes >= WideLayout<Tables>::bytes)
                return launch(counting_kernel<Cipher, WideLayout>, blocks, WideLayout<Tables>::bytes, job, stream);
            return launch(counting_kernel<Cipher, MergedLayout>, blocks, MergedLayout<Tables>::bytes, job, stream);
        }
    }
    if (limits.shared_bytes >= WideLayout<Tables>::bytes)
        return launch(sweep_kernel<Cipher, Mode, direction, WideLayout>, blocks, WideLayout<Tables>::bytes, job, stream);
    return launch(sweep_kernel<Cipher, Mode, direction, MergedLayout>, blocks, MergedLayout<Tables>::bytes, job, stream);
}

// `schedule` is the one of the direction in which the cipher runs.
template <class Cipher, class Mode, Direction direction>
warpseal_status sweep(const uint32_t (&schedule)[Cipher::schedule_words], const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes, cudaStream_t stream) {
    SweepJob<Cipher> job;
    memcpy(job.schedule, schedule, sizeof job.schedule);
    Block<4> counter{};
    if (Mode::has_iv) counter = add_big_endian<4>(load_block<4>(iv), first_block);
    warpseal_status status = WARPSEAL_OK;
    for (size_t done = 0; done < bytes && status == WARPSEAL_OK; done += job.bytes) {
        job.iv = counter;
        job.in = in + done;
        job.out = out + done;
        const uint64_t until_wrap = Mode::has_iv ? (uint64_t{1} << 32) - swap_bytes(counter.word[3]) : launch_blocks_limit;
        job.bytes = std::min<uint64_t>(bytes - done, 16 * std::min(until_wrap, launch_blocks_limit));
        status = sweep_part<Cipher, Mode, direction>(job, stream);
        counter = add_big_endian<4>(counter, job.bytes / 16);
    }
    wipe(job.schedule, sizeof job.schedule);
    return status;
}

}  // namespace warpseal::cuda
