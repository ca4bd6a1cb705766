// XTS (IEEE 1619 and SP 800-38E) as a sweep: the tweak is XORed before and after the cipher.
#pragma once

#include "core/block.h"

namespace warpseal::modes {

// A sweep mode, see ecb.h. The tweak of block i of a data unit is the unit's number, encrypted
// under the second half of the key, times x^i.
struct Xts {
    static constexpr bool has_iv = true;
    static constexpr bool keystream = false;
    static constexpr bool takes_previous = false;

    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B& tweak) {
        return data ^ tweak;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B after(const B&, const B& tweak, const B& out) {
        return out ^ tweak;
    }
};

// Returns a tweak times x^n, 0 < n <= 32, modulo x^128 + x^7 + x^2 + x + 1. The block is a number,
// least significant byte first.
WARPSEAL_INLINE constexpr Block<4> advance_tweak(const Block<4>& t, int n) {
    const uint64_t over = uint64_t{t.word[3]} >> (32 - n);
    const uint64_t folded = over ^ over << 1 ^ over << 2 ^ over << 7;
    Block<4> r{};
    for (int i = 3; i > 0; --i)
        r.word[i] = static_cast<uint32_t>((uint64_t{t.word[i]} << 32 | t.word[i - 1]) >> (32 - n));
    r.word[0] = static_cast<uint32_t>(uint64_t{t.word[0]} << n) ^ static_cast<uint32_t>(folded);
    r.word[1] ^= static_cast<uint32_t>(folded >> 32);
    return r;
}

// Returns the number of data unit i after `first`, as a block: least significant byte first, modulo
// 2^128.
WARPSEAL_INLINE constexpr Block<4> unit_number(Block<4> first, uint64_t i) {
    uint64_t carry = i;
    for (int k = 0; k < 4; ++k) {
        const uint64_t sum = uint64_t{first.word[k]} + (carry & 0xffffffffu);
        first.word[k] = static_cast<uint32_t>(sum);
        carry = (carry >> 32) + (sum >> 32);
    }
    return first;
}

}  // namespace warpseal::modes
