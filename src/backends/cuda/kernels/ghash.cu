// GHASH on tensor cores: the matrix image, the GHASH values of segments, and their combination for
// texts of several segments.
#include "backends/cuda/kernels/ghash.h"

#include "backends/cuda/device/access.cuh"
#include "backends/cuda/device/key_state.cuh"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/ghash_tensor.cuh"

namespace warpseal::cuda {

namespace {

struct ImageJob {
    HashKey hash;
    uint32_t* image;
};

// Returns H^n, for n up to 64.
__device__ Element low_power(const HashKey& hash, uint32_t n) {
    static_assert(strip_blocks <= 64);
    if (n == 0) return one();
    return n <= 32 ? hash.lane_power[32 - n]
                   : multiply_once(hash.lane_power[0], hash.lane_power[64 - n]);
}

__global__ void __launch_bounds__(tuning::image_threads)
    image_kernel(const __grid_constant__ ImageJob job) {
    const int warp = (blockIdx.x * tuning::image_threads + threadIdx.x) / 32,
              lane = threadIdx.x % 32;
    if (warp >= image::warps || job.image == nullptr) return;
    const int step = warp / 8, half = warp / 4 % 2, t = warp % 4;
    const Block<4> row =
        image::row(low_power(job.hash, image::exponent(step, t)), step, half, t, lane);
#pragma unroll 4
    for (int column = 0; column < 128; ++column) {
        const uint32_t word = __ballot_sync(0xffffffffu, image::bit_of_column(row, column) != 0);
        if (column % 32 == lane) job.image[image::word_at(step, half, t, column)] = word;
    }
}

struct ReductionJob {
    HashedTexts texts;
    Segments segments;
    const uint4* image;
    Block<4>* sums;  // one for each segment
};

// Loads a block that is read only once: bypasses the L1 cache, and prefetches 256 bytes into L2.
__device__ __forceinline__ Block<4> load_once(const uint8_t* p) {
    Block<4> b;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b.word[0]), "=r"(b.word[1]), "=r"(b.word[2]), "=r"(b.word[3])
                 : "l"(p));
    return b;
}

// Four warps process 32 segments, eight for each warp.
__global__ void __launch_bounds__(tuning::reduction_threads, 1)
    reduction_kernel(const __grid_constant__ ReductionJob job) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) unsigned char shared[];
    if (job.segments.count == 0) return;
    for (uint32_t i = threadIdx.x; i < image::bytes / 16; i += tuning::reduction_threads)
        reinterpret_cast<uint4*>(shared)[i] = job.image[i];
    Matrix::written();
    __syncthreads();
    const Matrix matrix(shared);
    const uint64_t units = (job.segments.count + 31) / 32,
                   step = uint64_t{gridDim.x} * (tuning::reduction_threads / 128);
    for (uint64_t unit = uint64_t{gridDim.x} * (threadIdx.x / 128) + blockIdx.x; unit < units;
         unit += step) {
        const uint64_t segment = unit * 32 + threadIdx.x % 128 / 4;
        const bool present = segment < job.segments.count;
        const uint64_t text = present ? segment / job.segments.in_text : 0;
        const uint64_t before_end =
            (job.segments.in_text - segment % job.segments.in_text) * job.segments.blocks;
        const uint32_t absent = !present ? job.segments.blocks
                                : before_end > job.texts.blocks
                                    ? static_cast<uint32_t>(before_end - job.texts.blocks)
                                    : 0;
        const uint8_t* const first =
            job.texts.first + text * job.texts.stride + 16 * (job.texts.blocks - before_end);
        const RowSums rows = reduce_segment(matrix, job.segments.blocks, [&](uint32_t i) {
            const bool within = i < job.segments.blocks;
            // The usual case: no predicate, no zeros.
            if (absent == 0 && within) return load_once(first + 16 * i);
            return i >= absent && within ? load_once(first + 16 * i) : Block<4>{};
        });
        const Block<4> sum = macs::ghash::to_block(join_rows(rows));
        if (threadIdx.x % 4 == 0 && present)
            store_aligned(reinterpret_cast<uint8_t*>(job.sums + segment), sum);
    }
    // Zeroize the matrix, which is made of powers of H.
    __syncthreads();
    wipe_words(reinterpret_cast<uint32_t*>(shared), image::bytes / 4, threadIdx.x,
               tuning::reduction_threads);
#endif
}

struct SumJob {
    HashKey hash;
    Segments segments;
    uint64_t text_count;
    uint32_t segments_per_lane;
    const Block<4>* from;
    Block<4>* to;  // must be zero

    // Number of warps for one text.
    WARPSEAL_INLINE uint64_t groups() const {
        return (segments.in_text + 32 * segments_per_lane - 1) / (32 * segments_per_lane);
    }
};

__global__ void __launch_bounds__(tuning::threads, 1)
    sum_kernel(const __grid_constant__ SumJob job) {
    if (job.text_count == 0) return;
    const uint32_t count = job.segments.in_text, lane = threadIdx.x % 32;
    const Element step = times_power(one(), job.hash, job.segments.blocks);
    for (uint64_t item = first_item(); item < job.text_count * job.groups(); item += item_step()) {
        const uint64_t text = item / job.groups();
        const uint32_t first =
            static_cast<uint32_t>(item % job.groups() * 32 + lane) * job.segments_per_lane;
        const uint32_t end = first + job.segments_per_lane, last = end < count ? end : count;
        Element sum;
#pragma unroll 1
        for (uint32_t i = first; i < last; ++i)
            sum = multiply_once(sum, step) ^
                  macs::ghash::from_block<uint32_t>(job.from[text * count + i]);
        if (first < last) sum = times_power(sum, job.hash, (count - last) * job.segments.blocks);
        const Block<4> b = macs::ghash::to_block(sum_of_lanes(sum));
        if (lane == 0)
            for (int i = 0; i < 4; ++i) atomicXor(&job.to[text].word[i], b.word[i]);
    }
}

// Computes the matrix image from powers of H. It is secret, and is zeroized with the scratch that
// holds it.
warpseal_status make_image(const HashKey& hash, uint32_t* to, cudaStream_t stream) {
    SecretOf<ImageJob> secret;
    secret.value = {hash, to};
    constexpr unsigned blocks =
        (image::warps * 32 + tuning::image_threads - 1) / tuning::image_threads;
    return launch(image_kernel, blocks, 0, secret.value, stream, tuning::image_threads);
}

warpseal_status add_up(const HashKey& hash, const HashedTexts& texts, const Segments& segments,
                       const Block<4>* from, Block<4>* to, const Limits& limits,
                       cudaStream_t stream) {
    SecretOf<SumJob> secret;
    const uint64_t lanes = uint64_t(limits.multiprocessors) * tuning::summing_lanes;
    secret.value = {hash, segments, texts.count, static_cast<uint32_t>(segments.count / lanes + 1),
                    from, to};
    const warpseal_status status = check(cudaMemsetAsync(to, 0, texts.count * sizeof *to, stream));
    if (status != WARPSEAL_OK) return status;
    // Spread over as many multiprocessors as there are warps: a lane's multiplications depend on
    // each other.
    return launch(sum_kernel,
                  blocks_for(texts.count * secret.value.groups() * tuning::warps, limits), 0,
                  secret.value, stream);
}

}  // namespace

size_t Segments::scratch_bytes() const {
    return image::bytes + (in_text > 1 ? count * sizeof(Block<4>) : 0);
}

Segments split_into_segments(const HashedTexts& texts, const Limits& limits) {
    const uint64_t rows = uint64_t(limits.multiprocessors) * (tuning::reduction_threads / 4) *
                          tuning::segments_per_row;
    const auto strips = [](uint64_t blocks) {
        return std::max<uint64_t>((blocks + strip_blocks - 1) / strip_blocks, 1);
    };
    const uint64_t even = strips(texts.count * texts.blocks / rows),
                   most = strips(tuning::segment_blocks);
    Segments s;
    s.blocks = static_cast<uint32_t>(std::min({even, most, strips(texts.blocks)}) * strip_blocks);
    s.in_text =
        static_cast<uint32_t>(std::max<uint64_t>((texts.blocks + s.blocks - 1) / s.blocks, 1));
    s.count = texts.count * s.in_text;
    return s;
}

warpseal_status ghash(const HashKey& hash, const HashedTexts& texts, const Segments& segments,
                      void* scratch, Block<4>* sums, const Limits& limits, cudaStream_t stream) {
    auto* const matrix = static_cast<uint32_t*>(scratch);
    Block<4>* const partial_sums =
        segments.in_text > 1 ? reinterpret_cast<Block<4>*>(matrix + image::bytes / 4) : sums;
    warpseal_status status = make_image(hash, matrix, stream);
    if (status != WARPSEAL_OK) return status;
    const ReductionJob job{texts, segments, reinterpret_cast<const uint4*>(matrix), partial_sums};
    const unsigned blocks = static_cast<unsigned>(
        std::min<uint64_t>((segments.count + 31) / 32, limits.multiprocessors));
    status = launch(reduction_kernel, blocks, image::bytes, job, stream, tuning::reduction_threads);
    return status != WARPSEAL_OK || segments.in_text == 1
               ? status
               : add_up(hash, texts, segments, partial_sums, sums, limits, stream);
}

}  // namespace warpseal::cuda
