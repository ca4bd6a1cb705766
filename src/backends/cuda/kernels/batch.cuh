// Batches in CTR, and in CBC and CFB decryption: many messages, each with its own IV, length and
// optionally key. A warp processes a message or, in CTR, a tile of one.
#pragma once

#include "backends/cuda/kernels/items.cuh"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ctr.h"

namespace warpseal::cuda {

template <class BlockFunction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    ctr_batch_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TextBlock = TextBlock<Cipher>;
    using TableLookup = Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>;
    const TableLookup tables(shared);
    WarpKey<Cipher, Direction::encrypt, Keys> key(job.keys, shared + TableLookup::bytes);
    for (uint64_t item = first_item(); item < job.tiling.message_count * job.tiling.tiles;
         item += item_step()) {
        const uint64_t index = item % job.tiling.message_count;
        const Message m = message_of(job.messages, index);
        const Tile tile = tile_of(job.tiling, blocks_in<TextBlock::words>(m.bytes),
                                  item / job.tiling.message_count);
        if (tile.empty) continue;
        if (const warpseal_status refusal = refusal_of(job.messages, index, m, {});
            refusal != WARPSEAL_OK) {
            if (lane_id() == 0 && m.status != nullptr) *m.status = refusal;
            continue;
        }
        key.load(job.messages.batch.keys + index * Cipher::key_bytes, tables);
        const uint32_t width = common_width(m.in, m.out);
        const TextBlock iv = load_partial<TextBlock::words>(m.iv, TextBlock::bytes, 1);
        for (uint64_t i = tile.first + lane_id(); i < tile.last; i += 32) {
            const uint32_t bytes = bytes_in_block<TextBlock::words>(m.bytes, i);
            const TextBlock data =
                load_partial<TextBlock::words>(m.in + TextBlock::bytes * i, bytes, width);
            TextBlock b = modes::Ctr::mask(iv, i);
            BlockFunction::run(b, key.schedule(), tables);
            store_partial(m.out + TextBlock::bytes * i, data ^ b, bytes, width);
        }
        if (tile.first == 0 && lane_id() == 0 && m.status != nullptr) *m.status = WARPSEAL_OK;
    }
    key.zeroize();
}

// Ciphertext passes from lane to lane and from row to row, so in-place operation overwrites only
// blocks that the warp has already read.
template <class BlockFunction, class Mode, Direction direction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    previous_batch_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TextBlock = TextBlock<Cipher>;
    using TableLookup = Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>;
    const TableLookup tables(shared);
    const int lane = lane_id();
    WarpKey<Cipher, direction, Keys> key(job.keys, shared + TableLookup::bytes);
    for (uint64_t index = first_item(); index < job.messages.batch.message_count;
         index += item_step()) {
        const Message m = message_of(job.messages, index);
        if (const warpseal_status refusal =
                refusal_of(job.messages, index, m, plain_limits<Mode, Cipher>());
            refusal != WARPSEAL_OK) {
            if (lane == 0 && m.status != nullptr) *m.status = refusal;
            continue;
        }
        key.load(job.messages.batch.keys + index * Cipher::key_bytes, tables);
        const uint32_t width = common_width(m.in, m.out);
        const uint64_t blocks = blocks_in<TextBlock::words>(m.bytes);
        TextBlock carry = load_partial<TextBlock::words>(m.iv, TextBlock::bytes, 1);
        for (uint64_t i = lane; i - lane < blocks; i += 32) {
            const uint32_t bytes = i < blocks ? bytes_in_block<TextBlock::words>(m.bytes, i) : 0;
            const TextBlock data =
                load_partial<TextBlock::words>(m.in + TextBlock::bytes * i, bytes, width);
            const TextBlock previous = previous_blocks(data, carry);
            TextBlock b = Mode::before(data, previous);
            BlockFunction::run(b, key.schedule(), tables);
            store_partial(m.out + TextBlock::bytes * i, Mode::after(data, previous, b), bytes,
                          width);
        }
        if (lane == 0 && m.status != nullptr) *m.status = WARPSEAL_OK;
    }
    key.zeroize();
}

template <class Cipher, class SharedMemoryLimit>
warpseal_status ctr_batch(const void* state, const warpseal_scattered_batch& messages,
                          void* stream) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    return with_keys<Cipher, Direction::encrypt>(
        state, messages, [&]<class Keys>(const Limits& limits, BatchJob<Keys>& job) {
            job.tiling = divide(messages.batch, 0, TextBlock<Cipher>::bytes, false, limits);
            return launch_batch<Forward, SharedMemoryLimit>(
                ctr_batch_kernel<Forward, Keys, SharedMemoryLimit>, job.tiling.items(), limits, job,
                static_cast<cudaStream_t>(stream));
        });
}

template <class Cipher, class Mode, Direction direction, class SharedMemoryLimit>
warpseal_status previous_batch(const void* state, const warpseal_scattered_batch& messages,
                               void* stream) {
    using BlockFunction = BlockFunction<Cipher, direction>;
    return with_keys<Cipher, direction>(
        state, messages, [&]<class Keys>(const Limits& limits, BatchJob<Keys>& job) {
            return launch_batch<BlockFunction, SharedMemoryLimit>(
                previous_batch_kernel<BlockFunction, Mode, direction, Keys, SharedMemoryLimit>,
                messages.batch.message_count, limits, job, static_cast<cudaStream_t>(stream));
        });
}

}  // namespace warpseal::cuda
