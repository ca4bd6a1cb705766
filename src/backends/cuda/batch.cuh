// Batch: many messages, each with its own IV, length and perhaps key; a warp takes a message or a part of one (CTR, GCM of SP 800-38D).
#pragma once

#include "backends/cuda/launch.cuh"
#include "backends/cuda/parts.cuh"
#include "backends/cuda/state.cuh"
#include "modes/ctr.h"
#include "modes/gcm.h"

namespace warpseal::cuda {

inline constexpr uint64_t gcm_text_limit = (uint64_t{1} << 36) - 32;  // SP 800-38D 5.2.1.1

template <class Keys>
struct BatchJob {
    Keys keys;
    warpseal_batch batch;
    Division division;
    Block<4>* sums;  // of each message in several parts, or of the one piece; exclusive-ored by its parts
    // A piece of one GCM message: its J0 and place, for it alone.
    Block<4> counter0;
    uint64_t first_block;
    bool piece;
};

// What the batch says of one message.
struct Message {
    const uint8_t* in;
    uint8_t* out;
    uint64_t bytes;
    const uint8_t* iv;
    const uint8_t* aad;
    uint8_t* tag;
    int32_t* status;
};

__device__ __forceinline__ Message message_of(const warpseal_batch& b, uint64_t i) {
    return {b.in + (b.in_offsets ? b.in_offsets[i] : i * b.in_stride),
            b.out + (b.out_offsets ? b.out_offsets[i] : i * b.out_stride),
            b.lengths ? b.lengths[i] : b.message_bytes,
            b.ivs + i * b.iv_stride,
            b.aad + i * b.aad_stride,
            b.tags + i * b.tag_stride,
            b.statuses ? b.statuses + i : nullptr};
}

// Warps of one block take items far from each other, so that few items still spread over all multiprocessors.
__device__ __forceinline__ uint64_t first_item() { return uint64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x; }
__device__ __forceinline__ uint64_t item_step() { return uint64_t{gridDim.x} * tuning::warps; }

__device__ __forceinline__ void wipe_blocks(const Message& m, uint64_t first, uint64_t last) {
    const uint32_t width = common_width(m.out, m.out);
    for (uint64_t i = first + lane_id(); i < last; i += 32) store_part(m.out + 16 * i, Block<4>{}, bytes_in_block(m.bytes, i), width);
}

// ---- CTR

template <class Cipher, class Keys, template <class> class Layout>
__global__ void __launch_bounds__(tuning::threads, 1) ctr_batch_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Tables = Layout<typename Cipher::EncryptTables>;
    const Tables look(shared);
    WarpKey<Cipher, Keys> key(job.keys, shared + Tables::bytes);
    for (uint64_t item = first_item(); item < job.division.message_count * job.division.parts; item += item_step()) {
        const uint64_t index = item % job.division.message_count;
        const Message m = message_of(job.batch, index);
        const Part part = part_of(job.division, (m.bytes + 15) / 16, item / job.division.message_count);
        if (part.empty) continue;
        key.load(job.batch.keys + index * Cipher::key_bytes, look);
        const uint32_t width = common_width(m.in, m.out);
        const Block<4> iv = load_part(m.iv, 16, 1);
        for (uint64_t i = part.first + lane_id(); i < part.last; i += 32) {
            const uint32_t bytes = bytes_in_block(m.bytes, i);
            const Block<4> data = load_part(m.in + 16 * i, bytes, width);
            Block<4> b = modes::Ctr::mask(iv, i);
            Cipher::encrypt(b.word, key.schedule(), look);
            store_part(m.out + 16 * i, data ^ b, bytes, width);
        }
        if (part.first == 0 && lane_id() == 0 && m.status != nullptr) *m.status = WARPSEAL_OK;
    }
    key.leave();
}

// ---- GCM

// J0 (SP 800-38D 7.1 step 2).
template <class Key>
__device__ Block<4> pre_counter_block(const uint8_t* iv, uint64_t iv_bytes, const Key& key) {
    if (iv_bytes == modes::Gcm::plain_iv_bytes) {
        Block<4> j0 = load_part(iv, modes::Gcm::plain_iv_bytes, 1);
        j0.word[3] = swap_bytes(uint32_t{1});
        return j0;
    }
    const uint64_t blocks = (iv_bytes + 15) / 16 + 1;
    const uint64_t rows = (blocks + 31) / 32;
    Element sum;
#pragma unroll 1
    for (uint64_t row = 0; row < rows; ++row) {
        const uint64_t i = row * 32 + lane_id() + blocks - rows * 32;  // wraps in the padding, which is in front
        Block<4> b{};
        if (i < blocks - 1) b = load_part(iv + 16 * i, bytes_in_block(iv_bytes, i), 1);
        if (i == blocks - 1) b = macs::ghash::length_block(0, iv_bytes);
        sum = multiply_once(sum, key.row_power()) ^ macs::ghash::from_block<uint32_t>(b);
    }
    return macs::ghash::to_block(sum_of_lanes(multiply_once(sum, key.lane_power())));
}

// Encrypts or decrypts the text blocks of a part and returns the sum over its blocks of AAD and ciphertext, in every lane. The blocks stand
// in rows of 32, padded at the front: each lane sums its column by H^32, and its last block is 32 - lane from the end.
template <class Cipher, Direction direction, class Key, class Look>
__device__ __forceinline__ Element fold_part(const Message& m, uint64_t aad_bytes, const Part& part, const Block<4>& counter0,
                                             uint64_t first_block, const Key& key, const Look& look) {
    const uint64_t aad_blocks = (aad_bytes + 15) / 16;
    const uint32_t width = common_width(m.in, m.out);
    const uint64_t rows = (part.last - part.first + 31) / 32;
    int64_t i = static_cast<int64_t>(part.last - rows * 32) + lane_id();
    Element sum;
    for (; i < static_cast<int64_t>(part.last); i += 32) {
        Block<4> hashed{};
        if (i >= static_cast<int64_t>(part.first)) {
            if (i >= static_cast<int64_t>(aad_blocks)) {
                const uint64_t t = i - aad_blocks;
                const uint32_t bytes = bytes_in_block(m.bytes, t);
                const Block<4> data = load_part(m.in + 16 * t, bytes, width);
                Block<4> b = modes::Gcm::mask(counter0, first_block + t);
                Cipher::encrypt(b.word, key.schedule(), look);
                b = keep_first(b ^ data, bytes);
                store_part(m.out + 16 * t, b, bytes, width);
                hashed = direction == Direction::encrypt ? b : data;
            } else {
                hashed = load_part(m.aad + 16 * i, bytes_in_block(aad_bytes, i), 1);
            }
        }
        sum = multiply(sum, key.row()) ^ macs::ghash::from_block<uint32_t>(hashed);
    }
    return sum_of_lanes(multiply_once(sum, key.lane_power()));
}

// From the sum over AAD and ciphertext: the tag written, or compared; false if it differs. All lanes agree.
template <class Cipher, Direction direction, class Key, class Look>
__device__ bool finish(const Message& m, uint64_t aad_bytes, uint32_t tag_bytes, const Element& sum, const Block<4>& counter0,
                       const Key& key, const Look& look) {
    const Element lengths = macs::ghash::from_block<uint32_t>(macs::ghash::length_block(aad_bytes, m.bytes));
    const Block<4> tag =
        macs::ghash::to_block(multiply_once(sum ^ lengths, key.h())) ^ encrypt_once<Cipher>(counter0, key.schedule(), look);
    const int lane = lane_id();
    const uint32_t word = lane < 4 ? tag.word[0] : lane < 8 ? tag.word[1] : lane < 12 ? tag.word[2] : tag.word[3];
    const uint8_t byte = static_cast<uint8_t>(word >> (8 * (lane % 4)));
    bool differs = false;
    if (lane < tag_bytes) {
        if (direction == Direction::encrypt)
            m.tag[lane] = byte;
        else
            differs = m.tag[lane] != byte;
    }
    const bool authentic = !__any_sync(0xffffffffu, differs);
    if (lane == 0 && m.status != nullptr) *m.status = authentic ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
    return authentic;
}

template <class Cipher, Direction direction, class Keys, template <class> class Layout>
__global__ void __launch_bounds__(tuning::threads, 1) gcm_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Tables = Layout<typename Cipher::EncryptTables>;
    const Tables look(shared);
    WarpKey<Cipher, Keys> key(job.keys, shared + Tables::bytes);
    const uint64_t aad_bytes = job.batch.aad_bytes;
    for (uint64_t item = first_item(); item < job.division.message_count * job.division.parts; item += item_step()) {
        const uint64_t index = item % job.division.message_count;
        const Message m = message_of(job.batch, index);
        const uint64_t blocks = (aad_bytes + 15) / 16 + (m.bytes + 15) / 16;
        const Part part = part_of(job.division, blocks, item / job.division.message_count);
        if (part.empty) continue;
        if (m.bytes > gcm_text_limit) {
            if (lane_id() == 0 && m.status != nullptr) *m.status = WARPSEAL_LIMIT_EXCEEDED;
            continue;
        }
        key.load(job.batch.keys + index * Cipher::key_bytes, look);
        key.prepare_hash(look);
        const Block<4> counter0 = job.piece ? job.counter0 : pre_counter_block(m.iv, job.batch.iv_bytes, key);
        Element sum = fold_part<Cipher, direction>(m, aad_bytes, part, counter0, job.first_block, key, look);
        if (part.whole && !job.piece) {
            const bool authentic = finish<Cipher, direction>(m, aad_bytes, job.batch.tag_bytes, sum, counter0, key, look);
            __syncwarp();
            if (direction == Direction::decrypt && !authentic) wipe_blocks(m, 0, (m.bytes + 15) / 16);
        } else {
            if (part.last < blocks) sum = multiply_once(sum, key.power(blocks - part.last));
            const Block<4> b = macs::ghash::to_block(sum);
            if (lane_id() == 0)
                for (int i = 0; i < 4; ++i) atomicXor(&job.sums[index].word[i], b.word[i]);
        }
    }
    key.leave();
}

// Messages in several parts: their tags.
template <class Cipher, Direction direction, class Keys, template <class> class Layout>
__global__ void __launch_bounds__(tuning::threads, 1) gcm_finish_kernel(const __grid_constant__ BatchJob<Keys> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Tables = Layout<typename Cipher::EncryptTables>;
    const Tables look(shared);
    WarpKey<Cipher, Keys> key(job.keys, shared + Tables::bytes);
    const uint64_t aad_bytes = job.batch.aad_bytes;
    for (uint64_t index = first_item(); index < job.division.message_count; index += item_step()) {
        const Message m = message_of(job.batch, index);
        if (m.bytes > gcm_text_limit || part_of(job.division, (aad_bytes + 15) / 16 + (m.bytes + 15) / 16, 0).whole) continue;
        key.load(job.batch.keys + index * Cipher::key_bytes, look);
        key.prepare_hash(look);
        const Block<4> counter0 = pre_counter_block(m.iv, job.batch.iv_bytes, key);
        finish<Cipher, direction>(m, aad_bytes, job.batch.tag_bytes, macs::ghash::from_block<uint32_t>(job.sums[index]), counter0, key,
                                  look);
    }
    key.leave();
}

struct WipeJob {
    warpseal_batch batch;
    Division division;
};

// Wipes the outputs of messages in several parts that did not verify.
template <class Cipher>
__global__ void __launch_bounds__(tuning::threads, 1) wipe_kernel(const __grid_constant__ WipeJob job) {
    for (uint64_t item = first_item(); item < job.division.message_count * job.division.parts; item += item_step()) {
        const Message m = message_of(job.batch, item % job.division.message_count);
        if (*m.status != WARPSEAL_NOT_AUTHENTIC) continue;
        const Part part = part_of(job.division, (m.bytes + 15) / 16, item / job.division.message_count);
        if (!part.empty) wipe_blocks(m, part.first, part.last);
    }
}

}  // namespace warpseal::cuda
