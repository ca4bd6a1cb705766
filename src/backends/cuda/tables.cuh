// Where table entries lie on a GPU: shared memory, with a copy for every lane in a bank of its own, so that no look-up ever waits for
// another and none takes a time that depends on data.
#pragma once

#include "backends/cuda/tuning.h"
#include "core/table.h"

namespace warpseal::cuda {

// The entries once, in device memory, from where each block makes its copies.
template <class Tables>
__device__ const TableData<Tables> stored_tables{};

// Four 16-byte lanes' worth of one entry.
__device__ __forceinline__ uint4 four_copies(uint32_t entry) { return {entry, entry, entry, entry}; }

// All tables, by address arithmetic of one instruction on either of two units, half and half. The first two share rows of 256 bytes, which
// begin at the byte looked up times 256: a byte permute with the lane's offset is the address, and the table the load's immediate offset.
// The others have rows of 128 bytes: a dot product of bytes multiplies and adds.
template <class Tables>
class WideLayout {
    static_assert(Tables::count >= 2);
    static constexpr uint32_t pair_bytes = 256 * 256, table_bytes = 256 * 128;

public:
    static constexpr uint32_t bytes = pair_bytes + (Tables::count - 2) * table_bytes;

    // By all threads of the block; ends with a barrier.
    __device__ explicit WideLayout(unsigned char* shared) : shared_(shared), lane_(4 * (threadIdx.x % 32)) {
        uint4* out = reinterpret_cast<uint4*>(shared);
        for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x) {
            const bool paired = i < pair_bytes / 16;
            const uint32_t row = paired ? i / 8 : i / 8 - pair_bytes / 128;  // of 128 bytes
            const uint32_t table = paired ? row % 2 : 2 + row / 256, entry = paired ? row / 2 : row % 256;
            out[i] = four_copies(stored_tables<Tables>.entries[table][entry]);
        }
        __syncthreads();
    }

    template <int table, int byte>
    __device__ __forceinline__ uint32_t look(uint32_t word) const {
        if constexpr (table < 2) {
            const uint32_t address = __byte_perm(word, lane_, 0x7704 | byte << 4);
            return *reinterpret_cast<const uint32_t*>(shared_ + address + table * 128);
        } else {
            const uint32_t address = __dp4a(word, 0x80u << (8 * byte), lane_);
            return *reinterpret_cast<const uint32_t*>(shared_ + address + (pair_bytes + (table - 2) * table_bytes));
        }
    }

private:
    const unsigned char* shared_;
    uint32_t lane_;
};

// Which tables are an earlier one rotated, found by comparing them.
template <class Tables>
struct Rotations {
    int stored = 0;
    int slot[Tables::count] = {};
    int left[Tables::count] = {};

    constexpr Rotations() {
        const TableData<Tables> data;
        int first[Tables::count] = {};  // of slot
        for (int t = 0; t < Tables::count; ++t) {
            slot[t] = stored;
            for (int s = 0; s < stored && slot[t] == stored; ++s)
                for (int n = 0; n < 32 && slot[t] == stored; n += 8)
                    if (same(data, t, first[s], n)) slot[t] = s, left[t] = n;
            if (slot[t] == stored) first[stored++] = t;
        }
    }

    static constexpr bool same(const TableData<Tables>& data, int table, int other, int left) {
        for (int x = 0; x < 256; ++x)
            if (data.entries[table][x] != rotate_left(data.entries[other][x], left)) return false;
        return true;
    }
};

// For GPUs with less shared memory: one copy of tables that are rotations of each other, and a byte permute after the look-up. Rows of 128
// bytes: AES takes 32 KB to encrypt, 64 KB to decrypt (compute capability 7.5 has 64 KB a block, 8.6 and 8.9 have 99).
template <class Tables>
class MergedLayout {
    static constexpr Rotations<Tables> rotations{};
    static constexpr uint32_t table_bytes = 256 * 128;

    static constexpr int table_in(int slot) {
        int t = 0;
        while (rotations.slot[t] != slot) ++t;
        return t;
    }

public:
    static constexpr uint32_t bytes = rotations.stored * table_bytes;

    __device__ explicit MergedLayout(unsigned char* shared) : shared_(shared), lane_(4 * (threadIdx.x % 32)) {
        fill<0>();
        __syncthreads();
    }

    template <int table, int byte>
    __device__ __forceinline__ uint32_t look(uint32_t word) const {
        constexpr int slot = rotations.slot[table], left = rotations.left[table];
        const uint32_t address = __dp4a(word, 0x80u << (8 * byte), lane_);
        const uint32_t entry = *reinterpret_cast<const uint32_t*>(shared_ + address + slot * table_bytes);
        if constexpr (left == 0) return entry;
        return __byte_perm(entry, entry, left == 8 ? 0x2103 : left == 16 ? 0x1032 : 0x0321);
    }

private:
    template <int slot>
    __device__ void fill() {
        constexpr int table = table_in(slot);
        uint4* out = reinterpret_cast<uint4*>(const_cast<unsigned char*>(shared_) + slot * table_bytes);
        for (uint32_t i = threadIdx.x; i < table_bytes / 16; i += blockDim.x)
            out[i] = four_copies(stored_tables<Tables>.entries[table][i / 8]);
        if constexpr (slot + 1 < rotations.stored) fill<slot + 1>();
    }

    const unsigned char* shared_;
    uint32_t lane_;
};

// For the host, which expands few keys: every entry is read for each look-up, so neither time nor addresses depend on the key.
template <class Tables>
struct ScanLayout {
    const TableData<Tables>& data;

    template <int table, int byte>
    WARPSEAL_INLINE uint32_t look(uint32_t word) const {
        const uint32_t wanted = (word >> (8 * byte)) & 0xff;
        uint32_t found = 0;
        for (uint32_t x = 0; x < 256; ++x) found |= data.entries[table][x] & (((x ^ wanted) - 1) >> 31) * 0xffffffffu;
        return found;
    }
};

}  // namespace warpseal::cuda
