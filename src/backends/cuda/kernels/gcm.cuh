// Batch GCM (SP 800-38D) in one pass over the text: a warp processes a message or a tile of one.
// gcm_two_pass.cuh handles the batches for which two passes are faster.
#pragma once

#include "backends/cuda/kernels/gcm_two_pass.cuh"

namespace warpseal::cuda {

__device__ __forceinline__ void wipe_blocks(const Message& m, uint64_t first, uint64_t last,
                                            uint32_t lane) {
    const uint32_t width = common_width(m.out, m.out);
    for (uint64_t i = first + lane; i < last; i += 32)
        store_partial(m.out + 16 * i, Block<4>{}, bytes_in_block<4>(m.bytes, i), width);
}

// Encrypts or decrypts the text blocks of a tile. Returns the GHASH value of its AAD and ciphertext
// blocks, in every lane. The blocks are arranged in rows of 32, padded at the front. Each lane
// accumulates its column with H^32; its last block is 32 - lane blocks from the end.
template <class BlockFunction, Direction direction, class Key, class TableLookup>
__device__ __forceinline__ Element hash_tile(const Message& m, uint64_t aad_bytes, const Tile& tile,
                                             const Block<4>& counter0, uint64_t first_block,
                                             const Key& key, const TableLookup& tables) {
    // Within gcm_limits this does not wrap. It takes fewer registers than blocks_in.
    const uint64_t aad_blocks = (aad_bytes + 15) / 16;
    const uint32_t width = common_width(m.in, m.out);
    const uint64_t rows = (tile.last - tile.first + 31) / 32;
    int64_t i = static_cast<int64_t>(tile.last - rows * 32) + lane_id();
    Element sum;
    // The first row needs no multiplication. The branch pays only for short messages with their own
    // keys.
    bool started = !Key::own;
    for (; i < static_cast<int64_t>(tile.last); i += 32) {
        Block<4> hashed{};
        if (i >= static_cast<int64_t>(tile.first)) {
            if (i >= static_cast<int64_t>(aad_blocks)) {
                const uint64_t t = i - aad_blocks;
                const uint32_t bytes = bytes_in_block<4>(m.bytes, t);
                const Block<4> data = load_partial<4>(m.in + 16 * t, bytes, width);
                Block<4> b = modes::Gcm::mask(counter0, first_block + t);
                BlockFunction::run(b, key.schedule(), tables);
                b = first_bytes(b ^ data, bytes);
                store_partial(m.out + 16 * t, b, bytes, width);
                hashed = direction == Direction::encrypt ? b : data;
            } else {
                hashed = load_partial<4>(m.aad + 16 * i, bytes_in_block<4>(aad_bytes, i), 1);
            }
        }
        if (started) sum = multiply(sum, key.row());
        sum = sum ^ macs::ghash::from_block<uint32_t>(hashed);
        started = true;
    }
    return sum_of_lanes(multiply_once(sum, key.lane_power()));
}

// Completes the tag from the GHASH value of AAD and ciphertext, then writes or compares it. Returns
// false in all lanes if it differs. lane: of kept_lane, because it is used after a call.
template <class Key>
__device__ bool finish(const Message& m, uint64_t aad_bytes, uint32_t tag_bytes, bool opens,
                       const Element& sum, const Block<4>& tag_mask, const Key& key,
                       uint32_t lane) {
    const Element lengths =
        macs::ghash::from_block<uint32_t>(macs::ghash::length_block(aad_bytes, m.bytes));
    const Block<4> tag = macs::ghash::to_block(multiply_once(sum ^ lengths, key.h())) ^ tag_mask;
    const uint32_t word = lane < 4    ? tag.word[0]
                          : lane < 8  ? tag.word[1]
                          : lane < 12 ? tag.word[2]
                                      : tag.word[3];
    const uint8_t byte = static_cast<uint8_t>(word >> (8 * (lane % 4)));
    bool differs = false;
    if (lane < tag_bytes) {
        if (opens)
            differs = m.tag[lane] != byte;
        else
            m.tag[lane] = byte;
    }
    const bool authentic = !__any_sync(0xffffffffu, differs);
    if (lane == 0 && m.status != nullptr)
        *m.status = authentic ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
    return authentic;
}

template <class BlockFunction, Direction direction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TableLookup = Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>;
    const TableLookup tables(shared);
    WarpKey<Cipher, Direction::encrypt, Keys> key(job.keys, shared + TableLookup::bytes);
    for (uint64_t item = first_item(); item < job.tiling.message_count * job.tiling.tiles;
         item += item_step()) {
        const uint64_t index = item % job.tiling.message_count;
        const Message m = message_of(job.messages, index);
        const uint64_t aad_bytes = m.aad_bytes,
                       blocks = blocks_in<4>(aad_bytes) + blocks_in<4>(m.bytes);
        const Tile tile = tile_of(job.tiling, blocks, item / job.tiling.message_count);
        if (tile.empty) continue;
        if (const warpseal_status refusal = refusal_of(job.messages, index, m, gcm_limits());
            refusal != WARPSEAL_OK) {
            if (lane_id() == 0 && m.status != nullptr) *m.status = refusal;
            continue;
        }
        key.load(job.messages.batch.keys + index * Cipher::key_bytes, tables);
        const bool plain = job.messages.batch.iv_bytes == modes::Gcm::plain_iv_bytes;
        Block<4> counter0 = job.counter0;
        if (plain)
            counter0 =
                modes::Gcm::pre_counter_block(load_partial<4>(m.iv, modes::Gcm::plain_iv_bytes, 1));
        key.prepare_hash(plain ? &counter0 : nullptr, tables);
        if (!plain && !job.segment)
            counter0 = hashed_counter(m.iv, job.messages.batch.iv_bytes, key);
        Element sum = hash_tile<BlockFunction, direction>(m, aad_bytes, tile, counter0,
                                                          job.first_block, key, tables);
        if (tile.whole && !job.segment) {
            constexpr bool opens = direction == Direction::decrypt;
            const Block<4> tag_mask = key.tag_mask(counter0, plain, tables);
            const uint32_t lane = kept_lane();
            const bool authentic =
                finish(m, aad_bytes, job.messages.batch.tag_bytes, opens, sum, tag_mask, key, lane);
            __syncwarp();
            if (opens && !authentic) wipe_blocks(m, 0, blocks_in<4>(m.bytes), lane);
        } else {
            if (tile.last < blocks) sum = multiply_once(sum, key.power(blocks - tile.last));
            const Block<4> b = macs::ghash::to_block(sum);
            if (lane_id() == 0)
                for (int i = 0; i < 4; ++i) atomicXor(&job.sums[index].word[i], b.word[i]);
        }
    }
    key.zeroize();
}

// Computes the tags of messages that were split into several tiles.
template <class BlockFunction, class Keys, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_finish_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    using TableLookup = Layout<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>;
    const TableLookup tables(shared);
    WarpKey<Cipher, Direction::encrypt, Keys> key(job.keys, shared + TableLookup::bytes);
    for (uint64_t index = first_item(); index < job.tiling.message_count; index += item_step()) {
        const Message m = message_of(job.messages, index);
        const uint64_t aad_bytes = m.aad_bytes;
        if (tile_of(job.tiling, blocks_in<4>(aad_bytes) + blocks_in<4>(m.bytes), 0).whole ||
            refusal_of(job.messages, index, m, gcm_limits()) != WARPSEAL_OK)
            continue;
        key.load(job.messages.batch.keys + index * Cipher::key_bytes, tables);
        const bool plain = job.messages.batch.iv_bytes == modes::Gcm::plain_iv_bytes;
        Block<4> counter0{};
        if (plain)
            counter0 =
                modes::Gcm::pre_counter_block(load_partial<4>(m.iv, modes::Gcm::plain_iv_bytes, 1));
        key.prepare_hash(plain ? &counter0 : nullptr, tables);
        if (!plain) counter0 = hashed_counter(m.iv, job.messages.batch.iv_bytes, key);
        const Block<4> tag_mask = key.tag_mask(counter0, plain, tables);
        const bool opens = __any_sync(0xffffffffu, job.opens);
        finish(m, aad_bytes, job.messages.batch.tag_bytes, opens,
               macs::ghash::from_block<uint32_t>(job.sums[index]), tag_mask, key, kept_lane());
    }
    key.zeroize();
}

struct WipeJob {
    warpseal_scattered_batch messages;
    Tiling tiling;
};

// Zeroizes the outputs of messages of several tiles that failed authentication.
template <class Cipher>
__global__ void __launch_bounds__(tuning::threads, 1)
    wipe_kernel(const __grid_constant__ WipeJob job) {
    for (uint64_t item = first_item(); item < job.tiling.message_count * job.tiling.tiles;
         item += item_step()) {
        const Message m = message_of(job.messages, item % job.tiling.message_count);
        if (*m.status != WARPSEAL_NOT_AUTHENTIC) continue;
        const Tile tile =
            tile_of(job.tiling, blocks_in<4>(m.bytes), item / job.tiling.message_count);
        if (!tile.empty) wipe_blocks(m, tile.first, tile.last, lane_id());
    }
}

// ---- host code

template <class BlockFunction, Direction direction, class SharedMemoryLimit, class Keys>
warpseal_status launch_gcm(const BatchJob<Keys>& job, const Limits& limits, cudaStream_t stream) {
    return launch_batch<BlockFunction, SharedMemoryLimit>(
        gcm_kernel<BlockFunction, direction, Keys, SharedMemoryLimit>, job.tiling.items(), limits,
        job, stream);
}

// Loads the kernels of launch_gcm_finish. When opening, this precedes gcm_kernel, whose plaintext
// would otherwise stay if they could not be loaded.
template <class BlockFunction, class SharedMemoryLimit, class Keys>
warpseal_status load_gcm_finish(const Limits& limits) {
    const warpseal_status status = load_kernel(
        gcm_finish_kernel<BlockFunction, Keys, SharedMemoryLimit>,
        shared_bytes<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>(limits.architecture));
    return status == WARPSEAL_OK ? load_kernel(wipe_kernel<typename BlockFunction::Cipher>, 0)
                                 : status;
}

// Computes the tags of messages of several tiles, and zeroizes the outputs that failed
// authentication.
template <class BlockFunction, class SharedMemoryLimit, class Keys>
warpseal_status launch_gcm_finish(const BatchJob<Keys>& job, const Limits& limits,
                                  cudaStream_t stream) {
    if (!job.opens)
        return launch_batch<BlockFunction, SharedMemoryLimit>(
            gcm_finish_kernel<BlockFunction, Keys, SharedMemoryLimit>, job.tiling.message_count,
            limits, job, stream);
    const warpseal_status status = launch_loaded(
        gcm_finish_kernel<BlockFunction, Keys, SharedMemoryLimit>,
        blocks_for(job.tiling.message_count, limits),
        shared_bytes<BlockFunction, SharedMemoryLimit, Keys::shared_bytes>(limits.architecture),
        job, stream);
    if (status != WARPSEAL_OK) return status;
    const WipeJob wipe_job{job.messages, job.tiling};
    return launch_loaded(wipe_kernel<typename BlockFunction::Cipher>,
                         blocks_for(job.tiling.items(), limits), 0, wipe_job, stream);
}

template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status gcm_batch(const void* state, const warpseal_scattered_batch& messages,
                          void* stream_pointer) {
    using Forward = BlockFunction<Cipher, Direction::encrypt>;
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    return with_keys<Cipher, Direction::encrypt>(
        state, messages, [&]<class Keys>(const Limits& limits, BatchJob<Keys>& job) {
            if constexpr (!Keys::own)
                if (messages.batch.message_bytes <= modes::gcm_max_text_bytes &&
                    takes_two_passes(messages, limits)) {
                    SecretOf<PassJob<Cipher>> secret;
                    secret.value = {};
                    secret.value.key = job.keys;
                    secret.value.messages = messages;
                    bool begun = false;
                    const warpseal_status status = two_passes<Cipher, direction, SharedMemoryLimit>(
                        secret.value, limits, stream, &begun);
                    // If out of memory, falls through to one pass, which needs less scratch.
                    if (begun || status != WARPSEAL_OUT_OF_MEMORY) return status;
                }
            job.opens = direction == Direction::decrypt;
            job.tiling = one_pass_tiling(messages.batch, limits);
            if (job.tiling.tiles == 1)
                return launch_gcm<Forward, direction, SharedMemoryLimit>(job, limits, stream);
            if constexpr (direction == Direction::decrypt)
                if (const warpseal_status status =
                        load_gcm_finish<Forward, SharedMemoryLimit, Keys>(limits);
                    status != WARPSEAL_OK)
                    return status;
            const size_t bytes = one_pass_scratch_bytes(job.tiling);
            return with_scratch(workspace_of(messages), bytes, stream, [&](void* sums) {
                job.sums = static_cast<Block<4>*>(sums);
                warpseal_status status = check(cudaMemsetAsync(sums, 0, bytes, stream));
                if (status == WARPSEAL_OK)
                    status = launch_gcm<Forward, direction, SharedMemoryLimit>(job, limits, stream);
                return status == WARPSEAL_OK
                           ? launch_gcm_finish<Forward, SharedMemoryLimit>(job, limits, stream)
                           : status;
            });
        });
}

// Processes a segment of one message. XORs the GHASH value of its ciphertext into *sum, in device
// memory.
template <class Cipher, Direction direction, class SharedMemoryLimit>
warpseal_status gcm_segment(const void* state, const uint8_t* counter0, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes, void* sum,
                            void* stream_pointer) {
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    warpseal_scattered_batch messages{};
    messages.batch.message_count = 1;
    messages.batch.message_bytes = bytes;
    messages.batch.in = in;
    messages.batch.out = out;
    if (takes_two_passes(messages, limits)) {
        SecretOf<PassJob<Cipher>> secret;
        PassJob<Cipher>& job = secret.value;
        job = {};
        fill(job.key, state, Direction::encrypt);
        job.messages = messages;
        job.counter0 = load_block<4>(counter0);
        job.first_block = first_block;
        job.segment = static_cast<Block<4>*>(sum);
        bool begun = false;
        const warpseal_status passes =
            two_passes<Cipher, direction, SharedMemoryLimit>(job, limits, stream, &begun);
        // If out of memory, falls through to one pass, which needs no scratch.
        if (begun || passes != WARPSEAL_OUT_OF_MEMORY) return passes;
    }
    SecretOf<BatchJob<OneKey<Cipher>>> secret;
    BatchJob<OneKey<Cipher>>& job = secret.value;
    job = {};
    fill(job.keys, state, Direction::encrypt);
    job.messages = messages;
    job.tiling = divide(messages.batch, 0, 16, false, limits);
    job.sums = static_cast<Block<4>*>(sum);
    job.counter0 = load_block<4>(counter0);
    job.first_block = first_block;
    job.segment = true;
    return launch_gcm<BlockFunction<Cipher, Direction::encrypt>, direction, SharedMemoryLimit>(
        job, limits, stream);
}

template <class Cipher>
void gcm_combine(const void* state, uint8_t* sum, const uint8_t* segment_sum,
                 uint64_t block_count) {
    const HashKey& hash = static_cast<const State<Cipher>*>(state)->hash;
    Element s = macs::ghash::from_block<uint32_t>(load_block<4>(sum));
    for (int b = 0; b < 32; ++b)
        if ((block_count >> b) & 1) s = macs::ghash::multiply(s, hash.bit_power[b]);
    store_block<4>(sum, macs::ghash::to_block(
                            s ^ macs::ghash::from_block<uint32_t>(load_block<4>(segment_sum))));
}

}  // namespace warpseal::cuda
