// Removes padding and MAC of a TLS CBC record (RFC 5246 6.2.3.2) in constant time. Neither the
// start of the padding nor its validity leaks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpseal::provider {

// Return all ones or all zeros. The asm statements hide the mask from the compiler, which could
// turn it into a branch. They also hide the operands, from which it could make a loop counter.
inline size_t mask_below(size_t a, size_t b) {  // a and b must be below the top bit.
    __asm__("" : "+r"(a), "+r"(b));
    size_t mask = size_t{0} - ((a - b) >> (8 * sizeof(size_t) - 1));
    __asm__("" : "+r"(mask));
    return mask;
}
inline size_t mask_equal(size_t a, size_t b) { return mask_below(a ^ b, 1); }

struct RecordEnd {
    size_t text_bytes;  // Length before the MAC; the padding follows the MAC.
    // All ones if the padding is valid; otherwise everything counts as text and MAC.
    size_t valid;
};

// `bytes` must be at least mac_bytes + 1.
inline RecordEnd find_record_end(const uint8_t* record, size_t bytes, size_t mac_bytes) {
    const size_t padding = record[bytes - 1];
    size_t wrong = mask_below(bytes, mac_bytes + padding + 1);
    const size_t checked = bytes < 256 ? bytes : 256;
    for (size_t i = 0; i < checked; ++i)
        wrong |= ~mask_below(padding, i) & (record[bytes - 1 - i] ^ padding);
    const size_t valid = mask_equal(wrong & 0xff, 0) & ~mask_below(bytes, mac_bytes + padding + 1);
    return {bytes - (valid & (padding + 1)) - mac_bytes, valid};
}

// Copies the mac_bytes bytes (1 to 64) at the secret offset `begin`. Reads every byte that could
// belong to the MAC.
inline void copy_record_mac(const uint8_t* record, size_t bytes, size_t begin, uint8_t* mac,
                            size_t mac_bytes) {
    uint8_t rotated[64] = {}, other[64];
    const size_t reach = mac_bytes + 256;
    size_t rotation = 0, position = 0;
    for (size_t i = bytes < reach ? 0 : bytes - reach; i < bytes; ++i) {
        rotation |= mask_equal(i, begin) & position;
        rotated[position] |= static_cast<uint8_t>(record[i] & ~mask_below(i, begin) &
                                                  mask_below(i, begin + mac_bytes));
        if (++position == mac_bytes) position = 0;
    }
    for (size_t step = 1; step < mac_bytes; step <<= 1) {
        const size_t take = ~mask_equal(rotation & step, 0);
        for (size_t i = 0; i < mac_bytes; ++i) {
            const size_t next = i + step < mac_bytes ? i + step : i + step - mac_bytes;
            other[i] = static_cast<uint8_t>((rotated[next] & take) | (rotated[i] & ~take));
        }
        for (size_t i = 0; i < mac_bytes; ++i) rotated[i] = other[i];
    }
    for (size_t i = 0; i < mac_bytes; ++i) mac[i] = rotated[i];
}

}  // namespace warpseal::provider
