// SHA3-256 (FIPS 202) by the lanes of a warp, each with one word of the state. P4 (5.3) expects a
// gain from it and leaves it open. Also compiles for the host.
//
// A Warp has the types Word and Number, a value for each lane, and these functions:
//   numbers(f), words(f)    f(lane) for each lane
//   from(word, number)      the word of the lane with that number
//   rotate(word, number)    the word rotated left
//   each(word, f)           calls f(lane, word) for each lane
#pragma once

#include "kem/keccak.h"

namespace warpseal::ladder {

inline constexpr int warp_lanes = 32, state_words = 25;

// Rotations of rho (FIPS 202, algorithm 2) by lane x + 5y. Lanes from 25 on are idle.
struct LaneRotations {
    int of[warp_lanes];
};
constexpr LaneRotations lane_rotations() {
    LaneRotations made{};
    int x = 1, y = 0;
    for (int t = 0; t < 24; ++t) {
        made.of[x + 5 * y] = (t + 1) * (t + 2) / 2 % 64;
        const int next = (2 * x + 3 * y) % 5;
        x = y, y = next;
    }
    return made;
}

// One permutation. A lane's sources do not depend on data.
template <class Warp>
class KeccakByLanes {
public:
    using Word = typename Warp::Word;
    using Number = typename Warp::Number;

    WARPSEAL_INLINE KeccakByLanes(const Warp& warp, const int (&rotations)[warp_lanes])
        : warp_(warp),
          rotation_(warp.numbers([&](int lane) { return rotations[lane]; })),
          one_(warp.numbers([](int) { return 1; })),
          above_{above(warp, 1), above(warp, 2), above(warp, 3), above(warp, 4)},
          left_(beside(warp, 4)),
          right_(beside(warp, 1)),
          second_right_(beside(warp, 2)),
          moved_(warp.numbers([](int lane) {
              return lane < state_words ? (lane % 5 + 3 * (lane / 5)) % 5 + 5 * (lane % 5) : lane;
          })) {}

    WARPSEAL_INLINE Word permute(Word state,
                                 const uint64_t (&constants)[kem::keccak::rounds]) const {
#pragma unroll 1
        for (int round = 0; round < kem::keccak::rounds; ++round) {
            Word column = state;
            WARPSEAL_UNROLL
            for (int k = 0; k < 4; ++k) column = column ^ warp_.from(state, above_[k]);
            state =
                state ^ warp_.from(column, left_) ^ warp_.rotate(warp_.from(column, right_), one_);
            const Word moved = warp_.from(warp_.rotate(state, rotation_), moved_);
            state = moved ^ (~warp_.from(moved, right_) & warp_.from(moved, second_right_));
            state = state ^ warp_.words([&](int lane) { return lane == 0 ? constants[round] : 0; });
        }
        return state;
    }

private:
    // The word `rows` rows further, and the one `columns` columns further in the same row.
    WARPSEAL_INLINE static Number above(const Warp& warp, int rows) {
        return warp.numbers(
            [=](int lane) { return lane < state_words ? (lane + 5 * rows) % state_words : lane; });
    }
    WARPSEAL_INLINE static Number beside(const Warp& warp, int columns) {
        return warp.numbers([=](int lane) {
            return lane < state_words ? lane / 5 * 5 + (lane % 5 + columns) % 5 : lane;
        });
    }

    const Warp& warp_;
    const Number rotation_, one_, above_[4], left_, right_, second_right_, moved_;
};

// SHA3-256 of a padded message, by a whole warp. `message` must be aligned to 8 bytes.
template <class Warp>
WARPSEAL_INLINE void sha3_256_by_lanes(const Warp& warp, uint8_t* digest, const uint8_t* message,
                                       size_t padded_bytes, const int (&rotations)[warp_lanes],
                                       const uint64_t (&constants)[kem::keccak::rounds]) {
    constexpr int rate_words = kem::keccak::rate / 8, digest_words = 4;
    const KeccakByLanes<Warp> keccak(warp, rotations);
    const auto* bytes = static_cast<const uint8_t*>(__builtin_assume_aligned(message, 8));
    auto state = warp.words([](int) { return uint64_t{0}; });
    for (size_t at = 0; at < padded_bytes; at += kem::keccak::rate) {
        state = state ^ warp.words([&](int lane) {
            uint64_t word = 0;
            if (lane < rate_words) memcpy(&word, bytes + at + 8 * lane, 8);
            return word;
        });
        state = keccak.permute(state, constants);
    }
    warp.each(state, [&](int lane, uint64_t word) {
        if (lane < digest_words) memcpy(digest + 8 * lane, &word, 8);
    });
}

}  // namespace warpseal::ladder
