// CCM (SP 800-38C): CBC-MAC and counter mode. Serial within a message, so one thread processes each
// message of a batch.
#pragma once

#include "backends/cuda/kernels/chain.cuh"
#include "modes/ccm.h"
#include "modes/gcm.h"

namespace warpseal::cuda {

// Returns block i of the encoded AAD: its length (SP 800-38C A.2.2), the AAD, and zero padding.
__device__ inline Block<4> aad_block(const uint8_t* aad, uint64_t aad_bytes, uint64_t i) {
    uint8_t length[modes::ccm::longest_length], block[16];
    const uint32_t head = modes::ccm::encode_length(aad_bytes, length);
#pragma unroll 1
    for (uint32_t k = 0; k < 16; ++k) {
        const uint64_t at = 16 * i + k;
        block[k] = at < head ? length[at] : at - head < aad_bytes ? aad[at - head] : uint8_t{0};
    }
    return load_block<4>(block);
}

template <class BlockFunction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    ccm_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    const Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes> tables(shared);
    const uint32_t nonce_bytes = job.messages.batch.iv_bytes,
                   tag_bytes = job.messages.batch.tag_bytes, length_bytes = 15 - nonce_bytes;
    const MessageLimits limits{
        length_bytes < 8 ? (uint64_t{1} << (8 * length_bytes)) - 1 : UINT64_MAX,
        modes::gcm_max_aad_bytes};
    each_message<Cipher>(job, tables, limits, [&](const Message& m, const uint32_t* schedule) {
        const uint64_t aad_bytes = m.aad_bytes;
        uint8_t length[modes::ccm::longest_length];
        const uint64_t aad_blocks =
            aad_bytes == 0 ? 0
                           : (modes::ccm::encode_length(aad_bytes, length) + aad_bytes + 15) / 16;
        const auto encrypt = [&](const Block<4>& b) {
            return run_once<BlockFunction>(b, schedule, tables);
        };
        const uint32_t width = common_width(m.in, m.out);
        Block<4> sum =
            encrypt(modes::ccm::first_block(m.iv, nonce_bytes, tag_bytes, aad_bytes != 0, m.bytes));
        for (uint64_t i = 0; i < aad_blocks; ++i)
            sum = encrypt(sum ^ aad_block(m.aad, aad_bytes, i));
        const Block<4> counter = modes::ccm::first_counter(m.iv, nonce_bytes);
        for (uint64_t i = 0; i < blocks_in<4>(m.bytes); ++i) {
            const uint32_t bytes = bytes_in_block<4>(m.bytes, i);
            const Block<4> data = load_partial<4>(m.in + 16 * i, bytes, width);
            const Block<4> result =
                first_bytes(data ^ encrypt(add_big_endian<4>(counter, i + 1)), bytes);
            store_partial(m.out + 16 * i, result, bytes, width);
            sum = encrypt(sum ^ (job.opens ? result : data));
        }
        if (write_or_check_tag(m, sum ^ encrypt(counter), tag_bytes, job.opens)) return;
        for (uint64_t i = 0; i < blocks_in<4>(m.bytes); ++i)
            store_partial(m.out + 16 * i, Block<4>{}, bytes_in_block<4>(m.bytes, i),
                          common_width(m.out, m.out));
    });
}

template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status ccm_batch(const void* state, const warpseal_scattered_batch& messages,
                          void* stream) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    return with_keys<Cipher, Direction::encrypt>(
        state, messages, [&]<class Keys>(const Limits& limits, BatchJob<Keys>& job) {
            job.opens = direction == Direction::decrypt;
            return launch_batch<Forward, SharedMemoryLimit>(
                ccm_kernel<Forward, Keys, SharedMemoryLimit>, messages.batch.message_count / 32 + 1,
                limits, job, static_cast<cudaStream_t>(stream));
        });
}

}  // namespace warpseal::cuda
