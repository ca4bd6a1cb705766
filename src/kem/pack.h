// NTRU byte strings: five ternary coefficients in a byte, and coefficients of log_q bits (round-3
// specification, sections 1.8.5 to 1.8.8).
//
// The `..._group` functions process the smallest unit that starts and ends at a byte boundary, so
// that threads can share a polynomial.
#pragma once

#include "kem/poly.h"

namespace warpseal::kem {

// --- ternary

// Packs coefficients 5k to 5k + 4 into byte k, with the lowest one as the lowest digit to base 3.
// Coefficients from n - 1 on are zero.
template <const Params& set>
WARPSEAL_INLINE uint8_t pack_ternary_group(const Poly<set>& a, int k) {
    uint32_t byte = 0;
    for (int j = 4; j >= 0; --j) byte = 3 * byte + digit(a.at[5 * k + j]);
    return static_cast<uint8_t>(byte);
}

// Unpacks byte k. Quotients by 3, 9, 27 and 81 are multiplications, exact below 256. A fifth digit
// of 3 (bytes from 243) counts as 0.
template <const Params& set, int count = 5>
WARPSEAL_INLINE void unpack_ternary_group(Poly<set>& a, int k, uint8_t byte) {
    const uint32_t quotient[5] = {byte, byte * 171u >> 9, byte * 57u >> 9, byte * 19u >> 9,
                                  byte * 203u >> 14};
    WARPSEAL_UNROLL for (int j = 0; j < count; ++j) a.at[5 * k + j] = mod3(low16(quotient[j]));
}

template <const Params& set>
WARPSEAL_INLINE void pack_ternary(uint8_t* out, const Poly<set>& a) {
    for (int k = 0; k < static_cast<int>(set.ternary_bytes()); ++k)
        out[k] = pack_ternary_group<set>(a, k);
}

template <const Params& set>
WARPSEAL_INLINE void unpack_ternary(Poly<set>& a, const uint8_t* in) {
    a.at[set.n - 1] = 0;
    clear_tail<set>(a);
    constexpr int whole = (set.n - 1) / 5;
    for (int k = 0; k < whole; ++k) unpack_ternary_group<set>(a, k, in[k]);
    if constexpr (5 * whole < set.n - 1)
        unpack_ternary_group<set, (set.n - 1) % 5>(a, whole, in[whole]);
}

// --- modulo q

// Number of groups. Eight coefficients are log_q bytes; in every set the last group has four.
template <const Params& set>
constexpr int rq_groups = (set.n - 1 + 7) / 8;
template <const Params& set>
WARPSEAL_INLINE constexpr int rq_group_bytes(int group) {
    return group + 1 < rq_groups<set>
               ? set.log_q
               : static_cast<int>(set.rq_bytes()) - set.log_q * (rq_groups<set> - 1);
}

template <const Params& set>
WARPSEAL_INLINE void pack_rq_group(uint8_t* out, const Poly<set>& a, int group) {
    static_assert((set.n - 1) % 8 == 4 && 4 * set.log_q <= 56);
    constexpr uint64_t mask = (uint64_t{1} << set.log_q) - 1;
    const bool whole = group + 1 < rq_groups<set>;
    uint64_t low = 0, high = 0;
    for (int j = 3; j >= 0; --j) {
        low = low << set.log_q | (a.at[8 * group + j] & mask);
        high = high << set.log_q | (whole ? a.at[8 * group + 4 + j] & mask : 0);
    }
    uint8_t bytes[16];
    const uint64_t first = low | high << (4 * set.log_q), second = high >> (64 - 4 * set.log_q);
    for (int i = 0; i < 8; ++i) {
        bytes[i] = static_cast<uint8_t>(first >> (8 * i));
        bytes[8 + i] = static_cast<uint8_t>(second >> (8 * i));
    }
    for (int i = 0; i < set.log_q; ++i)
        if (i < rq_group_bytes<set>(group)) out[set.log_q * group + i] = bytes[i];
}

template <const Params& set>
WARPSEAL_INLINE void unpack_rq_group(Poly<set>& a, int group, const uint8_t* in) {
    constexpr uint64_t mask = (uint64_t{1} << set.log_q) - 1;
    const int bytes = rq_group_bytes<set>(group);
    uint64_t first = 0, second = 0;
    for (int i = 0; i < set.log_q; ++i) {
        const uint64_t byte = i < bytes ? in[set.log_q * group + i] : 0;
        if (i < 8)
            first |= byte << (8 * i);
        else
            second |= byte << (8 * i - 64);
    }
    uint64_t low = first, high = first >> (4 * set.log_q) | second << (64 - 4 * set.log_q);
    for (int j = 0; j < 4; ++j) {
        a.at[8 * group + j] = low16(static_cast<uint32_t>(low & mask));
        if (group + 1 < rq_groups<set>)
            a.at[8 * group + 4 + j] = low16(static_cast<uint32_t>(high & mask));
        low >>= set.log_q;
        high >>= set.log_q;
    }
}

// Packs coefficients 0 to n - 2.
template <const Params& set>
WARPSEAL_INLINE void pack_rq(uint8_t* out, const Poly<set>& a) {
    for (int group = 0; group < rq_groups<set>; ++group) pack_rq_group<set>(out, a, group);
}

// Unpacks an element of Sq: coefficient n - 1 becomes zero.
template <const Params& set>
WARPSEAL_INLINE void unpack_sq(Poly<set>& a, const uint8_t* in) {
    a.at[set.n - 1] = 0;
    clear_tail<set>(a);
    for (int group = 0; group < rq_groups<set>; ++group) unpack_rq_group<set>(a, group, in);
}

// Sets coefficient n - 1 to minus the sum of the others. The result is an element of Rq that is
// zero at 1, like public keys and ciphertexts.
template <const Params& set>
WARPSEAL_INLINE void balance(Poly<set>& a) {
    uint32_t sum = 0;
    for (int i = 0; i < set.n - 1; ++i) sum += a.at[i];
    a.at[set.n - 1] = low16(0u - sum);
}

// Returns the unused bits of the last byte. They are zero in a valid encoding.
template <const Params& set>
WARPSEAL_INLINE uint32_t spare_bits(const uint8_t* packed) {
    return uint32_t{packed[set.rq_bytes() - 1]} >> (8 - set.spare_bits());
}

}  // namespace warpseal::kem
