// AES-128 and ARIA-128 with one thread for each byte of a block (Y. Yeom and Y. Cho 2008, 3.2): the
// work of one of 16 threads in a round. Threads exchange bytes through shared memory. Also compiles
// for the host.
#pragma once

#include "ciphers/aes.h"
#include "ciphers/aria.h"

namespace warpseal::ladder {

// A round substitutes a byte, publishes it, and computes a byte of the linear layer from the
// published bytes. `byte` is the thread's byte.
struct AesByBytes {
    using Cipher = ciphers::aes::Aes<128>;
    static constexpr int rounds = Cipher::rounds;
    struct Data {
        uint8_t boxes[1][256] = {};
        constexpr Data() {
            const ciphers::aes::SBoxes made;
            for (int x = 0; x < 256; ++x) boxes[0][x] = made.forward[x];
        }
    };

    const int row, column;
    WARPSEAL_INLINE AesByBytes(int byte, const Data&) : row(byte % 4), column(byte / 4) {}

    WARPSEAL_INLINE int box(int) const { return 0; }

    // ShiftRows (FIPS 197 5.1.2): source of the byte that moves to row `r` of the thread's column.
    WARPSEAL_INLINE int from(int r) const { return ((column + r) & 3) * 4 + (r & 3); }
    WARPSEAL_INLINE static uint32_t doubled(uint32_t x) {
        return ((x << 1) ^ (x >> 7) * 0x1b) & 0xff;
    }
    // FIPS 197 5.1.3
    template <class Read>
    WARPSEAL_INLINE uint32_t mix(const Read& read) const {
        const uint32_t a = read(from(row)), b = read(from((row + 1) & 3)),
                       c = read(from((row + 2) & 3)), d = read(from((row + 3) & 3));
        return doubled(a ^ b) ^ b ^ c ^ d;
    }
    template <class Read>
    WARPSEAL_INLINE uint32_t last(const Read& read) const {
        return read(from(row));
    }
};

struct AriaByBytes {
    using Cipher = ciphers::aria::Aria<128>;
    static constexpr int rounds = Cipher::rounds;
    struct Data {
        uint8_t boxes[4][256] = {};
        // Indices of the seven bytes that the diffusion layer adds up for each byte, four bits
        // each.
        uint32_t summands[16] = {};
        constexpr Data() {
            for (int x = 0; x < 256; ++x) {
                boxes[0][x] = ciphers::aria::s_boxes.sb1[x];
                boxes[1][x] = ciphers::aria::s_boxes.sb2[x];
                boxes[2][x] = ciphers::aria::s_boxes.sb3[x];
                boxes[3][x] = ciphers::aria::s_boxes.sb4[x];
            }
            for (int byte = 0; byte < 16; ++byte)
                for (int i = 0, found = 0; i < 16; ++i)
                    if (ciphers::aria::diffusion[byte] >> i & 1)
                        summands[byte] |= static_cast<uint32_t>(i) << (4 * found++);
        }
    };

    const int byte;
    const uint32_t summands;
    WARPSEAL_INLINE AriaByBytes(int b, const Data& data) : byte(b), summands(data.summands[b]) {}

    // RFC 5794 2.4.2: the S-boxes of even rounds are those of odd rounds, two positions further.
    WARPSEAL_INLINE int box(int round) const { return (byte + (round % 2 == 0 ? 2 : 0)) & 3; }

    template <class Read>
    WARPSEAL_INLINE uint32_t mix(const Read& read) const {
        uint32_t sum = 0;
        WARPSEAL_UNROLL
        for (int i = 0; i < 7; ++i) sum ^= read(static_cast<int>(summands >> (4 * i) & 15));
        return sum;
    }
    template <class Read>
    WARPSEAL_INLINE uint32_t last(const Read& read) const {
        return read(byte);
    }
};

}  // namespace warpseal::ladder
