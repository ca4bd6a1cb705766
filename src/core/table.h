// Tables: a cipher names a table and a byte of a word; a layout defines where the entry is stored.
#pragma once

#include "core/word.h"

namespace warpseal {

template <class... T>
struct List {};

// All tables of a cipher and direction, computed at compile time.
template <class Tables>
struct TableData {
    uint32_t entries[Tables::count][256] = {};
    constexpr TableData() { Tables::fill(entries); }
};

// The simplest layout, for the host: an array. Its addresses depend on the data, so it must only be
// used in tests of the GPU's code, not with real keys.
template <class Tables>
struct ArrayLayout {
    const TableData<Tables>& data;
    template <int table, int byte>
    WARPSEAL_INLINE uint32_t lookup(uint32_t word) const {
        return data.entries[table][(word >> (8 * byte)) & 0xff];
    }
};

}  // namespace warpseal
