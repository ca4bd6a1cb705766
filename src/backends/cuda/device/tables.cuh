// Table layouts in shared memory. Each lane has its own bank-conflict-free copy, so that the time
// of a table lookup does not depend on data.
#pragma once

#include "backends/cuda/host/tuning.h"
#include "core/table.h"

namespace warpseal::cuda {

// One copy of the entries in device memory, from which each block fills its shared memory.
template <class Tables>
__device__ const TableData<Tables> stored_tables{};

// Number of entries of each table: 256, or what the cipher declares if an index has fewer bits.
template <class Tables>
constexpr uint32_t entries_of() {
    if constexpr (requires { Tables::entries; })
        return Tables::entries;
    else
        return 256;
}

// One entry for four lanes, 16 bytes.
__device__ __forceinline__ uint4 four_copies(uint32_t entry) {
    return {entry, entry, entry, entry};
}

// Returns a lane's 32-bit address in shared memory. It includes the start of the tables, so that
// adding an index to it gives the address in one instruction.
__device__ __forceinline__ uint32_t lane_offset(const unsigned char* shared) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + 4 * (threadIdx.x % 32);
}
__device__ __forceinline__ uint32_t read_shared(uint32_t address) {
    return *static_cast<const uint32_t*>(__cvta_shared_to_generic(address));
}

// All tables, in rows of 128 bytes: one entry for each of 32 lanes. A dot product selects the index
// byte, multiplies it by 128 and adds the lane's offset. An address is thus one multiplier
// instruction, and the multiplier has little other work. The table is the load's immediate offset.
template <class Tables>
class WideLayout {
    static constexpr uint32_t entries = entries_of<Tables>(), table_bytes = entries * 128;

public:
    static constexpr bool uses_tables = true;
    static constexpr uint32_t bytes = Tables::count * table_bytes;

    // Called by all threads of the block; ends with a barrier.
    __device__ explicit WideLayout(unsigned char* shared) : lane_(lane_offset(shared)) {
        uint4* out = reinterpret_cast<uint4*>(shared);
        for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
            out[i] = four_copies(stored_tables<Tables>.entries[i / 8 / entries][i / 8 % entries]);
        __syncthreads();
    }

    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        return read_shared(__dp4a(word, 0x80u << (8 * byte), lane_) + table * table_bytes);
    }

private:
    uint32_t lane_;
};

// Compression of the tables. A table may be a rotation of an earlier one, or hold a single byte,
// repeated in the bytes of its mask. The constructor finds these cases by comparing tables.
template <class Tables>
struct MergedTables {
    uint32_t bytes = 0;
    uint32_t offset[Tables::count] = {};
    int rotation[Tables::count] = {};   // left rotation from the stored table
    uint32_t mask[Tables::count] = {};  // 0, or for a table of bytes a 1 in each byte that holds it

    constexpr MergedTables() {
        const TableData<Tables> data;
        for (int t = 0; t < Tables::count; ++t) {
            mask[t] = mask_of(data.entries[t]);
            bool found = false;
            for (int s = 0; s < t && !found; ++s)
                for (int n = 0; n < 32 && !found; n += 8)
                    if ((mask[t] != 0) == (mask[s] != 0) && rotation[s] == 0 && same(data, t, s, n))
                        offset[t] = offset[s], rotation[t] = mask[t] != 0 ? 0 : n, found = true;
            if (!found)
                offset[t] = bytes,
                bytes += mask[t] != 0 ? entries_of<Tables>() * 32 : entries_of<Tables>() * 128;
        }
    }

    static constexpr uint32_t byte_at(uint32_t mask, uint32_t entry) {
        int shift = 0;
        while ((mask >> shift & 1) == 0) shift += 8;
        return entry >> shift & 0xff;
    }

private:
    static constexpr uint32_t mask_of(const uint32_t (&entries)[256]) {
        uint32_t used = 0;
        for (uint32_t i = 0; i < entries_of<Tables>(); ++i)
            for (int b = 0; b < 4; ++b)
                if (entries[i] >> (8 * b) & 0xff) used |= 1u << (8 * b);
        for (uint32_t i = 0; i < entries_of<Tables>(); ++i)
            if (used == 0 || entries[i] != used * byte_at(used, entries[i])) return 0;
        return used;
    }
    constexpr bool same(const TableData<Tables>& data, int table, int other, int left) const {
        for (uint32_t x = 0; x < entries_of<Tables>(); ++x) {
            const uint32_t a = data.entries[table][x], b = data.entries[other][x];
            if (mask[table] != 0 ? byte_at(mask[table], a) != byte_at(mask[other], b)
                                 : a != rotate_left(b, left))
                return false;
        }
        return true;
    }
};

// For GPUs with less shared memory. Tables that are rotations of each other share one copy, and the
// table lookup ends with a byte permutation. Tables of bytes store four bytes in a word; a
// permutation selects one and puts it in position. AES takes 32 KB to encrypt and 40 KB to decrypt.
// Compute capability 7.5 has 64 KB for a block; 8.6, 8.9 and 12.0 have 99 KB.
template <class Tables>
class MergedLayout {
    static constexpr MergedTables<Tables> merged{};

public:
    static constexpr bool uses_tables = true;
    static constexpr uint32_t bytes = merged.bytes;

    __device__ explicit MergedLayout(unsigned char* shared) : lane_(lane_offset(shared)) {
        fill<0>(shared);
        __syncthreads();
    }

    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        constexpr uint32_t offset = merged.offset[table], mask = merged.mask[table];
        if constexpr (mask != 0) {
            const uint32_t x = word >> (8 * byte) & 0xff;
            const uint32_t four = read_shared(x / 4 * 128 + lane_ + offset);
            constexpr uint32_t nibbles =
                (mask & 1) | (mask >> 4 & 0x10) | (mask >> 8 & 0x100) | (mask >> 12 & 0x1000);
            return __byte_perm(four, 0, (x & 3) * nibbles | 4 * (nibbles ^ 0x1111));
        } else {
            constexpr int left = merged.rotation[table];
            const uint32_t entry = read_shared(__dp4a(word, 0x80u << (8 * byte), lane_) + offset);
            if constexpr (left == 0) return entry;
            return __byte_perm(entry, entry, left == 8 ? 0x2103 : left == 16 ? 0x1032 : 0x0321);
        }
    }

private:
    template <int table>
    __device__ void fill(unsigned char* shared) {
        constexpr uint32_t offset = merged.offset[table], mask = merged.mask[table],
                           entries = entries_of<Tables>();
        constexpr bool first = table == 0 || is_new(table);
        if constexpr (first) {
            uint4* out = reinterpret_cast<uint4*>(shared + offset);
            const uint32_t(&from)[256] = stored_tables<Tables>.entries[table];
            for (uint32_t i = threadIdx.x; i < entries * (mask != 0 ? 32 : 128) / 16;
                 i += blockDim.x) {
                uint32_t entry = from[i / 8];
                if constexpr (mask != 0) {
                    entry = 0;
                    for (int b = 0; b < 4; ++b)
                        entry |= MergedTables<Tables>::byte_at(mask, from[i / 8 * 4 + b])
                                 << (8 * b);
                }
                out[i] = four_copies(entry);
            }
        }
        if constexpr (table + 1 < Tables::count) fill<table + 1>(shared);
    }
    static constexpr bool is_new(int table) {
        for (int s = 0; s < table; ++s)
            if (merged.offset[s] == merged.offset[table]) return false;
        return true;
    }

    uint32_t lane_;
};

// For representations without tables, or if no layout fits.
class NoLayout {
public:
    static constexpr bool uses_tables = false;
    static constexpr uint32_t bytes = 0;
    WARPSEAL_INLINE explicit NoLayout(unsigned char*) {}
};

// For the host, which expands few keys. Each table lookup reads every entry, so that neither time
// nor addresses depend on the key.
template <class Tables>
struct ScanLayout {
    static constexpr bool uses_tables = true;
    const TableData<Tables>& data;

    template <int table, int byte>
    WARPSEAL_INLINE uint32_t lookup(uint32_t word) const {
        return scan(data.entries[table], (word >> (8 * byte)) & 0xff);
    }

private:
    // Host and device, as the block functions are: nvcc rejects their calls to host-only functions.
    __host__ __device__ __attribute__((noinline)) static uint32_t scan(
        const uint32_t (&entries)[256], uint32_t wanted) {
        uint32_t found = 0;
        for (uint32_t x = 0; x < entries_of<Tables>(); ++x)
            found |= entries[x] & (((x ^ wanted) - 1) >> 31) * 0xffffffffu;
        return found;
    }
};

}  // namespace warpseal::cuda
