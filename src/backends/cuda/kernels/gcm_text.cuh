// Counter mode pass of two-pass GCM for long texts under one key. See gcm_two_pass.cuh.
#pragma once

#include "backends/cuda/kernels/items.cuh"
#include "backends/cuda/kernels/list_tiles.h"
#include "backends/cuda/kernels/sweep.cuh"
#include "modes/gcm.h"

namespace warpseal::cuda {

// Messages of equal length, listed ones, or one segment of a message with its J0.
template <class Cipher>
struct PassJob {
    OneKey<Cipher> key;
    warpseal_scattered_batch messages;
    Tiling tiling;
    const TileList* list;  // in scratch; replaces `tiling` if only the device knows the lengths
    // In scratch: the GHASH value of each message's whole ciphertext blocks, and each message's J0.
    // `counters` is null for IVs of 96 bits.
    Block<4>*sums, *counters;
    // In scratch: number of items that warps have taken, without the first item of each.
    uint32_t* items_taken;
    Block<4> counter0;
    uint64_t first_block;
    Block<4>* segment;  // the segment's GHASH value is XORed into this; else null
    bool opens;

    WARPSEAL_INLINE bool is_segment() const { return segment != nullptr; }
    __device__ __forceinline__ uint64_t item_count() const {
        if (list != nullptr) return list->item_count();
        return tiling.message_count * tiling.tiles;
    }
    // Listed messages may be refused, and their texts at any address.
    __device__ __forceinline__ bool is_refused(uint64_t index, const Message& m) const {
        return list != nullptr && refusal_of(messages, index, m, gcm_limits()) != WARPSEAL_OK;
    }
    __device__ __forceinline__ uint32_t width(const Message& m) const {
        return list != nullptr ? common_width(m.in, m.out) : 16;
    }
};

__device__ __forceinline__ Block<4> load_plain_iv(const uint8_t* p) {
    if (width_of(reinterpret_cast<uintptr_t>(p)) < 4)
        return load_partial<4>(p, modes::Gcm::plain_iv_bytes, 1);
    Block<4> b{};
#pragma unroll
    for (uint32_t i = 0; i < modes::Gcm::plain_iv_bytes / 4; ++i)
        b.word[i] = reinterpret_cast<const uint32_t*>(p)[i];
    return b;
}

template <class Cipher>
__device__ __forceinline__ Block<4> counter0_of(const PassJob<Cipher>& job, uint64_t index,
                                                const Message& m) {
    if (job.is_segment()) return job.counter0;
    if (job.counters != nullptr) return job.counters[index];
    return modes::Gcm::pre_counter_block(load_plain_iv(m.iv));
}

// Contribution of a counter's last byte and of all bytes except the last two. If the header
// provides count_fixed, its result is computed once. It is the same for the whole warp, so each
// lane stores one of its words.
template <class Cipher>
class LastByteContributions {
public:
    template <class TableLookup>
    __device__ __forceinline__ LastByteContributions(const Block<4>& counter,
                                                     const uint32_t* schedule,
                                                     const TableLookup& tables)
        : counter_(counter) {
        if constexpr (has_fixed) {
            uint32_t fixed[Cipher::fixed_words];
            Cipher::count_fixed(fixed, counter.word, schedule, tables);
            word_ = fixed[0];
#pragma unroll
            for (int w = 1; w < Cipher::fixed_words; ++w) word_ = lane_id() == w ? fixed[w] : word_;
        }
    }
    // Computes the contributions for two blocks.
    template <class TableLookup>
    __device__ __forceinline__ void contributions(
        uint32_t (&contribution)[2][Cipher::counting_words], const uint32_t (&last_word)[2],
        const uint32_t* schedule, const TableLookup& tables) {
        if constexpr (has_fixed) {
            uint32_t fixed[Cipher::fixed_words];
#pragma unroll
            for (int w = 0; w < Cipher::fixed_words; ++w)
                fixed[w] = __shfl_sync(0xffffffffu, word_, w);
#pragma unroll
            for (int n = 0; n < 2; ++n)
                Cipher::count_last(contribution[n], fixed, last_word[n], schedule, tables);
        } else {
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                counter_.word[3] = last_word[n];
                Cipher::count_last(contribution[n], counter_.word, schedule, tables);
            }
        }
    }

private:
    static constexpr bool has_fixed = requires { Cipher::fixed_words; };
    Block<4> counter_;
    uint32_t word_ = 0;
};

// Encrypts whole blocks of a message with a warp: two adjacent rows, so two blocks in each lane.
// Their counters differ only in the last two bytes, and the higher of these has at most 32 values.
// See count_steps.
template <class BlockFunction, class TableLookup>
__device__ __forceinline__ void crypt_counting(const uint8_t* in, uint8_t* out, uint32_t blocks,
                                               Block<4> counter, const uint32_t* schedule,
                                               const TableLookup& tables) {
    using Cipher = typename BlockFunction::Cipher;
    const uint32_t begin = swap_bytes(counter.word[3]);
    uint32_t of_lane[Cipher::counting_words];
    counter.word[3] = swap_bytes((begin & 0xffff0000u) | (begin + 256 * lane_id() & 0xff00u));
    Cipher::count_next(of_lane, counter.word, schedule, tables);
    LastByteContributions<Cipher> contributions(counter, schedule, tables);
#pragma unroll 1
    for (uint32_t row = lane_id(); row < 256; row += 64) {
        if (row - lane_id() >= blocks) return;
        const uint32_t high = begin & 0xffff0000u, last = begin + row,
                       base = begin + row - lane_id();
        uint32_t of_last[2][Cipher::counting_words];
        contributions.contributions(
            of_last, {swap_bytes(high | (last & 0xff)), swap_bytes(high | (last + 32 & 0xff))},
            schedule, tables);
        // True if the second-to-last byte is the same in both blocks of all lanes.
        const bool alike = base / 256 == (base + 63) / 256;
#pragma unroll 1
        for (uint32_t i = row; i - lane_id() < blocks; i += 256) {
            uint32_t sum[2][Cipher::counting_words];
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const int lane = static_cast<int>((begin + i + 32 * n >> 8) - (begin >> 8));
                if (n == 0 || !alike) {
#pragma unroll
                    for (int w = 0; w < Cipher::counting_words; ++w)
                        sum[1][w] = __shfl_sync(0xffffffffu, of_lane[w], lane);
                }
#pragma unroll
                for (int w = 0; w < Cipher::counting_words; ++w)
                    sum[n][w] = of_last[n][w] ^ sum[1][w];
            }
            encrypt_counting<Cipher>(sum[0], sum[1], schedule, tables);
            // Loaded late: see count_steps.
            Block<4> data[2];
#pragma unroll
            for (int n = 0; n < 2; ++n)
                if (i + 32 * n < blocks) load_aligned(data[n], in + 16 * (i + 32 * n));
#pragma unroll
            for (int n = 0; n < 2; ++n)
                if (i + 32 * n < blocks)
                    store_aligned(out + 16 * (i + 32 * n),
                                  data[n] ^ Block<4>{{sum[n][0], sum[n][1], sum[n][2], sum[n][3]}});
        }
    }
}

// Encrypts any range of blocks, also a partial last block.
template <class BlockFunction, class TableLookup>
__device__ __forceinline__ void crypt_blocks(const Message& m, uint64_t first, uint64_t last,
                                             const Block<4>& counter, const uint32_t* schedule,
                                             const TableLookup& tables, uint32_t width = 16) {
#pragma unroll 1
    for (uint64_t i = first + lane_id(); i < last; i += 32) {
        const uint32_t bytes = bytes_in_block<4>(m.bytes, i);
        const Block<4> data = load_partial<4>(m.in + 16 * i, bytes, width);
        Block<4> b = add_big_endian<1>(counter, static_cast<uint32_t>(i - first));
        BlockFunction::run(b, schedule, tables);
        store_partial(m.out + 16 * i, data ^ b, bytes, width);
    }
}

// The warp's next item, from an atomic counter. The warp requests it before it processes its
// current item, which hides the latency. Items are not assigned in advance because warps differ in
// speed and the slowest would delay the end. 32 bits suffice: see max_listed_messages. More
// items of messages of one length would be terabytes of text.
class NextItem {
public:
    __device__ __forceinline__ explicit NextItem(uint32_t* items_taken) {
        if (lane_id() == 0) taken_before_ = atomicAdd(items_taken, 1);
    }
    __device__ __forceinline__ uint64_t item() const {
        return item_step() + __shfl_sync(0xffffffffu, taken_before_, 0);
    }

private:
    uint32_t taken_before_ = 0;
};

// Overwrites blocks of a message that failed authentication with zeros.
__device__ __forceinline__ void write_zeros(const Message& m, uint64_t first, uint64_t last,
                                            uint64_t step, uint32_t width) {
    for (uint64_t i = first; i < last; i += step)
        store_partial(m.out + 16 * i, Block<4>{}, bytes_in_block<4>(m.bytes, i), width);
}

// An item: a tile of a message.
struct Item {
    uint64_t index;
    Message message;
    Tile tile;
};
template <class Cipher>
__device__ __forceinline__ Item item_of(const PassJob<Cipher>& job, uint64_t number) {
    Item item;
    if (job.list == nullptr) {
        item.index = number % job.tiling.message_count;
        item.message = message_of(job.messages, item.index);
        item.tile = tile_of(job.tiling, blocks_in<4>(item.message.bytes),
                            number / job.tiling.message_count);
        return item;
    }
    const ListedTile listed = listed_tile(*job.list, number);
    item.index = listed.index;
    item.message = message_of(job.messages, item.index);
    const uint64_t blocks = blocks_in<4>(item.message.bytes), length = job.list->tile_blocks;
    const uint64_t first = listed.tile * length, last = first + length;
    const bool whole = !listed.listed;
    // Refused again: the message may have changed since it was listed.
    item.tile = {
        first, last < blocks ? last : blocks, whole,
        (whole && last < blocks) || first > blocks || job.is_refused(item.index, item.message)};
    return item;
}

template <class BlockFunction, class TableLookup>
__device__ __forceinline__ void crypt_item(const PassJob<typename BlockFunction::Cipher>& job,
                                           uint64_t number, const TableLookup& tables) {
    const auto [index, m, tile] = item_of(job, number);
    if (tile.empty) return;
    const uint32_t width = job.width(m);
    if (job.opens && !job.is_segment() && *m.status != WARPSEAL_OK)
        return write_zeros(m, tile.first + lane_id(), tile.last, 32, width);
    // Recomputed instead of stored, to save registers.
    const auto counter_of = [&](uint64_t block) {
        return modes::Gcm::mask(counter0_of(job, index, m), job.first_block + block);
    };
    uint64_t i = tile.first;
    if constexpr (Counts<typename BlockFunction::Cipher> && TableLookup::uses_tables) {
        const uint64_t whole = tile.last < m.bytes / 16 ? tile.last : m.bytes / 16;
        while (i < whole && width == 16) {
            const Block<4> counter = counter_of(i);
            const uint32_t begin = swap_bytes(counter.word[3]);
            // At most 32 values of the second-to-last byte.
            uint64_t blocks = 32 * 256 - (begin & 0xff);
            blocks = blocks < 0x10000 - (begin & 0xffff) ? blocks : 0x10000 - (begin & 0xffff);
            blocks = blocks < whole - i ? blocks : whole - i;
            crypt_counting<BlockFunction>(m.in + 16 * i, m.out + 16 * i,
                                          static_cast<uint32_t>(blocks), counter, job.key.schedule,
                                          tables);
            i += blocks;
        }
    }
    if (i < tile.last)
        crypt_blocks<BlockFunction>(m, i, tile.last, counter_of(i), job.key.schedule, tables,
                                    width);
}

// Counter mode. When opening, it runs after the tags were verified: a message that failed becomes
// zeros.
template <class BlockFunction, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_text_kernel(const __grid_constant__ PassJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    const uint64_t items = job.item_count();
    for (uint64_t item = first_item(); item < items;) {
        const NextItem next(job.items_taken);
        crypt_item<BlockFunction>(job, item, tables);
        item = next.item();
    }
}

// Counter mode for a single message, divided evenly among all blocks of the grid. Fewer
// contributions are recomputed, and memory accesses are adjacent.
template <class BlockFunction, class SharedMemoryLimit>
__global__ void __launch_bounds__(tuning::threads, 1)
    gcm_one_text_kernel(const __grid_constant__ PassJob<typename BlockFunction::Cipher> job) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Cipher = typename BlockFunction::Cipher;
    const Layout<BlockFunction, SharedMemoryLimit> tables(shared);
    if (job.messages.batch.message_count == 0) return;
    const Message m = message_of(job.messages, 0);
    const uint64_t whole = m.bytes / 16, blocks = blocks_in<4>(m.bytes),
                   thread = uint64_t{blockIdx.x} * tuning::threads + threadIdx.x;
    if (job.opens && !job.is_segment() && *m.status != WARPSEAL_OK)
        return write_zeros(m, thread, blocks, uint64_t{gridDim.x} * tuning::threads, 16);
    const Block<4> counter = modes::Gcm::mask(counter0_of(job, 0, m), job.first_block);
    count_steps<Cipher>(counter, whole, job.key.schedule, tables,
                        LineText(m.in, m.out, 16 * whole));
    if (thread < 32)
        crypt_blocks<BlockFunction>(m, whole, blocks,
                                    add_big_endian<1>(counter, static_cast<uint32_t>(whole)),
                                    job.key.schedule, tables);
}

}  // namespace warpseal::cuda
