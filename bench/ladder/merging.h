// Merges tables that consist of few functions of a byte into one: byte k of entry x is f_k(x), and
// a byte permute restores the rest.
#pragma once

#include "core/table.h"

namespace warpseal::ladder {

// Camellia's and ARIA's tables hold their four S-boxes; AES's hold 1, 2 and 3 times its S-box. The
// functions are found by comparing the tables' bytes.
template <class Tables>
struct Merging {
    uint32_t entries[256] = {};
    uint16_t selector[Tables::count] = {};  // selector of the byte permute of an entry and zero
    int functions = 0;                      // More than four do not fit.

    constexpr Merging() {
        const TableData<Tables> data;
        for (int t = 0; t < Tables::count; ++t)
            for (int b = 0; b < 4; ++b)
                selector[t] =
                    static_cast<uint16_t>(selector[t] | position_of(data.entries[t], b) << (4 * b));
    }

    // Returns the only function that a table holds in its nonzero bytes, or -1 if there are more.
    constexpr int function_of(int table) const {
        int found = -1;
        for (int b = 0; b < 4; ++b) {
            const int k = selector[table] >> (4 * b) & 15;
            if (k == zero) continue;
            if (found >= 0 && found != k) return -1;
            found = k;
        }
        return found;
    }
    // Returns the selector that permutes a value of that function in byte 0, and zero, to an entry.
    constexpr uint32_t selector_of_byte(int table) const {
        uint32_t made = 0;
        for (int b = 0; b < 4; ++b)
            if ((selector[table] >> (4 * b) & 15) == zero) made |= uint32_t{zero} << (4 * b);
        return made;
    }

private:
    static constexpr int zero = 4;  // position of the first byte of the second operand
    static constexpr uint32_t byte_of(uint32_t word, int b) { return word >> (8 * b) & 0xff; }
    constexpr int position_of(const uint32_t (&table)[256], int b) {
        if (same(table, b, zero)) return zero;
        int k = 0;
        while (k < functions && !same(table, b, k)) ++k;
        if (k < functions || ++functions > 4) return k;
        for (int x = 0; x < 256; ++x) entries[x] |= byte_of(table[x], b) << (8 * k);
        return k;
    }
    constexpr bool same(const uint32_t (&table)[256], int b, int k) const {
        for (int x = 0; x < 256; ++x)
            if (byte_of(table[x], b) != (k == zero ? 0 : byte_of(entries[x], k))) return false;
        return true;
    }
};

}  // namespace warpseal::ladder
