// NTRU sampling from given coins (round-3 specification, section 1.10): independent ternary
// coefficients, and polynomials of fixed weight.
#pragma once

#include "kem/poly.h"

namespace warpseal::kem {

// Returns a byte of coins modulo 3.
WARPSEAL_INLINE constexpr uint16_t sample_trit(uint8_t coin) { return mod3(coin); }

template <const Params& set>
WARPSEAL_INLINE void sample_iid(Poly<set>& a, const uint8_t* coins) {
    for (int i = 0; i < set.n - 1; ++i) a.at[i] = sample_trit(coins[i]);
    a.at[set.n - 1] = 0;
    clear_tail<set>(a);
}

// Returns sort key i, a signed number: bits 30 i to 30 i + 29 of the coins, above the residue of
// index i.
template <const Params& set>
WARPSEAL_INLINE int32_t sort_key(const uint8_t* coins, int i) {
    static_assert(set.fixed_coins() * 8 == 30 * (static_cast<size_t>(set.n) - 1));
    // `shift` is 0, 2, 4 or 6; the 30 bits from there lie in four or five bytes.
    const int byte = 30 * i / 8, shift = 30 * i % 8;
    const uint64_t bits =
        load_le32(coins + byte) | (shift > 2 ? uint64_t{coins[byte + 4]} << 32 : 0);
    const uint32_t residue = i < set.weight() ? 1 : i < 2 * set.weight() ? 2 : 0;
    return static_cast<int32_t>(static_cast<uint32_t>(bits >> shift) << 2 | residue);
}

template <const Params& set>
WARPSEAL_INLINE void sort_keys(int32_t* keys, const uint8_t* coins) {
    for (int i = 0; i < set.n - 1; ++i) keys[i] = sort_key<set>(coins, i);
}

// Number of words that a sort may use: the next power of two.
template <const Params& set>
constexpr int sort_capacity = set.n <= 512    ? 512
                              : set.n <= 1024 ? 1024
                                              : 2048;

// Returns the coefficient of a sorted key.
template <const Params& set>
WARPSEAL_INLINE uint16_t sorted_trit(int32_t key) {
    return trit(static_cast<uint32_t>(key) & 3);
}

}  // namespace warpseal::kem
