// Chain: modes that are serial within a message, with one thread for each message of a batch. CBC,
// CFB and OFB (SP 800-38A 6.2 to 6.4), CMAC (SP 800-38B).
#pragma once

#include "backends/cuda/kernels/items.cuh"
#include "macs/cmac.h"
#include "modes/cbc.h"
#include "modes/cfb.h"
#include "modes/ofb.h"

namespace warpseal::cuda {

template <class BlockFunction, class Mode, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    chain_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TextBlock = TextBlock<Cipher>;
    const Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes> tables(shared);
    const MessageLimits limits = plain_limits<Mode, Cipher>();
    each_message<Cipher>(job, tables, limits, [&](const Message& m, const uint32_t* schedule) {
        const uint32_t width = common_width(m.in, m.out);
        TextBlock state = load_partial<TextBlock::words>(m.iv, TextBlock::bytes, 1);
        for (uint64_t i = 0; i < blocks_in<TextBlock::words>(m.bytes); ++i) {
            const uint32_t bytes = bytes_in_block<TextBlock::words>(m.bytes, i);
            const TextBlock data =
                load_partial<TextBlock::words>(m.in + TextBlock::bytes * i, bytes, width);
            TextBlock b = Mode::before(data, state);
            BlockFunction::run(b, schedule, tables);
            store_partial(m.out + TextBlock::bytes * i, Mode::after(data, b), bytes, width);
            state = Mode::next(data, b);
        }
        if (m.status != nullptr) *m.status = WARPSEAL_OK;
    });
}

// Writes the tag, or compares it in constant time, and sets the status. Returns false if the tag
// differs.
template <int n>
__device__ __forceinline__ bool write_or_check_tag(const Message& m, const Block<n>& tag,
                                                   uint32_t tag_bytes, bool opens) {
    const uint32_t width = width_of(reinterpret_cast<uintptr_t>(m.tag));
    uint32_t differs = 0;
    if (opens) {
        const Block<n> difference =
            first_bytes(load_partial<n>(m.tag, tag_bytes, width) ^ tag, tag_bytes);
#pragma unroll
        for (int i = 0; i < n; ++i) differs |= difference.word[i];
    } else {
        store_partial(m.tag, tag, tag_bytes, width);
    }
    if (m.status != nullptr) *m.status = differs == 0 ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
    return differs == 0;
}

template <class BlockFunction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    cmac_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TextBlock = TextBlock<Cipher>;
    const Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes> tables(shared);
    each_message<Cipher>(job, tables, {}, [&](const Message& m, const uint32_t* schedule) {
        const uint32_t width = common_width(m.in, m.in);
        const uint64_t blocks = m.bytes == 0 ? 1 : blocks_in<TextBlock::words>(m.bytes);
        TextBlock sum{}, subkey{};
        // Starts with the zero block, from which the last block's subkey is derived.
        for (int64_t i = -1; i < static_cast<int64_t>(blocks); ++i) {
            if (i >= 0) {
                const uint32_t bytes = bytes_in_block<TextBlock::words>(m.bytes, i);
                TextBlock b =
                    load_partial<TextBlock::words>(m.in + TextBlock::bytes * i, bytes, width);
                if (i + 1 == blocks) b = macs::cmac::last_block(b, bytes, subkey);
                sum = sum ^ b;
            }
            BlockFunction::run(sum, schedule, tables);
            if (i < 0) {
                subkey = sum;
                sum = {};
            }
        }
        write_or_check_tag(m, sum, job.messages.batch.tag_bytes, job.opens);
    });
}

template <class Cipher, class Mode, class SharedMemoryLimit>
warpseal_status chain_batch(const void* state, const warpseal_scattered_batch& messages,
                            void* stream) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    return with_keys<Cipher, Direction::encrypt>(
        state, messages, [&]<class Keys>(const Limits& limits, const BatchJob<Keys>& job) {
            return launch_batch<Forward, SharedMemoryLimit>(
                chain_kernel<Forward, Mode, Keys, SharedMemoryLimit>,
                messages.batch.message_count / 32 + 1, limits, job,
                static_cast<cudaStream_t>(stream));
        });
}

template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status cmac_batch(const void* state, const warpseal_scattered_batch& messages,
                           void* stream) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    return with_keys<Cipher, Direction::encrypt>(
        state, messages, [&]<class Keys>(const Limits& limits, BatchJob<Keys>& job) {
            job.opens = direction == Direction::decrypt;
            return launch_batch<Forward, SharedMemoryLimit>(
                cmac_kernel<Forward, Keys, SharedMemoryLimit>,
                messages.batch.message_count / 32 + 1, limits, job,
                static_cast<cudaStream_t>(stream));
        });
}

}  // namespace warpseal::cuda
