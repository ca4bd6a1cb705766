// Simulates the shared-memory accesses of a warp that runs Camellia-128 in counter mode.
#include "bench/papers/bank_conflicts.h"

#include <algorithm>
#include <vector>

#include "ciphers/camellia.h"
#include "core/bitsliced_byte.h"
#include "core/block.h"

namespace warpseal::papers {
namespace {

using Cipher = ciphers::camellia::Camellia<128>;
using Tables = Cipher::EncryptTables;

constexpr TableData<Tables> table_data{};

// Looks entries up on the host and records the word that the lane reads on a GPU.
template <class Placement>
struct RecordingLayout {
    uint32_t lane;
    std::vector<uint32_t>& words;

    template <int table, int byte>
    uint32_t lookup(uint32_t word) const {
        const uint32_t x = word >> (8 * byte) & 0xff;
        words.push_back(Placement::word(table, x, lane));
        return table_data.entries[table][x];
    }
};

// Wavefronts of one access, from the words of all lanes.
unsigned wavefronts(std::vector<uint32_t> words) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    unsigned in_bank[banks] = {};
    for (const uint32_t word : words) ++in_bank[word % banks];
    return *std::max_element(in_bank, in_bank + banks);
}

template <class Placement>
BankConflicts simulate() {
    constexpr uint32_t warps = 256;
    uint32_t schedule[Cipher::schedule_words];
    Cipher::expand(schedule, Cipher::known().key, WordSubstitution{});
    uint64_t all = 0, lookups = 0;
    unsigned most = 0;
    for (uint32_t warp = 0; warp < warps; ++warp) {
        std::vector<uint32_t> words[banks];  // of each lane, in the order of its lookups
        for (uint32_t lane = 0; lane < banks; ++lane) {
            Block<4> counter{};
            counter = add_big_endian<4>(counter, banks * warp + lane);
            Cipher::encrypt(counter.word, schedule, RecordingLayout<Placement>{lane, words[lane]});
        }
        for (size_t i = 0; i < words[0].size(); ++i, ++lookups) {
            std::vector<uint32_t> access;
            for (const auto& of_lane : words) access.push_back(of_lane[i]);
            const unsigned now = wavefronts(std::move(access));
            all += now;
            most = std::max(most, now);
        }
    }
    return {static_cast<double>(all) / static_cast<double>(lookups), most};
}

}  // namespace

std::optional<BankConflicts> bank_conflicts(std::string_view layout) {
    if (layout == "byte-tables") return simulate<ByteTablesPlacement>();
    if (layout == "word-tables") return simulate<WordTablesPlacement>();
    if (layout == "merged") return simulate<MergedPlacement>();
    if (layout == "merged-copies") return simulate<MergedCopiesPlacement>();
    return std::nullopt;
}

}  // namespace warpseal::papers
