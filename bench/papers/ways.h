// The ways of P5 to encrypt many blocks (AES-128, block after block as SP 800-38A's ECB), from one
// thread to the product's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "papers/team.h"
#include "warpseal/warpseal.h"

namespace warpseal::papers {

// Whole blocks of 16 bytes from `in` to `out`, forwards or backwards. Throws std::runtime_error if
// it fails.
using Way = std::function<void(bool encrypts, const uint8_t* in, uint8_t* out, uint64_t blocks)>;

// States that share a fork and a join, in the way that the paper's authors would take today.
constexpr int tile_states = 16384;

Way serially(const std::vector<uint8_t>& key);
// The paper's: the threads share each step of each state. At most four have something to do.
Way inside_one_state(const std::vector<uint8_t>& key, Team& team);
// The same steps, shared by the same rows and columns, of tile_states states at once.
Way inside_a_tile(const std::vector<uint8_t>& key, Team& team);
// Each thread encrypts blocks of its own, serially.
Way over_blocks(const std::vector<uint8_t>& key, Team& team);
// The product's public call on that engine, which must outlive the way.
Way by_product(const std::vector<uint8_t>& key, warpseal_engine* engine);

// Bytes of a that are not as in b, and what one has beyond the other's end.
uint64_t differing_bytes(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

// The operations that the thread with most of them counts for SubBytes, ShiftRows and MixColumns of
// one state.
struct StepCounts {
    uint64_t sub_bytes, shift_rows, mix_columns;
};
StepCounts count_operations(int threads);

}  // namespace warpseal::papers
