// CCM: the formatting of SP 800-38C appendix A.2 and A.3. The text is encrypted with CTR and
// authenticated with the CBC-MAC of macs/cmac.h.
#pragma once

#include "core/block.h"

namespace warpseal::modes::ccm {

// Returns B0: flags, nonce (7 to 13 bytes) and the payload's length in the remaining bytes.
WARPSEAL_INLINE Block<4> first_block(const uint8_t* nonce, uint32_t nonce_bytes, uint32_t tag_bytes,
                                     bool has_aad, uint64_t text_bytes) {
    const uint32_t length_bytes = 15 - nonce_bytes;
    uint8_t b[16] = {};
    b[0] =
        static_cast<uint8_t>((has_aad ? 64u : 0u) | (tag_bytes - 2) / 2 << 3 | (length_bytes - 1));
    for (uint32_t i = 0; i < 15; ++i)
        b[1 + i] = i < nonce_bytes ? nonce[i]
                   : i < 7         ? uint8_t{0}
                                   : static_cast<uint8_t>(text_bytes >> (8 * (14 - i)));
    return load_block<4>(b);
}

// Returns Ctr0, whose encryption is XORed with the tag. Block i of the text uses Ctr(i + 1), which
// is Ctr0 + i + 1 as a big-endian number.
WARPSEAL_INLINE Block<4> first_counter(const uint8_t* nonce, uint32_t nonce_bytes) {
    uint8_t b[16] = {};
    b[0] = static_cast<uint8_t>(14 - nonce_bytes);
    for (uint32_t i = 0; i < nonce_bytes; ++i) b[1 + i] = nonce[i];
    return load_block<4>(b);
}

// Encodes the length of the associated data, which precedes it unless it is empty. Returns the size
// of the encoding: 2, 6 or 10 bytes.
constexpr uint32_t longest_length = 10;
WARPSEAL_INLINE uint32_t encode_length(uint64_t aad_bytes, uint8_t (&out)[longest_length]) {
    const uint32_t bytes = aad_bytes < 0xff00     ? 2
                           : aad_bytes >> 32 == 0 ? 4
                                                  : 8,
                   marks = bytes == 2 ? 0 : 2;
    out[0] = 0xff;
    out[1] = bytes == 8 ? 0xff : 0xfe;
    for (uint32_t i = 0; i < bytes; ++i)
        out[marks + i] = static_cast<uint8_t>(aad_bytes >> (8 * (bytes - 1 - i)));
    return marks + bytes;
}

}  // namespace warpseal::modes::ccm
