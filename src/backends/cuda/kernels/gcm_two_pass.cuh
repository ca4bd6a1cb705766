// GCM for long texts under one key in two passes (SP 800-38D): counter mode, and GHASH on tensor
// cores. Faster than both in one pass.
#pragma once

#include "backends/cuda/kernels/chain.cuh"
#include "backends/cuda/kernels/gcm_plan.h"
#include "backends/cuda/kernels/gcm_text.cuh"

namespace warpseal::cuda {

// Computes J0 from an IV that is not of 96 bits (SP 800-38D 7.1 step 2).
template <class Key>
__device__ Block<4> hashed_counter(const uint8_t* iv, uint64_t iv_bytes, const Key& key) {
    const uint64_t blocks = (iv_bytes + 15) / 16 + 1;
    const uint64_t rows = (blocks + 31) / 32;
    Element sum;
#pragma unroll 1
    for (uint64_t row = 0; row < rows; ++row) {
        // Wraps in the padding, which comes first.
        const uint64_t i = row * 32 + lane_id() + blocks - rows * 32;
        Block<4> b{};
        if (i < blocks - 1) b = load_partial<4>(iv + 16 * i, bytes_in_block<4>(iv_bytes, i), 1);
        if (i == blocks - 1) b = macs::ghash::length_block(0, iv_bytes);
        sum = multiply_once(sum, key.row_power()) ^ macs::ghash::from_block<uint32_t>(b);
    }
    return macs::ghash::to_block(sum_of_lanes(multiply_once(sum, key.lane_power())));
}

template <class Cipher>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_counter_kernel(const __grid_constant__ PassJob<Cipher> job) {
    const WarpKey<Cipher, Direction::encrypt, OneKey<Cipher>> key(job.key, nullptr);
    for (uint64_t index = first_item(); index < job.messages.batch.message_count;
         index += item_step()) {
        const Message m = message_of(job.messages, index);
        if (job.is_refused(index, m)) continue;
        const Block<4> counter0 = hashed_counter(m.iv, job.messages.batch.iv_bytes, key);
        if (lane_id() == 0) job.counters[index] = counter0;
    }
}

// Completes each message with one thread: the AAD, a partial last block and the tag.
template <class BlockFunction, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_tag_kernel(const __grid_constant__ PassJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const HashKey& hash = job.key.hash;
    const Element h = hash.bit_power[0];
    // Adjacent threads take adjacent messages, so that accesses to their IVs and tags coalesce.
    const uint64_t step = uint64_t{gridDim.x} * tuning::threads;
    for (uint64_t index = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x;
         index < job.messages.batch.message_count; index += step) {
        const Message m = message_of(job.messages, index);
        if (job.is_refused(index, m)) {
            if (m.status != nullptr) *m.status = refusal_of(job.messages, index, m, gcm_limits());
            continue;
        }
        const uint64_t blocks = m.bytes / 16, aad_bytes = m.aad_bytes;
        Element aad, sum = macs::ghash::from_block<uint32_t>(job.sums[index]);
#pragma unroll 1
        for (uint64_t i = 0; 16 * i < aad_bytes; ++i)
            aad = multiply_once(aad, h) ^ macs::ghash::from_block<uint32_t>(load_partial<4>(
                                              m.aad + 16 * i, bytes_in_block<4>(aad_bytes, i), 1));
        if (aad_bytes != 0) sum = sum ^ times_power(aad, hash, static_cast<uint32_t>(blocks));
        if (m.bytes % 16 != 0)
            sum = multiply_once(sum, h) ^
                  macs::ghash::from_block<uint32_t>(
                      load_partial<4>((job.opens ? m.in : m.out) + 16 * blocks, m.bytes % 16, 1));
        sum = multiply_once(sum, h);
        if (job.is_segment()) {
            *job.segment = *job.segment ^ macs::ghash::to_block(sum);
        } else {
            sum = multiply_once(sum ^ macs::ghash::from_block<uint32_t>(
                                          macs::ghash::length_block(aad_bytes, m.bytes)),
                                h);
            const Block<4> mask =
                run_once<BlockFunction>(counter0_of(job, index, m), job.key.schedule, tables);
            write_or_check_tag(m, macs::ghash::to_block(sum) ^ mask, job.messages.batch.tag_bytes,
                               job.opens);
        }
    }
}

// ---- host code

// Scratch of two passes, in its order.
template <class Cipher>
struct PassScratch {
    PassScratch(PassJob<Cipher>& job, void* memory) {
        const warpseal_batch& batch = job.messages.batch;
        job.items_taken = static_cast<uint32_t*>(memory);
        job.sums = static_cast<Block<4>*>(memory) + 1;
        job.counters = job.sums + batch.message_count;
        rest = job.counters + batch.message_count;
        if (batch.lengths == nullptr) return;
        const auto next_list = [&] {
            auto* const list = static_cast<TileList*>(rest);
            rest = list->entries() + batch.message_count;
            return list;
        };
        tiles = next_list();
        segments = next_list();
    }
    TileList *tiles = nullptr, *segments = nullptr;
    void* rest;
};

// Lists tiles and segments of a batch whose lengths only the device knows.
template <class Cipher>
warpseal_status list_tiles(PassJob<Cipher>& job, const PassScratch<Cipher>& scratch,
                           const Limits& limits, cudaStream_t stream) {
    const ListedSizes sizes = listed_sizes(job.messages.batch, limits);
    job.list = scratch.tiles;
    const warpseal_status status = list_tiles(job.messages, PartialBlock::included, sizes.tiles,
                                              scratch.tiles, limits, stream);
    return status == WARPSEAL_OK ? list_tiles(job.messages, PartialBlock::excluded, sizes.segments,
                                              scratch.segments, limits, stream)
                                 : status;
}

// Counter mode over the texts.
template <class Cipher, class SharedMemoryLimit>
warpseal_status crypt(const PassJob<Cipher>& job, const Limits& limits, cudaStream_t stream) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    const size_t shared = shared_bytes<Forward, SharedMemoryLimit>(limits.architecture);
    const unsigned blocks = job.list != nullptr ? static_cast<unsigned>(limits.multiprocessors)
                                                : blocks_for(job.tiling.items(), limits);
    if constexpr (Counts<Cipher>)
        if (job.messages.batch.message_count == 1 && job.list == nullptr)
            return launch(gcm_one_text_kernel<Forward, SharedMemoryLimit>, blocks, shared, job,
                          stream);
    return launch(gcm_text_kernel<Forward, SharedMemoryLimit>, blocks, shared, job, stream);
}

// GHASH of the whole ciphertext blocks of each message.
template <class Cipher>
warpseal_status hash_texts(const PassJob<Cipher>& job, const PassScratch<Cipher>& scratch,
                           const Limits& limits, cudaStream_t stream) {
    if (job.list != nullptr)
        return ghash(job.key.hash, ListedTexts{job.messages, job.opens, scratch.segments},
                     scratch.rest, job.sums, limits, stream);
    const HashedTexts texts = hashed_texts(job.messages.batch, job.opens);
    return ghash(job.key.hash, texts, split_into_segments(texts, limits), scratch.rest, job.sums,
                 limits, stream);
}

// The caller sets key and messages, and for a segment also counter0, first_block and segment. Sets
// *begun if scratch was available and work may have been queued.
template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status two_passes(PassJob<Cipher>& job, const Limits& limits, cudaStream_t stream,
                           bool* begun) {
    *begun = false;
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    const warpseal_batch& batch = job.messages.batch;
    job.opens = direction == Direction::decrypt;
    job.tiling = divide(batch, 0, 16, false, limits);
    const bool hashed = !job.is_segment() && batch.iv_bytes != modes::Gcm::plain_iv_bytes;
    const size_t shared = shared_bytes<Forward, SharedMemoryLimit>(limits.architecture),
                 bytes = two_pass_scratch_bytes(batch, rest_of_scratch_bytes(batch, limits));
    return with_scratch(workspace_of(job.messages), bytes, stream, [&](void* memory) {
        *begun = true;
        const PassScratch<Cipher> scratch(job, memory);
        // The count of items and the sums.
        warpseal_status status =
            check(cudaMemsetAsync(memory, 0, sizeof(Block<4>) * (1 + batch.message_count), stream));
        if (status == WARPSEAL_OK && batch.lengths != nullptr)
            status = list_tiles(job, scratch, limits, stream);
        if (!hashed) job.counters = nullptr;
        if (hashed && status == WARPSEAL_OK)
            status = launch(gcm_counter_kernel<Cipher>, blocks_for(batch.message_count, limits), 0,
                            job, stream);
        if (status == WARPSEAL_OK && !job.opens)
            status = crypt<Cipher, SharedMemoryLimit>(job, limits, stream);
        if (status == WARPSEAL_OK) status = hash_texts(job, scratch, limits, stream);
        if (status == WARPSEAL_OK)
            status = launch(gcm_tag_kernel<Forward, SharedMemoryLimit>,
                            blocks_for(batch.message_count / 32 + 1, limits), shared, job, stream);
        return status == WARPSEAL_OK && job.opens
                   ? crypt<Cipher, SharedMemoryLimit>(job, limits, stream)
                   : status;
    });
}

}  // namespace warpseal::cuda
