// Random bytes in device memory. The root's output seeds the leaves on the GPU, so that the keys
// of the leaves exist in scratch memory only.
#include "backends/cuda/host/drbg.h"

#include "backends/batch_message.h"
#include "backends/cuda/host/launch.cuh"
#include "core/block.h"

namespace warpseal::cuda {
namespace {

constexpr int encrypt = static_cast<int>(Direction::encrypt);
constexpr size_t key_bytes = 32, block_bytes = 16;

struct LeafJob {
    const uint8_t* seeds;
    uint8_t* keys;
    uint8_t* counters;  // receives V + 1 of each leaf
    uint64_t count;
    Block<4> instantiation[drbg::seed_bytes / block_bytes];
};

// Instantiates the leaves, with one thread for each (SP 800-90A 10.2.1.3.1).
__global__ void __launch_bounds__(tuning::threads)
    instantiate_leaves(const __grid_constant__ LeafJob job) {
    const uint64_t first = uint64_t{threadIdx.x} * gridDim.x + blockIdx.x,
                   step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = first; i < job.count; i += step) {
        const uint8_t* const seed = job.seeds + drbg::seed_bytes * i;
        uint8_t* const key = job.keys + key_bytes * i;
        for (int k = 0; k < 2; ++k)
            store_block(key + block_bytes * k,
                        load_block<4>(seed + block_bytes * k) ^ job.instantiation[k]);
        const Block<4> v = load_block<4>(seed + key_bytes) ^ job.instantiation[2];
        store_block(job.counters + block_bytes * i, add_big_endian<4>(v, 1));
    }
}

// Scratch memory of one request.
struct Scratch {
    uint8_t *zeros, *seeds, *keys, *counters;

    Scratch(uint8_t* begin, uint64_t leaves)
        : zeros(begin),
          seeds(zeros + drbg::max_request_bytes),
          keys(seeds + drbg::seed_bytes * leaves),
          counters(keys + key_bytes * leaves) {}
    static size_t bytes(uint64_t leaves) {
        return drbg::max_request_bytes + (drbg::seed_bytes + key_bytes + block_bytes) * leaves;
    }
};

warpseal_status instantiate(const DrbgRequest& request, const Scratch& scratch, uint64_t leaves,
                            cudaStream_t stream) {
    Limits limits;
    warpseal_status status = current_limits(limits);
    const size_t seeds_bytes = drbg::seed_bytes * leaves;
    if (status == WARPSEAL_OK)
        status =
            check(cudaMemsetAsync(scratch.zeros, 0, drbg::max_request_bytes + seeds_bytes, stream));
    if (status == WARPSEAL_OK)
        status = request.aes->sweep[WARPSEAL_CTR][encrypt](
            request.state, request.counter, 0, scratch.seeds, scratch.seeds, seeds_bytes, stream);
    if (status != WARPSEAL_OK) return status;
    LeafJob job{scratch.seeds, scratch.keys, scratch.counters, leaves, {}};
    memcpy(job.instantiation, request.instantiation, sizeof job.instantiation);
    return launch(instantiate_leaves, blocks_for((leaves + 31) / 32, limits), 0, job, stream);
}

// Writes the output of `count` leaves, `bytes` bytes each.
warpseal_status generate(const DrbgRequest& request, const Scratch& scratch, uint64_t first,
                         uint64_t count, size_t bytes, uint8_t* out, cudaStream_t stream) {
    if (count == 0 || bytes == 0) return WARPSEAL_OK;
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = block_bytes;
    batch.message_count = count;
    batch.message_bytes = bytes;
    batch.keys = scratch.keys + key_bytes * first;
    batch.ivs = scratch.counters + block_bytes * first;
    batch.iv_stride = block_bytes;
    batch.in = scratch.zeros;
    batch.out = out + drbg::max_request_bytes * first;
    batch.out_stride = drbg::max_request_bytes;
    return request.aes->batch[WARPSEAL_CTR][encrypt](nullptr, as_scattered(batch), stream);
}

}  // namespace

warpseal_status drbg_device(int device, const DrbgRequest& request, uint8_t* out, size_t bytes,
                            void* stream_of_caller) {
    const CurrentDevice current(device);
    const auto stream = static_cast<cudaStream_t>(stream_of_caller);
    warpseal_status status = current.status();
    if (status == WARPSEAL_OK) status = not_captured(stream);
    if (status != WARPSEAL_OK || bytes == 0) return status;
    const uint64_t whole = bytes / drbg::max_request_bytes, leaves = drbg::leaves_for(bytes);
    return with_scratch(Scratch::bytes(leaves), stream, [&](uint8_t* memory) {
        const Scratch scratch(memory, leaves);
        warpseal_status queued = instantiate(request, scratch, leaves, stream);
        if (queued == WARPSEAL_OK)
            queued = generate(request, scratch, 0, whole, drbg::max_request_bytes, out, stream);
        if (queued == WARPSEAL_OK)
            queued = generate(request, scratch, whole, leaves - whole,
                              bytes % drbg::max_request_bytes, out, stream);
        return queued;
    });
}

}  // namespace warpseal::cuda
