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

// Segments of texts of equal length.
struct EqualSegments {
    HashedTexts texts;
    Segments segments;
    Block<4>* sums;  // one for each segment

    static constexpr bool aligned = true;
    WARPSEAL_INLINE static constexpr uint64_t first() { return 0; }
    struct Segment {
        const uint8_t* first;
        uint32_t absent;  // number of blocks that do not exist, at the front
    };
    WARPSEAL_INLINE uint64_t count() const { return segments.count; }
    WARPSEAL_INLINE uint32_t blocks() const { return segments.blocks; }
    __device__ __forceinline__ Segment at(uint64_t number) const {
        const bool present = number < segments.count;
        const uint64_t text = present ? number / segments.in_text : 0;
        const uint64_t before_end =
            (segments.in_text - number % segments.in_text) * segments.blocks;
        const uint32_t absent = !present ? segments.blocks
                                : before_end > texts.blocks
                                    ? static_cast<uint32_t>(before_end - texts.blocks)
                                    : 0;
        return {texts.first + text * texts.stride + 16 * (texts.blocks - before_end), absent};
    }
    __device__ __forceinline__ Block<4>* sum(uint64_t number) const {
        return number < segments.count ? sums + number : nullptr;
    }
};

// Segments of listed texts.
struct ListedSegments {
    ListedTexts texts;
    Block<4>*sums, *partial_sums;  // one for each message; one for each tile of the entries

    static constexpr bool aligned = false;
    __device__ __forceinline__ uint64_t first() const { return texts.segments->first_item(); }
    struct Segment {
        const uint8_t* first;
        uint32_t absent;
    };
    __device__ __forceinline__ uint64_t count() const {
        return texts.messages.batch.message_count == 0 ? 0 : texts.segments->item_count();
    }
    __device__ __forceinline__ uint32_t blocks() const {
        return static_cast<uint32_t>(texts.segments->tile_blocks);
    }
    __device__ __forceinline__ Segment at(uint64_t number) const {
        const TextSegment segment = segment_of(number);
        if (!segment.present) return {nullptr, blocks()};
        const BatchMessage m = message_of(texts.messages, segment.tile.index);
        // Listed messages too: they may have changed since.
        if (refusal_of(texts.messages, segment.tile.index, m, gcm_limits()) != WARPSEAL_OK)
            return {nullptr, blocks()};
        const uint64_t text_blocks = m.bytes / 16;
        const uint64_t before_end = segment.tiles_left * texts.segments->tile_blocks;
        return {texts.text(m) + 16 * (text_blocks - before_end),
                before_end > text_blocks ? static_cast<uint32_t>(before_end - text_blocks) : 0};
    }
    // Finds the segment again, as registers are short while it is hashed.
    __device__ __forceinline__ Block<4>* sum(uint64_t number) const {
        const TextSegment segment = segment_of(number);
        if (!segment.present) return nullptr;
        return segment.tile.listed ? partial_sums + (number - texts.segments->message_count)
                                   : sums + segment.tile.index;
    }

private:
    struct TextSegment {
        ListedTile tile;
        uint64_t tiles_left;  // up to the end of the text
        bool present;
    };
    __device__ __forceinline__ TextSegment segment_of(uint64_t number) const {
        const TileList& list = *texts.segments;
        if (number >= list.item_count()) return {};
        const ListedTile tile = listed_tile(list, number);
        const BatchMessage m = message_of(texts.messages, tile.index);
        const uint64_t tiles = list.tiles_of(m.bytes / 16);
        return {tile, tile.listed ? tiles - tile.tile : 1,
                tile.listed ? tile.tile < tiles : tiles <= 1};
    }
};

template <class AllSegments>
struct ReductionJob {
    AllSegments segments;
    const uint4* image;
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
template <class AllSegments>
__global__ void __launch_bounds__(tuning::reduction_threads, 1)
    reduction_kernel(const __grid_constant__ ReductionJob<AllSegments> job) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) unsigned char shared[];
    if (job.segments.count() == 0) return;
    for (uint32_t i = threadIdx.x; i < image::bytes / 16; i += tuning::reduction_threads)
        reinterpret_cast<uint4*>(shared)[i] = job.image[i];
    Matrix::written();
    __syncthreads();
    const Matrix matrix(shared);
    const uint64_t units = (job.segments.count() + 31) / 32,
                   step = uint64_t{gridDim.x} * (tuning::reduction_threads / 128);
    for (uint64_t unit =
             job.segments.first() / 32 + uint64_t{gridDim.x} * (threadIdx.x / 128) + blockIdx.x;
         unit < units; unit += step) {
        const uint64_t number = unit * 32 + threadIdx.x % 128 / 4;
        const auto segment = job.segments.at(number);
        const RowSums rows = reduce_segment(matrix, job.segments.blocks(), [&](uint32_t i) {
            const bool within = i < job.segments.blocks();
            if constexpr (!AllSegments::aligned)
                if (width_of(reinterpret_cast<uintptr_t>(segment.first)) < 16)
                    return i >= segment.absent && within
                               ? load_partial<4>(segment.first + 16 * i, 16, 1)
                               : Block<4>{};
            // The usual case: no predicate, no zeros.
            if (segment.absent == 0 && within) return load_once(segment.first + 16 * i);
            return i >= segment.absent && within ? load_once(segment.first + 16 * i) : Block<4>{};
        });
        const Block<4> sum = macs::ghash::to_block(join_rows(rows));
        Block<4>* const to = job.segments.sum(number);
        if (threadIdx.x % 4 == 0 && to != nullptr)
            store_aligned(reinterpret_cast<uint8_t*>(to), sum);
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

struct ListedSumJob {
    HashKey hash;
    const TileList* list;
    const Block<4>* from;  // one for each tile of the entries
    Block<4>* to;          // one for each message
};

__device__ __forceinline__ void add_to(Block<4>& sum, const Element& e) {
    const Block<4> b = macs::ghash::to_block(e);
    for (int i = 0; i < 4; ++i) atomicXor(&sum.word[i], b.word[i]);
}

// A lane adds up consecutive segments, of as many messages as they belong to.
__global__ void __launch_bounds__(tuning::threads, 1)
    listed_sum_kernel(const __grid_constant__ ListedSumJob job) {
    if (job.list == nullptr) return;
    const TileList& list = *job.list;
    const uint64_t tiles = list.tile_count(), lanes = uint64_t{gridDim.x} * tuning::threads,
                   segments_per_lane = (tiles + lanes - 1) / lanes,
                   first =
                       segments_per_lane * (uint64_t{blockIdx.x} * tuning::threads + threadIdx.x);
    if (first >= tiles) return;
    const uint64_t end_of_lane = first + segments_per_lane,
                   last = end_of_lane < tiles ? end_of_lane : tiles;
    const Element step = times_power(one(), job.hash, static_cast<uint32_t>(list.tile_blocks));
    const auto end_of = [&](uint64_t entry) {
        return entry + 1 < list.entry_count() ? list.entries()[entry + 1].first : tiles;
    };
    uint64_t entry = list.entry_of(first), end = end_of(entry);
    Element sum;
#pragma unroll 1
    for (uint64_t i = first; i < last; ++i) {
        if (i == end) {
            add_to(job.to[list.entries()[entry].index], sum);
            sum = Element{};
            end = end_of(++entry);
        }
        sum = multiply_once(sum, step) ^ macs::ghash::from_block<uint32_t>(job.from[i]);
    }
    const auto after = static_cast<uint32_t>((end - last) * list.tile_blocks);
    add_to(job.to[list.entries()[entry].index], times_power(sum, job.hash, after));
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

TileSize segment_size(uint64_t message_count, uint64_t total_blocks, const Limits& limits) {
    const uint64_t rows = uint64_t(limits.multiprocessors) * (tuning::reduction_threads / 4) *
                          tuning::segments_per_row;
    // Messages have four segments on average, if they are long enough: their first ones are padded.
    return tile_size(total_blocks, std::max(rows, 4 * message_count), strip_blocks,
                     tuning::segment_blocks);
}

size_t listed_scratch_bytes(uint64_t message_count, const TileSize& size) {
    return image::bytes + max_listed_tiles(message_count, size) * sizeof(Block<4>);
}

namespace {

template <class AllSegments>
warpseal_status reduce(const HashKey& hash, const AllSegments& segments, uint64_t count,
                       uint32_t* image, const Limits& limits, cudaStream_t stream) {
    const warpseal_status status = make_image(hash, image, stream);
    if (status != WARPSEAL_OK) return status;
    const ReductionJob<AllSegments> job{segments, reinterpret_cast<const uint4*>(image)};
    const auto blocks = static_cast<unsigned>(
        std::min<uint64_t>(count / 32 + (count % 32 != 0), limits.multiprocessors));
    return launch(reduction_kernel<AllSegments>, blocks, image::bytes, job, stream,
                  tuning::reduction_threads);
}

}  // namespace

warpseal_status ghash(const HashKey& hash, const HashedTexts& texts, const Segments& segments,
                      void* scratch, Block<4>* sums, const Limits& limits, cudaStream_t stream) {
    auto* const matrix = static_cast<uint32_t*>(scratch);
    Block<4>* const partial_sums =
        segments.in_text > 1 ? reinterpret_cast<Block<4>*>(matrix + image::bytes / 4) : sums;
    const warpseal_status status = reduce(hash, EqualSegments{texts, segments, partial_sums},
                                          segments.count, matrix, limits, stream);
    return status != WARPSEAL_OK || segments.in_text == 1
               ? status
               : add_up(hash, texts, segments, partial_sums, sums, limits, stream);
}

warpseal_status ghash(const HashKey& hash, const ListedTexts& texts, void* scratch, Block<4>* sums,
                      const Limits& limits, cudaStream_t stream) {
    auto* const matrix = static_cast<uint32_t*>(scratch);
    auto* const partial_sums = reinterpret_cast<Block<4>*>(matrix + image::bytes / 4);
    const warpseal_status status =
        reduce(hash, ListedSegments{texts, sums, partial_sums}, UINT64_MAX, matrix, limits, stream);
    if (status != WARPSEAL_OK) return status;
    SecretOf<ListedSumJob> secret;
    secret.value = {hash, texts.segments, partial_sums, sums};
    // In tests a lane has several segments.
    const int blocks = limits.any_length ? 1 : limits.multiprocessors;
    return launch(listed_sum_kernel, static_cast<unsigned>(blocks), 0, secret.value, stream);
}

}  // namespace warpseal::cuda
