// CMAC (SP 800-38B) for blocks of 64 and 128 bits, and CBC-MAC, which CCM also uses.
#pragma once

#include "core/block.h"

namespace warpseal::macs {

// CBC-MAC as a chain mode, see modes/cbc.h. It has no output; the last state is the MAC.
struct CbcMac {
    template <class B>
    WARPSEAL_INLINE static constexpr B before(const B& data, const B& state) {
        return data ^ state;
    }
    template <class B>
    WARPSEAL_INLINE static constexpr B next(const B&, const B& out) {
        return out;
    }
};

namespace cmac {

// Returns b times x in the field of the block, as a big-endian number (6.1 step 2), in constant
// time.
template <int n>
WARPSEAL_INLINE constexpr Block<n> double_block(const Block<n>& b) {
    constexpr uint32_t polynomial = n == 4 ? 0x87 : 0x1b;  // SP 800-38B 5.3
    Block<n> r{};
    uint32_t carry = swap_bytes(b.word[0]) >> 31;
    carry = (0 - carry) & polynomial;
    for (int i = n - 1; i >= 0; --i) {
        const uint32_t word = swap_bytes(b.word[i]);
        r.word[i] = swap_bytes(i == n - 1 ? word << 1 ^ carry
                                          : word << 1 | swap_bytes(b.word[(i + 1) % n]) >> 31);
    }
    return r;
}

// Returns the last block as CBC-MAC takes it (6.2 step 4): padded, and XORed with a subkey. b has
// `bytes` bytes; the others must be zero.
template <int n>
WARPSEAL_INLINE constexpr Block<n> last_block(Block<n> b, uint32_t bytes,
                                              const Block<n>& encrypted_zero) {
    Block<n> subkey = double_block(encrypted_zero);
    if (bytes != Block<n>::bytes) {
        subkey = double_block(subkey);
        for (uint32_t i = 0; i < n; ++i)
            b.word[i] |= i == bytes / 4 ? 0x80u << (8 * (bytes % 4)) : 0;
    }
    return b ^ subkey;
}

}  // namespace cmac
}  // namespace warpseal::macs
