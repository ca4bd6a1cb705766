// Table layouts of the literature behind the interface of a table-based cipher: lookup<table,
// byte>(word).
#pragma once

#include "bench/ladder/merging.h"
#include "core/table.h"

namespace warpseal::ladder {

template <class Tables>
__device__ const TableData<Tables> global_tables{};
template <class Tables>
__constant__ const TableData<Tables> constant_tables{};
template <class Tables>
__device__ const Merging<Tables> global_merged{};

template <class Tables>
constexpr uint32_t entries_of() {
    if constexpr (requires { Tables::entries; })
        return Tables::entries;
    else
        return 256;
}

// A layout uses `bytes` of shared memory, which all threads of a block fill; the kernel's barrier
// follows.

template <class Tables>
struct InGlobal {
    static constexpr uint32_t bytes = 0;
    __device__ explicit InGlobal(unsigned char*) {}
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        return global_tables<Tables>.entries[table][word >> (8 * byte) & 0xff];
    }
};

template <class Tables>
struct InConstant {
    static constexpr uint32_t bytes = 0;
    __device__ explicit InConstant(unsigned char*) {}
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        return constant_tables<Tables>.entries[table][word >> (8 * byte) & 0xff];
    }
};

// One copy of each table: lanes that access different entries of a bank are serialized.
template <class Tables>
struct InShared {
    static constexpr uint32_t entries = entries_of<Tables>(), bytes = Tables::count * entries * 4;
    const uint32_t* tables;
    __device__ explicit InShared(unsigned char* shared)
        : tables(reinterpret_cast<uint32_t*>(shared)) {
        for (uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x)
            reinterpret_cast<uint32_t*>(shared)[i] =
                global_tables<Tables>.entries[i / entries][i % entries];
    }
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        return tables[table * entries + (word >> (8 * byte) & 0xff)];
    }
};

// One copy of each S-box as bytes, for tables that hold one S-box each. Four entries share a word,
// so that lanes which read them do not wait for each other.
template <class Tables>
struct BytesInShared {
    static constexpr Merging<Tables> merging{};
    static constexpr uint32_t bytes = 256 * static_cast<uint32_t>(merging.functions);
    const unsigned char* boxes;
    __device__ explicit BytesInShared(unsigned char* shared) : boxes(shared) {
        for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x)
            shared[i] =
                static_cast<unsigned char>(global_merged<Tables>.entries[i % 256] >> (i / 256 * 8));
    }
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        constexpr int function = merging.function_of(table);
        static_assert(function >= 0);
        constexpr uint32_t selector = merging.selector_of_byte(table);
        return __byte_perm(boxes[256 * function + (word >> (8 * byte) & 0xff)], 0, selector);
    }
};

// ---- one merged table, restored by a byte permute

template <class Tables, template <class> class Storage>
struct Merged : Storage<Tables> {
    static constexpr Merging<Tables> merging{};
    static_assert(merging.functions <= 4);
    using Storage<Tables>::Storage;
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        constexpr uint32_t selector = merging.selector[table];
        const uint32_t entry = this->entry(word >> (8 * byte) & 0xff);
        if constexpr (selector == 0x3210) return entry;
        return __byte_perm(entry, 0, selector);
    }
};

template <class Tables>
struct OnceInGlobal {
    static constexpr uint32_t bytes = 0;
    __device__ explicit OnceInGlobal(unsigned char*) {}
    __device__ __forceinline__ uint32_t entry(uint32_t x) const {
        return global_merged<Tables>.entries[x];
    }
};

template <class Tables>
struct OnceInShared {
    static constexpr uint32_t bytes = 256 * 4;
    const uint32_t* table;
    __device__ explicit OnceInShared(unsigned char* shared)
        : table(reinterpret_cast<uint32_t*>(shared)) {
        for (uint32_t x = threadIdx.x; x < 256; x += blockDim.x)
            reinterpret_cast<uint32_t*>(shared)[x] = global_merged<Tables>.entries[x];
    }
    __device__ __forceinline__ uint32_t entry(uint32_t x) const { return table[x]; }
};

// One copy for each lane of a warp, bank-conflict-free.
template <class Tables>
struct CopiesInShared {
    static constexpr uint32_t bytes = 256 * 32 * 4;
    const uint32_t* lane;
    __device__ explicit CopiesInShared(unsigned char* shared)
        : lane(reinterpret_cast<uint32_t*>(shared) + threadIdx.x % 32) {
        for (uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x)
            reinterpret_cast<uint32_t*>(shared)[i] = global_merged<Tables>.entries[i / 32];
    }
    __device__ __forceinline__ uint32_t entry(uint32_t x) const { return lane[32 * x]; }
};

// ---- one copy of all tables for each lane, with several address computations

// Rows of 128 bytes with an entry for each lane; tables one after the other.
template <class Tables>
struct Rows128 {
    static constexpr uint32_t entries = entries_of<Tables>(), bytes = Tables::count * entries * 128;
    static constexpr uint32_t offset(int table) {
        return static_cast<uint32_t>(table) * entries * 128;
    }
    static constexpr uint32_t table_of(uint32_t row) { return row / entries; }
    static constexpr uint32_t entry_of(uint32_t row) { return row % entries; }
};
// Two tables side by side in rows of 256 bytes, so that an entry's offset is its index times 256.
template <class Tables>
struct Rows256 {
    static_assert(Tables::count % 2 == 0);
    static constexpr uint32_t entries = entries_of<Tables>(), bytes = Tables::count * entries * 128;
    static constexpr uint32_t offset(int table) {
        return static_cast<uint32_t>(table) / 2 * entries * 256 +
               static_cast<uint32_t>(table) % 2 * 128;
    }
    static constexpr uint32_t table_of(uint32_t row) { return row / (2 * entries) * 2 + row % 2; }
    static constexpr uint32_t entry_of(uint32_t row) { return row / 2 % entries; }
};

// The first two tables side by side, the others one after the other.
template <class Tables>
struct RowsOfBoth {
    static constexpr uint32_t entries = entries_of<Tables>(), bytes = Tables::count * entries * 128;
    static constexpr uint32_t offset(int table) {
        return static_cast<uint32_t>(table) * (table < 2 ? 128 : entries * 128);
    }
    static constexpr uint32_t table_of(uint32_t row) {
        return row < 2 * entries ? row % 2 : row / entries;
    }
    static constexpr uint32_t entry_of(uint32_t row) {
        return row < 2 * entries ? row / 2 : row % entries;
    }
};

struct ShiftAndMask {
    template <class Tables>
    using Rows = Rows128<Tables>;
    template <int, int byte>
    __device__ __forceinline__ static uint32_t address(uint32_t word, uint32_t lane) {
        const uint32_t shifted = byte == 0 ? word << 7 : word >> (byte == 0 ? 0 : 8 * byte - 7);
        return (shifted & 0x7f80) | lane;
    }
};
struct DotProduct {
    template <class Tables>
    using Rows = Rows128<Tables>;
    template <int, int byte>
    __device__ __forceinline__ static uint32_t address(uint32_t word, uint32_t lane) {
        return __dp4a(word, 0x80u << (8 * byte), lane);
    }
};
struct BytePermute {
    template <class Tables>
    using Rows = Rows256<Tables>;
    template <int, int byte>
    __device__ __forceinline__ static uint32_t address(uint32_t word, uint32_t lane) {
        return __byte_perm(word, lane, 0x7704 | byte << 4);
    }
};

struct PermuteOrDot {
    template <class Tables>
    using Rows = RowsOfBoth<Tables>;
    template <int table, int byte>
    __device__ __forceinline__ static uint32_t address(uint32_t word, uint32_t lane) {
        if constexpr (table < 2)
            return BytePermute::address<table, byte>(word, lane);
        else
            return DotProduct::address<table, byte>(word, lane);
    }
};

template <class Tables, class Address>
struct Copies {
    using Rows = typename Address::template Rows<Tables>;
    static constexpr uint32_t bytes = Rows::bytes;
    const unsigned char* shared;
    uint32_t lane;  // offset of its bank in a row
    __device__ explicit Copies(unsigned char* memory)
        : shared(memory), lane(4 * (threadIdx.x % 32)) {
        for (uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x)
            reinterpret_cast<uint32_t*>(memory)[i] =
                global_tables<Tables>.entries[Rows::table_of(i / 32)][Rows::entry_of(i / 32)];
    }
    template <int table, int byte>
    __device__ __forceinline__ uint32_t lookup(uint32_t word) const {
        return *reinterpret_cast<const uint32_t*>(
            shared + Address::template address<table, byte>(word, lane) + Rows::offset(table));
    }
};

}  // namespace warpseal::ladder
