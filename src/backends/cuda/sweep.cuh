// Sweep: independent blocks under one key, a grid over all of them (ECB, CTR).
#pragma once

#include "backends/cuda/launch.cuh"
#include "backends/cuda/state.cuh"
#include "modes/ctr.h"
#include "modes/ecb.h"

namespace warpseal::cuda {

// Blocks of one launch. Indexes and counters fit in 32 bits.
inline constexpr uint64_t launch_blocks_limit = uint64_t{1} << 31;

template <class Cipher>
struct SweepJob {
    uint32_t schedule[Cipher::schedule_words];
    Text<Cipher> iv;  // counted in its last word alone: the launcher splits where that one wraps
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
};

template <class Way, class Mode, class Fit>
__global__ void __launch_bounds__(tuning::threads, 1) sweep_kernel(const __grid_constant__ SweepJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Text = Text<typename Way::Cipher>;
    const Layout<Way, Fit> look(shared);
    const uint32_t width = common_width(job.in, job.out);
    const uint64_t blocks = (job.bytes + Text::bytes - 1) / Text::bytes;
    const uint64_t step = uint64_t{gridDim.x} * tuning::threads;
    for (uint64_t i = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; i < blocks; i += step) {
        const uint32_t bytes = bytes_in_block<Text::words>(job.bytes, i);
        const Text data = load_part<Text::words>(job.in + Text::bytes * i, bytes, width);
        const Text mask = Mode::has_iv ? add_big_endian<1>(job.iv, static_cast<uint32_t>(i)) : Text{};
        Text b = Mode::before(data, mask);
        Way::run(b, job.schedule, look);
        store_part(job.out + Text::bytes * i, Mode::after(data, mask, b), bytes, width);
    }
}

template <class Cipher>
concept Counts = requires {
    typename Cipher::Counting;
};

// A long CTR sweep, 16-byte aligned. A block's 1024 threads take 1024 consecutive counters at a time, beginning with a multiple of 1024, so
// that for 64 such steps a thread's counter changes in its last byte but one alone, and the cipher keeps what the other bytes come to.
template <class Way, class Fit>
__global__ void __launch_bounds__(tuning::threads, 1) counting_kernel(const __grid_constant__ SweepJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename Way::Cipher;
    const Layout<Way, Fit> look(shared);
    static_assert(tuning::threads == 1024 && look.looks_up);
    const uint32_t counter = swap_bytes(job.iv.word[3]);
    const uint32_t blocks = static_cast<uint32_t>(job.bytes / 16), tail = job.bytes % 16;
    const uint64_t first = counter / 1024, steps = (uint64_t{counter} + blocks + (tail != 0) - 1) / 1024 + 1 - first;
    const uint32_t end = static_cast<uint32_t>(first + steps * (blockIdx.x + 1) / gridDim.x);
    uint32_t step = static_cast<uint32_t>(first + steps * blockIdx.x / gridDim.x);
    while (step < end && job.bytes != 0) {
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
            const Block<4> data = load_part<4>(job.in + at, bytes, 16);
            Cipher::encrypt_counting(b.word, last_word | (step % 64 * 4 + threadIdx.x / 256) << 16, counting, job.schedule, look);
            store_part(job.out + at, data ^ b, bytes, 16);
        }
    }
}

template <class Way, class Mode, class Fit>
warpseal_status sweep_part(const SweepJob<typename Way::Cipher>& job, const Limits& limits, cudaStream_t stream) {
    constexpr uint64_t row_bytes = 32 * Text<typename Way::Cipher>::bytes;
    const unsigned blocks = blocks_for((job.bytes + row_bytes - 1) / row_bytes, limits);
    const size_t shared = shared_bytes<Way, Fit>(limits.architecture);
    if constexpr (Mode::has_iv && Counts<typename Way::Cipher>) {
        const bool aligned = (reinterpret_cast<uintptr_t>(job.in) | reinterpret_cast<uintptr_t>(job.out)) % 16 == 0;
        if (aligned && job.bytes >= tuning::counting_bytes) return launch(counting_kernel<Way, Fit>, blocks, shared, job, stream);
    }
    return launch(sweep_kernel<Way, Mode, Fit>, blocks, shared, job, stream);
}

// `schedule` is the one of the direction in which the cipher runs.
template <class Cipher, class Mode, Direction direction, class Fit>
warpseal_status sweep(const uint32_t (&schedule)[Cipher::schedule_words], const uint8_t* iv, uint64_t first_block, const uint8_t* in,
                      uint8_t* out, size_t bytes, const Limits& limits, cudaStream_t stream) {
    constexpr int n = Text<Cipher>::words;
    SecretOf<SweepJob<Cipher>> secret;
    SweepJob<Cipher>& job = secret.value;
    memcpy(job.schedule, schedule, sizeof job.schedule);
    Text<Cipher> counter{};
    if (Mode::has_iv) counter = add_big_endian<n>(load_block<n>(iv), first_block);
    warpseal_status status = WARPSEAL_OK;
    for (size_t done = 0; done < bytes && status == WARPSEAL_OK; done += job.bytes) {
        job.iv = counter;
        job.in = in + done;
        job.out = out + done;
        const uint64_t until_wrap = Mode::has_iv ? (uint64_t{1} << 32) - swap_bytes(counter.word[n - 1]) : launch_blocks_limit;
        job.bytes = std::min<uint64_t>(bytes - done, 4 * n * std::min(until_wrap, launch_blocks_limit));
        status = sweep_part<Way<Cipher, direction>, Mode, Fit>(job, limits, stream);
        counter = add_big_endian<n>(counter, job.bytes / (4 * n));
    }
    return status;
}

}  // namespace warpseal::cuda
