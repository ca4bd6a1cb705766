// Batch, the host's side: divides the messages, finds scratch for sums, and queues the kernels of batch.cuh on a stream.
#pragma once

#include "backends/cuda/batch.cuh"

namespace warpseal::cuda {

template <class Cipher, class Keys>
using BatchKernel = void (*)(BatchJob<Keys>);

// Picks the layout that fits this GPU's shared memory beside the keys.
template <class Cipher, class Keys>
warpseal_status launch_fitting(BatchKernel<Cipher, Keys> wide, BatchKernel<Cipher, Keys> merged, uint64_t items, const Limits& limits,
                               const BatchJob<Keys>& job, cudaStream_t stream) {
    using Tables = typename Cipher::EncryptTables;
    const size_t wide_bytes = WideLayout<Tables>::bytes + Keys::shared_bytes,
                 merged_bytes = MergedLayout<Tables>::bytes + Keys::shared_bytes;
    const bool fits = limits.shared_bytes >= wide_bytes;
    return launch(fits ? wide : merged, blocks_for(items, limits), fits ? wide_bytes : merged_bytes, job, stream);
}

template <class Cipher, Direction direction, class Keys>
warpseal_status launch_gcm(const BatchJob<Keys>& job, const Limits& limits, cudaStream_t stream) {
    return launch_fitting<Cipher, Keys>(gcm_kernel<Cipher, direction, Keys, WideLayout>, gcm_kernel<Cipher, direction, Keys, MergedLayout>,
                                        job.division.items(), limits, job, stream);
}

// The messages' tags after their parts, and the end of what did not verify.
template <class Cipher, Direction direction, class Keys>
warpseal_status launch_gcm_finish(const BatchJob<Keys>& job, const Limits& limits, cudaStream_t stream) {
    const warpseal_status status = launch_fitting<Cipher, Keys>(gcm_finish_kernel<Cipher, direction, Keys, WideLayout>,
                                                                gcm_finish_kernel<Cipher, direction, Keys, MergedLayout>,
                                                                job.division.message_count, limits, job, stream);
    if (status != WARPSEAL_OK || direction == Direction::encrypt) return status;
    const WipeJob wipe_job{job.batch, job.division};
    return launch(wipe_kernel<Cipher>, blocks_for(job.division.items(), limits), 0, wipe_job, stream);
}

// Sums in scratch that is ordered on the stream, so that a graph can capture it all.
template <class Cipher, Direction direction, class Keys>
warpseal_status gcm_in_parts(BatchJob<Keys>& job, const Limits& limits, cudaStream_t stream) {
    const size_t bytes = job.division.message_count * sizeof(Block<4>);
    void* scratch = nullptr;
    warpseal_status status = check(cudaMallocAsync(&scratch, bytes, stream));
    if (status != WARPSEAL_OK) return status;
    job.sums = static_cast<Block<4>*>(scratch);
    status = check(cudaMemsetAsync(scratch, 0, bytes, stream));
    if (status == WARPSEAL_OK) status = launch_gcm<Cipher, direction>(job, limits, stream);
    if (status == WARPSEAL_OK) status = launch_gcm_finish<Cipher, direction>(job, limits, stream);
    if (lost()) return status;
    const warpseal_status wiped = check(cudaMemsetAsync(scratch, 0, bytes, stream));
    const warpseal_status freed = lost() ? wiped : check(cudaFreeAsync(scratch, stream));
    return status != WARPSEAL_OK ? status : wiped != WARPSEAL_OK ? wiped : freed;
}

template <class Cipher>
void fill(OneKey<Cipher>& key, const void* state) {
    const State<Cipher>& s = *static_cast<const State<Cipher>*>(state);
    memcpy(key.schedule, s.forward, sizeof key.schedule);
    key.hash = s.hash;
}
template <class Cipher>
void fill(OwnKeys<Cipher>&, const void*) {}

template <class Cipher, Direction direction, class Keys>
warpseal_status gcm_batch_under(const void* state, const warpseal_batch& batch, cudaStream_t stream) {
    Limits limits;
    warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    BatchJob<Keys> job{};
    fill(job.keys, state);
    job.batch = batch;
    job.division = divide(batch, batch.aad_bytes, Keys::own, limits);
    status =
        job.division.parts == 1 ? launch_gcm<Cipher, direction>(job, limits, stream) : gcm_in_parts<Cipher, direction>(job, limits, stream);
    wipe(&job.keys, sizeof job.keys);
    return status;
}

template <class Cipher, Direction direction>
warpseal_status gcm_batch(const void* state, const warpseal_batch& batch, void* stream) {
    const auto s = static_cast<cudaStream_t>(stream);
    return batch.keys != nullptr ? gcm_batch_under<Cipher, direction, OwnKeys<Cipher>>(state, batch, s)
                                 : gcm_batch_under<Cipher, direction, OneKey<Cipher>>(state, batch, s);
}

// A piece of one message: exclusive-ors the sum over its ciphertext into *sum, in device memory.
template <class Cipher, Direction direction>
warpseal_status gcm_piece(const void* state, const uint8_t* counter0, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                          void* sum, void* stream) {
    Limits limits;
    warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    BatchJob<OneKey<Cipher>> job{};
    fill(job.keys, state);
    job.batch.message_count = 1;
    job.batch.message_bytes = bytes;
    job.batch.in = in;
    job.batch.out = out;
    job.division = divide(job.batch, 0, false, limits);
    job.sums = static_cast<Block<4>*>(sum);
    job.counter0 = load_block<4>(counter0);
    job.first_block = first_block;
    job.piece = true;
    status = launch_gcm<Cipher, direction>(job, limits, static_cast<cudaStream_t>(stream));
    wipe(&job.keys, sizeof job.keys);
    return status;
}

template <class Cipher>
void gcm_combine(const void* state, uint8_t* sum, const uint8_t* part, uint64_t block_count) {
    const HashKey& hash = static_cast<const State<Cipher>*>(state)->hash;
    Element s = macs::ghash::from_block<uint32_t>(load_block<4>(sum));
    for (int b = 0; b < 32; ++b)
        if ((block_count >> b) & 1) s = macs::ghash::multiply(s, hash.bit_power[b]);
    store_block<4>(sum, macs::ghash::to_block(s ^ macs::ghash::from_block<uint32_t>(load_block<4>(part))));
}

template <class Cipher, class Keys>
warpseal_status ctr_batch_under(const void* state, const warpseal_batch& batch, cudaStream_t stream) {
    Limits limits;
    warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK || batch.message_count == 0) return status;
    BatchJob<Keys> job{};
    fill(job.keys, state);
    job.batch = batch;
    job.division = divide(batch, 0, false, limits);
    status = launch_fitting<Cipher, Keys>(ctr_batch_kernel<Cipher, Keys, WideLayout>, ctr_batch_kernel<Cipher, Keys, MergedLayout>,
                                          job.division.items(), limits, job, stream);
    wipe(&job.keys, sizeof job.keys);
    return status;
}

template <class Cipher>
warpseal_status ctr_batch(const void* state, const warpseal_batch& batch, void* stream) {
    const auto s = static_cast<cudaStream_t>(stream);
    return batch.keys != nullptr ? ctr_batch_under<Cipher, OwnKeys<Cipher>>(state, batch, s)
                                 : ctr_batch_under<Cipher, OneKey<Cipher>>(state, batch, s);
}

}  // namespace warpseal::cuda
