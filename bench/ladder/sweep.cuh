// Kernels of most steps: each thread processes one block at a time with tables, for any layout.
#pragma once

#include "bench/ladder/layouts.cuh"
#include "bench/ladder/study.h"

namespace warpseal::ladder {

enum class StudyMode {
    ecb,        // reads and writes a block
    ctr,        // reads a block, XORs the keystream, writes it
    keystream,  // writes, once per thread, the XOR of its keystream blocks
};

template <int n>
using Vector = std::conditional_t<n == 2, uint2, uint4>;

template <int n>
__device__ __forceinline__ Block<n> load(const uint8_t* text, uint64_t i) {
    const Vector<n> v = reinterpret_cast<const Vector<n>*>(text)[i];
    if constexpr (n == 2)
        return {{v.x, v.y}};
    else
        return {{v.x, v.y, v.z, v.w}};
}
template <int n>
__device__ __forceinline__ void store(uint8_t* text, uint64_t i, const Block<n>& b) {
    if constexpr (n == 2)
        reinterpret_cast<uint2*>(text)[i] = {b.word[0], b.word[1]};
    else
        reinterpret_cast<uint4*>(text)[i] = {b.word[0], b.word[1], b.word[2], b.word[3]};
}

// Round keys as operands from the constant bank.
template <class Cipher>
struct ParameterKeys {
    static constexpr uint32_t bytes = 0;
    const uint32_t* word;
    __device__ ParameterKeys(const Job<Cipher>& job, unsigned char*) : word(job.key) {}
};
// Round keys copied to shared memory by the block's threads.
template <class Cipher>
struct SharedKeys {
    static constexpr uint32_t bytes = (4 * Cipher::schedule_words + 15) / 16 * 16;
    const uint32_t* word;
    __device__ SharedKeys(const Job<Cipher>& job, unsigned char* shared)
        : word(reinterpret_cast<uint32_t*>(shared)) {
        for (uint32_t i = threadIdx.x; i < Cipher::schedule_words; i += blockDim.x)
            reinterpret_cast<uint32_t*>(shared)[i] = job.key[i];
    }
};

// Only the counter's lowest 64 bits increase; a launch ends before they wrap.
template <class Cipher, class Layout, class Keys, StudyMode study_mode>
__global__ void __launch_bounds__(1024, 1) sweep(const __grid_constant__ Job<Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int n = Cipher::block_bytes / 4;
    const Layout tables(shared);
    const Keys keys(job, shared + Layout::bytes);
    __syncthreads();
    const uint32_t first = blockIdx.x * blockDim.x, threads = gridDim.x * blockDim.x;
    const uint64_t counter =
        uint64_t{swap_bytes(job.iv.word[n - 2])} << 32 | swap_bytes(job.iv.word[n - 1]);
    Block<n> sum{};
    // If nothing is stored and some threads leave the loop early, the compiler adds the tables'
    // base to each address. All threads therefore stay.
    constexpr bool together = study_mode == StudyMode::keystream;
    for (uint64_t row = first; row + (together ? 0 : threadIdx.x) < job.blocks; row += threads) {
        const uint64_t i = row + threadIdx.x;
        Block<n> b;
        if constexpr (study_mode == StudyMode::ecb) {
            b = load<n>(job.in, i);
        } else {
            b = job.iv;
            b.word[n - 2] = swap_bytes(static_cast<uint32_t>((counter + i) >> 32));
            b.word[n - 1] = swap_bytes(static_cast<uint32_t>(counter + i));
        }
        Cipher::encrypt(b.word, keys.word, tables);
        if constexpr (study_mode == StudyMode::keystream)
            sum = i < job.blocks ? sum ^ b : sum;
        else
            store(job.out, i, study_mode == StudyMode::ctr ? b ^ load<n>(job.in, i) : b);
    }
    if constexpr (study_mode == StudyMode::keystream) store(job.out, first + threadIdx.x, sum);
}

// P1's kernel: a thread encrypts one block of text and ends. Compiled without a limit of registers.
template <class Cipher, class Layout, class Keys>
__global__ void single_blocks(const __grid_constant__ Job<Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int n = Cipher::block_bytes / 4;
    const Layout tables(shared);
    const Keys keys(job, shared + Layout::bytes);
    __syncthreads();
    const uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= job.blocks) return;
    Block<n> b = load<n>(job.in, i);
    Cipher::encrypt(b.word, keys.word, tables);
    store(job.out, i, b);
}

// Tables and round keys of P1's kernel are in shared memory.
template <class Cipher>
const Study* single_blocks_study() {
    using Layout = InShared<typename Cipher::EncryptTables>;
    using Keys = SharedKeys<Cipher>;
    static const Study study{
        .kernel = reinterpret_cast<const void*>(&single_blocks<Cipher, Layout, Keys>),
        .fill = fill_job<Cipher>,
        .threads = 256,
        .stays = false,
        .shared_bytes = Layout::bytes + Keys::bytes};
    return &study;
}

template <class Cipher, class Layout, StudyMode study_mode, int threads = 1024,
          template <class> class Keys = ParameterKeys>
const Study* sweep_study() {
    static const Study study{
        .kernel = reinterpret_cast<const void*>(&sweep<Cipher, Layout, Keys<Cipher>, study_mode>),
        .fill = fill_job<Cipher>,
        .threads = threads,
        .shared_bytes = Layout::bytes + Keys<Cipher>::bytes};
    return &study;
}

}  // namespace warpseal::ladder
