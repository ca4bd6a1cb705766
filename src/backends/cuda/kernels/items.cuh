// What a batch says of a message, and how a grid's warps and threads share messages out.
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
    Block<4>* sums;  // GCM: of each message in several parts, or of the one piece; exclusive-ored
                     // by its parts
    // A piece of one GCM message: its J0 and place, for it alone.
    Block<4> counter0;
    uint64_t first_block;
    bool segment;
    bool opens;  // compares tags
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

// A message of 0 bytes has no blocks.
template <int n>
__device__ __forceinline__ uint64_t blocks_in(uint64_t bytes) {
    return bytes / (4 * n) + (bytes % (4 * n) != 0);
}

// Messages of one thread each: neighbours in a block take messages far from each other, so that few
// still spread over all multiprocessors.
__device__ __forceinline__ uint64_t first_of_thread() {
    return uint64_t{threadIdx.x} * gridDim.x + blockIdx.x;
}
__device__ __forceinline__ uint64_t thread_step() { return uint64_t{gridDim.x} * tuning::threads; }

// A thread's messages, each under its key: work(message, schedule). The job is the kernel's own
// parameter, in the constant bank.
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

// ---- the host's side

// A kernel over a batch, with the layout that its way and keys leave room for.
template <class BlockFunction, class SharedMemoryLimit, class Keys>
warpseal_status launch_batch(void (*kernel)(BatchJob<Keys>), uint64_t warps, const Limits& limits,
                             const BatchJob<Keys>& job, cudaStream_t stream) {
    return launch(
        kernel, blocks_for(warps, limits),
        shared_bytes<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>(limits.architecture),
        job, stream);
}

// Calls work(limits, job) with a job under the key of the call or under the messages' own.
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
