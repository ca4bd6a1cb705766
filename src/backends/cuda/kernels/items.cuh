// Access to the messages of a batch, and their distribution over the warps and threads of a grid.
#pragma once

#include "backends/batch_message.h"
#include "backends/cuda/device/key_state.cuh"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/tiles.cuh"

namespace warpseal::cuda {

template <class Keys>
struct BatchJob {
    Keys keys;
    warpseal_scattered_batch messages;
    Tiling tiling;
    // GCM: accumulators into which tiles XOR their GHASH values. One for each message of several
    // tiles, or one for the segment.
    Block<4>* sums;
    // GCM segment only: J0 and the segment's first block.
    Block<4> counter0;
    uint64_t first_block;
    bool segment;
    bool opens;  // compares tags instead of writing them
};

using Message = BatchMessage;

// Scratch memory of the caller.
inline Workspace workspace_of(const warpseal_scattered_batch& b) {
    return {static_cast<uint8_t*>(b.workspace), static_cast<size_t>(b.workspace_bytes)};
}

#ifdef __CUDACC__

// Limits of a mode without AAD.
template <class Mode, class Cipher>
__device__ __forceinline__ MessageLimits plain_limits() {
    MessageLimits limits;
    if constexpr (Mode::whole_blocks) limits.block_bytes = Cipher::block_bytes;
    return limits;
}

// Returns the number of blocks of a message; 0 for an empty one.
template <int n>
__device__ __forceinline__ uint64_t blocks_in(uint64_t bytes) {
    return bytes / (4 * n) + (bytes % (4 * n) != 0);
}

// First message of a thread. Neighbouring threads of a block take distant messages, so that a small
// number of messages still spreads over all multiprocessors.
__device__ __forceinline__ uint64_t first_of_thread() {
    return uint64_t{threadIdx.x} * gridDim.x + blockIdx.x;
}
__device__ __forceinline__ uint64_t thread_step() { return uint64_t{gridDim.x} * tuning::threads; }

// Calls work(message, schedule) for each of the thread's messages within the limits, with its key.
// `job` must be the kernel's own parameter, in the constant bank.
template <class Cipher, class Keys, class TableLookup, class Work>
__device__ __forceinline__ void each_message(const BatchJob<Keys>& job, const TableLookup& tables,
                                             const MessageLimits& limits, const Work& work) {
    ThreadKey<Cipher, Keys> key(job.keys);
    for (uint64_t i = first_of_thread(); i < job.messages.batch.message_count; i += thread_step()) {
        const Message m = message_of(job.messages, i);
        const warpseal_status refusal = refusal_of(job.messages, i, m, limits);
        if (refusal != WARPSEAL_OK) {
            if (m.status != nullptr) *m.status = refusal;
            continue;
        }
        key.load(job.messages.batch.keys + i * Cipher::key_bytes, tables);
        work(m, key.schedule());
    }
    key.zeroize();
}

#endif

// ---- host code

// Launches a kernel over a batch, with the table layout that fits beside the keys.
template <class BlockFunction, class SharedMemoryLimit, class Keys>
warpseal_status launch_batch(void (*kernel)(BatchJob<Keys>), uint64_t warps, const Limits& limits,
                             const BatchJob<Keys>& job, cudaStream_t stream) {
    return launch(
        kernel, blocks_for(warps, limits),
        shared_bytes<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>(limits.architecture),
        job, stream);
}

// Calls work(limits, job) with a job under the call's key or under the messages' own keys.
template <class Cipher, Direction direction, class Work>
warpseal_status with_keys(const void* state, const warpseal_scattered_batch& messages,
                          const Work& work) {
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || messages.batch.message_count == 0) return status;
    const auto run = [&]<class Keys>(SecretOf<BatchJob<Keys>>&& secret) {
        BatchJob<Keys>& job = secret.value;
        job = {};
        fill(job.keys, state, direction);
        job.messages = messages;
        return work(limits, job);
    };
    return messages.batch.keys != nullptr ? run(SecretOf<BatchJob<OwnKeys<Cipher>>>())
                                          : run(SecretOf<BatchJob<OneKey<Cipher>>>());
}

}  // namespace warpseal::cuda
