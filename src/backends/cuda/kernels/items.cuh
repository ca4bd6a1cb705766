// Access to the messages of a batch, and their distribution over the warps and threads of a grid.
#pragma once

#include "backends/cuda/device/key_state.cuh"
#include "backends/cuda/host/launch.cuh"
#include "backends/cuda/kernels/tiles.cuh"

namespace warpseal::cuda {

template <class Keys>
struct BatchJob {
    Keys keys;
    warpseal_batch batch;
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

struct Message {
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    const uint8_t* iv;
    const uint8_t* aad;
    uint8_t* tag;
    int32_t* status;
};

#ifdef __CUDACC__

__device__ __forceinline__ Message message_of(const warpseal_batch& b, uint64_t i) {
    return {b.in + (b.in_offsets ? b.in_offsets[i] : i * b.in_stride),
            b.out + (b.out_offsets ? b.out_offsets[i] : i * b.out_stride),
            b.lengths ? b.lengths[i] : b.message_bytes,
            b.ivs + i * b.iv_stride,
            b.aad + i * b.aad_stride,
            b.tags + i * b.tag_stride,
            b.statuses ? b.statuses + i : nullptr};
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

// Calls work(message, schedule) for each of the thread's messages, with its key. `job` must be the
// kernel's own parameter, in the constant bank.
template <class Cipher, class Keys, class TableLookup, class Work>
__device__ __forceinline__ void each_message(const BatchJob<Keys>& job, const TableLookup& tables,
                                             const Work& work) {
    ThreadKey<Cipher, Keys> key(job.keys);
    for (uint64_t i = first_of_thread(); i < job.batch.message_count; i += thread_step()) {
        key.load(job.batch.keys + i * Cipher::key_bytes, tables);
        work(message_of(job.batch, i), key.schedule());
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
warpseal_status with_keys(const void* state, const warpseal_batch& batch, const Work& work) {
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    const auto run = [&]<class Keys>(SecretOf<BatchJob<Keys>>&& secret) {
        BatchJob<Keys>& job = secret.value;
        job = {};
        fill(job.keys, state, direction);
        job.batch = batch;
        return work(limits, job);
    };
    return batch.keys != nullptr ? run(SecretOf<BatchJob<OwnKeys<Cipher>>>())
                                 : run(SecretOf<BatchJob<OneKey<Cipher>>>());
}

}  // namespace warpseal::cuda
