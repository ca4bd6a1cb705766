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

template <class Cipher, class Mode, Direction direction>
warpseal_status sweep_part(const SweepJob<Cipher>& job, cudaStream_t stream) {
    using Tables = typename Way<Cipher, direction>::Tables;
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    const unsigned blocks = blocks_for((job.bytes + 511) / 512, limits);
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
        const uint64_t until_wrap = Mode::has_iv ? (uint64_t{1} << 32) - swap_bytes(counter.word[3]) : UINT64_MAX / 16;
        job.bytes = std::min<uint64_t>(bytes - done, 16 * until_wrap);
        status = sweep_part<Cipher, Mode, direction>(job, stream);
        counter = add_big_endian<4>(counter, until_wrap);
    }
    wipe(job.schedule, sizeof job.schedule);
    return status;
}

}  // namespace warpseal::cuda
