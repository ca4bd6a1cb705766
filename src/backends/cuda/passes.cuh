// GCM of long text under one key in two passes (SP 800-38D): counter mode, and GHASH on tensor cores, which is faster than both in one.
#pragma once

#include "backends/cuda/chain.cuh"
#include "backends/cuda/ghash.h"
#include "backends/cuda/sweep.cuh"
#include "modes/gcm.h"

namespace warpseal::cuda {

// J0 of an IV that is not of 96 bits (SP 800-38D 7.1 step 2).
template <class Key>
__device__ Block<4> hashed_counter(const uint8_t* iv, uint64_t iv_bytes, const Key& key) {
    const uint64_t blocks = (iv_bytes + 15) / 16 + 1;
    const uint64_t rows = (blocks + 31) / 32;
    Element sum;
#pragma unroll 1
    for (uint64_t row = 0; row < rows; ++row) {
        const uint64_t i = row * 32 + lane_id() + blocks - rows * 32;  // wraps in the padding, which is in front
        Block<4> b{};
        if (i < blocks - 1) b = load_part<4>(iv + 16 * i, bytes_in_block<4>(iv_bytes, i), 1);
        if (i == blocks - 1) b = macs::ghash::length_block(0, iv_bytes);
        sum = multiply_once(sum, key.row_power()) ^ macs::ghash::from_block<uint32_t>(b);
    }
    return macs::ghash::to_block(sum_of_lanes(multiply_once(sum, key.lane_power())));
}

// Messages of one length; or a piece of one, with a J0 of its own.
template <class Cipher>
struct PassJob {
    OneKey<Cipher> key;
    warpseal_batch batch;
    Division division;
    // In scratch: GHASH of each message's whole blocks of ciphertext; J0 of each, or null for IVs of 96 bits.
    Block<4>*sums, *counters;
    uint32_t* taken;  // in scratch: items of text beyond each warp's first
    Block<4> counter0;
    uint64_t first_block;
    Block<4>* piece;  // of a piece: its sum is exclusive-ored into this
    bool opens;

    WARPSEAL_INLINE bool is_piece() const { return piece != nullptr; }
};

__device__ __forceinline__ Block<4> load_plain_iv(const uint8_t* p) {
    if (width_of(reinterpret_cast<uintptr_t>(p)) < 4) return load_part<4>(p, modes::Gcm::plain_iv_bytes, 1);
    Block<4> b{};
#pragma unroll
    for (uint32_t i = 0; i < modes::Gcm::plain_iv_bytes / 4; ++i) b.word[i] = reinterpret_cast<const uint32_t*>(p)[i];
    return b;
}

template <class Cipher>
__device__ __forceinline__ Block<4> counter0_of(const PassJob<Cipher>& job, uint64_t index, const Message& m) {
    if (job.is_piece()) return job.counter0;
    if (job.counters != nullptr) return job.counters[index];
    return modes::Gcm::pre_counter_block(load_plain_iv(m.iv));
}

// The part of a counter's last byte and of all before the last but one. What a header can tell apart of that is made once; it is the same
// for a warp, each of whose lanes keeps a word.
template <class Cipher>
class LastParts {
public:
    template <class Look>
    __device__ __forceinline__ LastParts(const Block<4>& counter, const uint32_t* schedule, const Look& look) : counter_(counter) {
        if constexpr (has_fixed) {
            uint32_t fixed[Cipher::fixed_words];
            Cipher::count_fixed(fixed, counter.word, schedule, look);
            word_ = fixed[0];
#pragma unroll
            for (int w = 1; w < Cipher::fixed_words; ++w) word_ = lane_id() == w ? fixed[w] : word_;
        }
    }
    // Of two blocks.
    template <class Look>
    __device__ __forceinline__ void parts(uint32_t (&part)[2][Cipher::counting_words], const uint32_t (&last_word)[2],
                                          const uint32_t* schedule, const Look& look) {
        if constexpr (has_fixed) {
            uint32_t fixed[Cipher::fixed_words];
#pragma unroll
            for (int w = 0; w < Cipher::fixed_words; ++w) fixed[w] = __shfl_sync(0xffffffffu, word_, w);
#pragma unroll
            for (int n = 0; n < 2; ++n) Cipher::count_last(part[n], fixed, last_word[n], schedule, look);
        } else {
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                counter_.word[3] = last_word[n];
                Cipher::count_last(part[n], counter_.word, schedule, look);
            }
        }
    }

private:
    static constexpr bool has_fixed = requires { Cipher::fixed_words; };
    Block<4> counter_;
    uint32_t word_ = 0;
};

// Whole blocks of a message that a warp takes, two at a time in each lane; their counters differ in two bytes alone, of the first of which
// there are at most 32 values: see counting_kernel.
template <class Way, class Look>
__device__ __forceinline__ void crypt_counting(const uint8_t* in, uint8_t* out, uint32_t blocks, Block<4> counter, const uint32_t* schedule,
                                               const Look& look) {
    using Cipher = typename Way::Cipher;
    const uint32_t begin = swap_bytes(counter.word[3]);
    uint32_t of_lane[Cipher::counting_words];
    counter.word[3] = swap_bytes((begin & 0xffff0000u) | (begin + 256 * lane_id() & 0xff00u));
    Cipher::count_next(of_lane, counter.word, schedule, look);
    LastParts<Cipher> parts(counter, schedule, look);
#pragma unroll 1
    for (uint32_t row = lane_id(); row < 128; row += 32) {
        if (row - lane_id() >= blocks) return;
        const uint32_t high = begin & 0xffff0000u, last = begin + row, base = begin + row - lane_id();
        uint32_t of_last[2][Cipher::counting_words];
        parts.parts(of_last, {swap_bytes(high | (last & 0xff)), swap_bytes(high | (last + 128 & 0xff))}, schedule, look);
        const bool alike = base / 256 == (base + 159) / 256;  // the byte before the last, in both blocks of all lanes
#pragma unroll 1
        for (uint32_t i = row; i - lane_id() < blocks; i += 256) {
            uint32_t sum[2][Cipher::counting_words];
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const int lane = static_cast<int>((begin + i + 128 * n >> 8) - (begin >> 8));
                if (n == 0 || !alike) {
#pragma unroll
                    for (int w = 0; w < Cipher::counting_words; ++w) sum[1][w] = __shfl_sync(0xffffffffu, of_lane[w], lane);
                }
#pragma unroll
                for (int w = 0; w < Cipher::counting_words; ++w) sum[n][w] = of_last[n][w] ^ sum[1][w];
            }
            encrypt_counting<Cipher>(sum[0], sum[1], schedule, look);
            Block<4> data[2];  // read late: see counting_kernel
#pragma unroll
            for (int n = 0; n < 2; ++n)
                if (i + 128 * n < blocks) load_aligned(data[n], in + 16 * (i + 128 * n));
#pragma unroll
            for (int n = 0; n < 2; ++n)
                if (i + 128 * n < blocks)
                    store_aligned(out + 16 * (i + 128 * n), data[n] ^ Block<4>{{sum[n][0], sum[n][1], sum[n][2], sum[n][3]}});
        }
    }
}

// Any blocks: also the last, which may not be whole.
template <class Way, class Look>
__device__ __forceinline__ void crypt_blocks(const Message& m, uint64_t first, uint64_t last, const Block<4>& counter,
                                             const uint32_t* schedule, const Look& look) {
#pragma unroll 1
    for (uint64_t i = first + lane_id(); i < last; i += 32) {
        const uint32_t bytes = bytes_in_block<4>(m.bytes, i);
        const Block<4> data = load_part<4>(m.in + 16 * i, bytes, 16);
        Block<4> b = add_big_endian<1>(counter, static_cast<uint32_t>(i - first));
        Way::run(b, schedule, look);
        store_part(m.out + 16 * i, data ^ b, bytes, 16);
    }
}

// The next item for a warp that is done with one. Warps differ in speed, and the slowest would keep all waiting in the end. (So many items
// as do not fit in 32 bits would be terabytes of text.)
__device__ __forceinline__ uint64_t next_item(uint32_t* taken) {
    uint32_t before = 0;
    if (lane_id() == 0) before = atomicAdd(taken, 1);
    return item_step() + __shfl_sync(0xffffffffu, before, 0);
}

// Counter mode. When opening, after the verdicts: a message that did not verify becomes zeros.
template <class Way, class Fit>
__global__ void __launch_bounds__(tuning::threads, 1) gcm_text_kernel(const __grid_constant__ PassJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename Way::Cipher;
    const Layout<Way, Fit> look(shared);
    const uint64_t items = job.division.message_count * job.division.parts;
    for (uint64_t item = first_item(); item < items; item = next_item(job.taken)) {
        const uint64_t index = item % job.division.message_count;
        const Message m = message_of(job.batch, index);
        const Part part = part_of(job.division, blocks_in<4>(m.bytes), item / job.division.message_count);
        if (part.empty) continue;
        if (job.opens && !job.is_piece() && *m.status != WARPSEAL_OK) {
            for (uint64_t i = part.first + lane_id(); i < part.last; i += 32)
                store_part(m.out + 16 * i, Block<4>{}, bytes_in_block<4>(m.bytes, i), 16);
            continue;
        }
        Block<4> counter = modes::Gcm::mask(counter0_of(job, index, m), job.first_block + part.first);
        uint64_t i = part.first;
        if constexpr (Counts<Cipher> && Layout<Way, Fit>::looks_up) {
            const uint64_t whole = part.last < m.bytes / 16 ? part.last : m.bytes / 16;
            while (i < whole) {
                const uint32_t begin = swap_bytes(counter.word[3]);
                uint64_t blocks = 32 * 256 - (begin & 0xff);  // 32 values of the last byte but one
                blocks = blocks < 0x10000 - (begin & 0xffff) ? blocks : 0x10000 - (begin & 0xffff);
                blocks = blocks < whole - i ? blocks : whole - i;
                crypt_counting<Way>(m.in + 16 * i, m.out + 16 * i, static_cast<uint32_t>(blocks), counter, job.key.schedule, look);
                counter = add_big_endian<1>(counter, blocks);
                i += blocks;
            }
        }
        crypt_blocks<Way>(m, i, part.last, counter, job.key.schedule, look);
    }
}

template <class Cipher>
__global__ void __launch_bounds__(tuning::threads, 1) gcm_counter_kernel(const __grid_constant__ PassJob<Cipher> job) {
    const WarpKey<Cipher, Direction::encrypt, OneKey<Cipher>> key(job.key, nullptr);
    for (uint64_t index = first_item(); index < job.batch.message_count; index += item_step()) {
        const Block<4> counter0 = hashed_counter(job.batch.ivs + index * job.batch.iv_stride, job.batch.iv_bytes, key);
        if (lane_id() == 0) job.counters[index] = counter0;
    }
}

// What is left, a thread for each message: AAD, a last block that is not whole, and the tag.
template <class Way, class Fit>
__global__ void __launch_bounds__(tuning::threads, 1) gcm_tag_kernel(const __grid_constant__ PassJob<typename Way::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<Way, Fit> look(shared);
    const HashKey& hash = job.key.hash;
    const Element h = hash.bit_power[0];
    // Neighbours take neighbours, whose IVs and tags are read and written together.
    const uint64_t step = uint64_t{gridDim.x} * tuning::threads;
    for (uint64_t index = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x; index < job.batch.message_count; index += step) {
        const Message m = message_of(job.batch, index);
        const uint64_t blocks = m.bytes / 16, aad_bytes = job.batch.aad_bytes;
        Element aad, sum = macs::ghash::from_block<uint32_t>(job.sums[index]);
#pragma unroll 1
        for (uint64_t i = 0; 16 * i < aad_bytes; ++i)
            aad =
                multiply_once(aad, h) ^ macs::ghash::from_block<uint32_t>(load_part<4>(m.aad + 16 * i, bytes_in_block<4>(aad_bytes, i), 1));
        if (aad_bytes != 0) sum = sum ^ times_power(aad, hash, static_cast<uint32_t>(blocks));
        if (m.bytes % 16 != 0)
            sum = multiply_once(sum, h) ^
                  macs::ghash::from_block<uint32_t>(load_part<4>((job.opens ? m.in : m.out) + 16 * blocks, m.bytes % 16, 1));
        sum = multiply_once(sum, h);
        if (job.is_piece()) {
            *job.piece = *job.piece ^ macs::ghash::to_block(sum);
        } else {
            sum = multiply_once(sum ^ macs::ghash::from_block<uint32_t>(macs::ghash::length_block(aad_bytes, m.bytes)), h);
            const Block<4> mask = run_once<Way>(counter0_of(job, index, m), job.key.schedule, look);
            settle_tag(m, macs::ghash::to_block(sum) ^ mask, job.batch.tag_bytes, job.opens);
        }
    }
}

// ---- the host's side

// Whether a call can go this way, and gains by it.
inline bool takes_two_passes(const warpseal_batch& b, const Limits& limits) {
    if (!has_ghash(limits) || b.keys != nullptr || b.lengths != nullptr || b.in_offsets != nullptr || b.out_offsets != nullptr)
        return false;
    const uint64_t strides = b.message_count > 1 ? b.in_stride | b.out_stride : 0;
    return (reinterpret_cast<uintptr_t>(b.in) | reinterpret_cast<uintptr_t>(b.out) | strides) % 16 == 0 &&
           b.aad_bytes <= tuning::two_pass_aad_bytes && b.message_bytes >= limits.from(tuning::two_pass_message_bytes) &&
           b.message_bytes >= limits.from(tuning::two_pass_bytes) / b.message_count;
}

// The caller has filled in key and batch, and of a piece the rest.
template <class Cipher, Direction direction, class Fit>
warpseal_status two_passes(PassJob<Cipher>& job, const Limits& limits, cudaStream_t stream) {
    using Forward = Way<Cipher, Direction::encrypt>;
    const warpseal_batch& batch = job.batch;
    job.opens = direction == Direction::decrypt;
    job.division = divide(batch, 0, 16, false, limits);
    const HashedTexts ciphertexts{job.opens ? batch.in : batch.out, job.opens ? batch.in_stride : batch.out_stride, batch.message_count,
                                  batch.message_bytes / 16};
    const Segments segments = cut(ciphertexts, limits);
    const bool hashed = !job.is_piece() && batch.iv_bytes != modes::Gcm::plain_iv_bytes;
    const size_t each = batch.message_count * sizeof(Block<4>), shared = shared_bytes<Forward, Fit>(limits.architecture);
    return with_scratch(sizeof(Block<4>) + 2 * each + segments.scratch_bytes(), stream, [&](void* scratch) {
        job.taken = static_cast<uint32_t*>(scratch);
        job.sums = static_cast<Block<4>*>(scratch) + 1;
        job.counters = hashed ? job.sums + batch.message_count : nullptr;
        void* const rest = job.sums + 2 * batch.message_count;
        const auto crypt = [&] {
            return launch(gcm_text_kernel<Forward, Fit>, blocks_for(job.division.items(), limits), shared, job, stream);
        };
        warpseal_status status = check(cudaMemsetAsync(job.taken, 0, sizeof *job.taken, stream));
        if (hashed && status == WARPSEAL_OK)
            status = launch(gcm_counter_kernel<Cipher>, blocks_for(batch.message_count, limits), 0, job, stream);
        if (status == WARPSEAL_OK && !job.opens) status = crypt();
        if (status == WARPSEAL_OK) status = ghash(job.key.hash, ciphertexts, segments, rest, job.sums, limits, stream);
        if (status == WARPSEAL_OK)
            status = launch(gcm_tag_kernel<Forward, Fit>, blocks_for(batch.message_count / 32 + 1, limits), shared, job, stream);
        return status == WARPSEAL_OK && job.opens ? crypt() : status;
    });
}

}  // namespace warpseal::cuda
