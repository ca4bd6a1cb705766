// Answers composed slowly and obviously from single blocks: ECB block by block, CTR counter by counter, GHASH bit by bit.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/ops.h"

namespace warpseal::answers {

using Text = std::vector<uint8_t>;

// Bytes that repeat with no power of two, so that no two blocks, lanes or rows of a test are alike.
Text pattern(size_t bytes, uint32_t seed);

// One key of a cipher that gave its published block.
class Blocks {
public:
    Blocks(const CpuCipher& cipher, const uint8_t* key);
    size_t bytes() const { return cipher_.block_bytes; }
    void encrypt(const uint8_t* in, uint8_t* out) const;
    const uint8_t* hash_key() const { return hash_key_; }  // of GHASH: the block of zeros, encrypted

private:
    const CpuCipher& cipher_;
    std::vector<uint8_t> memory_;
    void* state_;
    uint8_t hash_key_[16] = {};
};

Text ecb(const Blocks& blocks, const Text& plaintext);
// counter: the first block's; its last `counter_bytes` bytes count, big-endian, and wrap. CTR counts them all, GCM the last 4.
Text keystream(const Blocks& blocks, Text counter, size_t counter_bytes, size_t bytes);
Text exclusive_or(const Text& a, const Text& b);

// SP 800-38D: J0 of 7.1, the sum of 6.4 continued from `sum` over `text` padded to whole blocks, and the tag of 7.1.
Text counter0(const Blocks& blocks, const Text& iv);
Text ghash(const Blocks& blocks, const Text& sum, const Text& text);
Text tag(const Blocks& blocks, const Text& iv, const Text& aad, const Text& ciphertext);
// What precedes the first block of the text: the sum over the padded AAD.
Text aad_sum(const Blocks& blocks, const Text& aad);

}  // namespace warpseal::answers
