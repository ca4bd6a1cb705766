// P5's methods of encrypting many blocks (AES-128 in ECB, SP 800-38A), from one thread to the
// product.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/papers/team.h"
#include "warpseal/warpseal.h"

namespace warpseal::papers {

// Encrypts or decrypts whole blocks of 16 bytes from `in` to `out`. Throws std::runtime_error on
// failure.
using Method = std::function<void(bool encrypts, const uint8_t* in, uint8_t* out, uint64_t blocks)>;

// Number of states that share a fork and a join, as the paper's authors might choose today.
constexpr int tile_states = 16384;

Method serially(const std::vector<uint8_t>& key);
// The same without SubBytes, ShiftRows and MixColumns, which the paper runs in parallel: the part
// of AES that stays serial. Its output is no ciphertext.
Method round_keys_alone(const std::vector<uint8_t>& key);
// The paper's method: threads share each step of each state. At most four threads have work.
Method inside_one_state(const std::vector<uint8_t>& key, Team& team);
// The same steps, divided by the same rows and columns, for tile_states states at once.
Method inside_a_tile(const std::vector<uint8_t>& key, Team& team);
// Each thread encrypts its own blocks serially.
Method over_blocks(const std::vector<uint8_t>& key, Team& team);
// Uses the public API on `engine`, which must outlive the result.
Method by_product(const std::vector<uint8_t>& key, warpseal_engine* engine);

// Returns the number of bytes that differ, including the excess of the longer vector.
uint64_t differing_bytes(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

// Returns the number of blocks of 16 bytes that differ. Both have the same length.
uint64_t differing_blocks(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

// Operations of one state for SubBytes, ShiftRows and MixColumns, counted on the busiest thread.
struct StepCounts {
    uint64_t sub_bytes, shift_rows, mix_columns;
};
StepCounts count_operations(int threads);

}  // namespace warpseal::papers
