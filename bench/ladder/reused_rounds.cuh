// Counter mode that reuses early rounds of consecutive counters: they become the XOR of one
// contribution for each of the last two counter bytes.
#pragma once

#include "bench/ladder/sweep.cuh"

namespace warpseal::ladder {

// Runs the remaining rounds for two blocks from their sums; the blocks are in the first four words.
template <class Cipher, class Layout>
__device__ __forceinline__ void finish_counting(uint32_t (&a)[Cipher::counting_words],
                                                uint32_t (&b)[Cipher::counting_words],
                                                const uint32_t* key, const Layout& tables) {
    if constexpr (requires { Cipher::encrypt_counting(a, b, key, tables); }) {
        Cipher::encrypt_counting(a, b, key, tables);
    } else {
        Cipher::encrypt_counting(a, key, tables);
        Cipher::encrypt_counting(b, key, tables);
    }
}

// 1024 threads take rows of 1024 consecutive counters, two rows at a time. 64 consecutive rows
// differ only in the last two counter bytes. A thread keeps the contribution of its last byte;
// those of all next-to-last bytes are in shared memory.
template <class Cipher, class Layout>
__global__ void __launch_bounds__(1024, 1) reused_rounds(const __grid_constant__ Job<Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int words = Cipher::counting_words;
    const Layout tables(shared);
    auto* const contributions = reinterpret_cast<uint32_t(*)[words]>(shared + Layout::bytes);
    const uint64_t counter =
        uint64_t{swap_bytes(job.iv.word[2])} << 32 | swap_bytes(job.iv.word[3]);
    const uint64_t first = counter / 1024, rows = (counter + job.blocks - 1) / 1024 + 1 - first;
    const uint64_t end = first + rows * (blockIdx.x + 1) / gridDim.x;
    for (uint64_t row = first + rows * blockIdx.x / gridDim.x; row < end;) {
        const uint64_t common = row / 64 << 16,
                       until = end < (row / 64 + 1) * 64 ? end : (row / 64 + 1) * 64;
        Block<4> b = job.iv;
        b.word[2] = swap_bytes(static_cast<uint32_t>(common >> 32));
        __syncthreads();
        b.word[3] = swap_bytes(static_cast<uint32_t>(common) | threadIdx.x % 256 << 8);
        if (threadIdx.x < 256)
            Cipher::count_next(contributions[threadIdx.x], b.word, job.key, tables);
        uint32_t last[words];
        b.word[3] = swap_bytes(static_cast<uint32_t>(common) | threadIdx.x % 256);
        Cipher::count_last(last, b.word, job.key, tables);
        __syncthreads();
        for (; row < until; row += 2) {
            const uint32_t mine = row % 64 * 4 + threadIdx.x / 256,
                           next = mine < 252 ? mine + 4 : mine;
            uint32_t sum[2][words];
            for (int w = 0; w < words; ++w)
                sum[0][w] = last[w] ^ contributions[mine][w],
                sum[1][w] = last[w] ^ contributions[next][w];
            finish_counting<Cipher>(sum[0], sum[1], job.key, tables);
            for (int j = 0; j < 2; ++j) {
                const uint64_t i = (row + j) * 1024 + threadIdx.x - counter;
                if (row + j < until && i < job.blocks)
                    store(job.out, i,
                          Block<4>{{sum[j][0], sum[j][1], sum[j][2], sum[j][3]}} ^
                              load<4>(job.in, i));
            }
        }
        row = until;
    }
}

template <class Cipher, class Layout>
const Study* reused_rounds_study() {
    static const Study study{
        .kernel = reinterpret_cast<const void*>(&reused_rounds<Cipher, Layout>),
        .fill = fill_job<Cipher>,
        .threads = 1024,
        .threads_together = 1024,
        .blocks_together = 1024,
        .shared_bytes = Layout::bytes + 256 * 4 * Cipher::counting_words};
    return &study;
}

}  // namespace warpseal::ladder
