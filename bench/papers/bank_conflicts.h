// Bank conflicts of the lookups of one warp, computed on the host: the lanes run Camellia-128 on
// consecutive counters, and each lookup is one access of 32 lanes to shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpseal::papers {

// Shared memory has 32 banks of words of 32 bits; word w lies in bank w % 32. An access takes as
// many wavefronts as its fullest bank has different words to read.
inline constexpr uint32_t banks = 32;

// Index of the word that a lane reads for entry x of a table, by layout. The test of the layouts
// compares these with the device code.
struct ByteTablesPlacement {
    static constexpr uint32_t word(uint32_t table, uint32_t x, uint32_t) {
        return (256 * table + x) / 4;
    }
};
struct WordTablesPlacement {
    static constexpr uint32_t word(uint32_t table, uint32_t x, uint32_t) { return 256 * table + x; }
};
struct MergedPlacement {
    static constexpr uint32_t word(uint32_t, uint32_t x, uint32_t) { return x; }
};
struct MergedCopiesPlacement {
    static constexpr uint32_t word(uint32_t, uint32_t x, uint32_t lane) { return banks * x + lane; }
};

struct BankConflicts {
    double mean;  // wavefronts of a lookup
    unsigned most;
};

// `layout`: the end of a step's name, e.g. "merged-copies". Returns none if its tables are not in
// shared memory.
std::optional<BankConflicts> bank_conflicts(std::string_view layout);

}  // namespace warpseal::papers
