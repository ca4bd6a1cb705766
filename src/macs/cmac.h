// CMAC: SP 800-38B, for blocks of 64 and 128 bits; and the plain sum under it, which CCM uses as
// well.
#pragma once

#include "core/block.h"

namespace warpseal::macs {

// The CBC-MAC chain: see modes/cbc.h. Nothing leaves it; its last state is the sum.
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

// Times x in the field of the block, read as a big-endian number (6.1 step 2), in constant time.
template <int n>
WARPSEAL_INLINE constexpr Block<n> double_block(const Block<n>& b) {
    constexpr uint32_t polynomial = n == 4 ? 0x87 : 0x1b;  // 5.3
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

// The last block as it enters the sum (6.2 step 4): b, of which `bytes` bytes are there and the
// others zero, padded and masked by a subkey.
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
