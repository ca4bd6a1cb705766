// Counter mode of GCM: GCTR of SP 800-38D section 6.5 after J0, and the length limits of section
// 5.2.1.1. GHASH is in macs/ghash.h.
#pragma once

#include "modes/ctr.h"

namespace warpseal::modes {

// Maximum length in bytes of the text of a message, and of its IV and its AAD.
inline constexpr uint64_t gcm_max_text_bytes = (uint64_t{1} << 36) - 32;
inline constexpr uint64_t gcm_max_iv_bytes = (uint64_t{1} << 61) - 1;
inline constexpr uint64_t gcm_max_aad_bytes = gcm_max_iv_bytes;

// Like Ctr, except for the counter. The IV is J0, the first block of text has J0 + 1, and only the
// low 32 bits are incremented (inc32).
struct Gcm : Ctr {
    template <int n>
    static constexpr int counting_words = 1;

    WARPSEAL_INLINE static constexpr Block<4> mask(const Block<4>& j0, uint64_t i) {
        return add_big_endian<1>(j0, static_cast<uint32_t>(i + 1));
    }

    // J0 for an IV of 96 bits. An IV of any other length is hashed: its blocks, zero-padded, then
    // its length (7.1 step 2).
    static constexpr size_t plain_iv_bytes = 12;
    WARPSEAL_INLINE static Block<4> pre_counter_block(Block<4> iv) {
        iv.word[3] = swap_bytes(uint32_t{1});
        return iv;
    }
    WARPSEAL_INLINE static Block<4> pre_counter_block(const uint8_t* iv) {
        Block<4> b{};
        memcpy(b.word, iv, plain_iv_bytes);
        return pre_counter_block(b);
    }
};

}  // namespace warpseal::modes
