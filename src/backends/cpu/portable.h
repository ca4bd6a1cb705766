// Portable target: constant-time code for any x86-64 CPU.
#pragma once

#include "backends/cpu/representations/bitsliced.h"
#include "backends/cpu/representations/word_sliced.h"
#include "macs/ghash.h"

namespace warpseal::cpu {
namespace {

using BitslicedWord = uint64_t __attribute__((vector_size(16)));

// GHASH under one key, as every target defines it for the mode functions.
struct Hash {
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

// Selects the representation of a cipher on this target.
template <class Cipher>
struct RepresentationOf {
    using type = std::conditional_t<has_words<Cipher>, WordSliced<Cipher, sizeof(BitslicedWord)>,
                                    Bitsliced<Cipher, BitslicedWord>>;
};

}  // namespace
}  // namespace warpseal::cpu
