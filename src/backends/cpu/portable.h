// Portable target: constant-time code for any x86-64 CPU.
#pragma once

#include <type_traits>

#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/representations/vector.h"
#include "backends/cpu/representations/word_sliced.h"
#include "macs/ghash.h"

namespace warpseal::cpu {
namespace {

// GHASH under one key. Every target has such a type for the mode functions.
struct ScalarHash {
    using Element = macs::ghash::Element<uint64_t>;
    struct Key {
        Element h;
    };

    static void set(Key& key, const Block<4>& h) { key.h = macs::ghash::from_block<uint64_t>(h); }

    // Absorbs `bytes` bytes into the GHASH accumulator `sum`. Pads the last block with zeros.
    static void absorb(const Key& key, Block<4>& sum, const uint8_t* in, size_t bytes) {
        Element e = macs::ghash::from_block<uint64_t>(sum);
        for (; bytes >= 16; in += 16, bytes -= 16)
            e = macs::ghash::absorb(e, key.h, macs::ghash::from_block<uint64_t>(load_block<4>(in)));
        if (bytes != 0) {
            Block<4> last{};
            memcpy(last.word, in, bytes);
            e = macs::ghash::absorb(e, key.h, macs::ghash::from_block<uint64_t>(last));
        }
        sum = macs::ghash::to_block(e);
    }

    // sum = sum * H^blocks + part
    static void combine(const Key& key, Block<4>& sum, const Block<4>& part, uint64_t blocks) {
        const Element e = macs::ghash::from_block<uint64_t>(sum),
                      p = macs::ghash::from_block<uint64_t>(part);
        sum = macs::ghash::to_block(
            blocks == 0 ? e ^ p : macs::ghash::combine(e, macs::ghash::power(key.h, blocks), p));
    }
};

// A target, as a parameter of the mode functions: GHASH, the widest word of the representations,
// and the representation of each cipher.
struct Portable {
    using Hash = ScalarHash;
    using BitslicedWord = VectorOf<uint64_t, 16>;
    template <class Cipher>
    using RepresentationOf =
        std::conditional_t<has_words<Cipher>, WordSliced<Cipher, sizeof(BitslicedWord)>,
                           Bitsliced<Cipher, BitslicedWord>>;
};

}  // namespace
}  // namespace warpseal::cpu
