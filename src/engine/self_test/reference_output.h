// Answers composed slowly and obviously from single blocks: each mode as its standard draws it,
// GHASH bit by bit.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cipher_backend.h"

namespace warpseal::reference_output {

using Text = std::vector<uint8_t>;

// Bytes that repeat with no power of two, so that no two blocks, lanes or rows of a test are alike.
Text pattern(size_t bytes, uint32_t seed);

// One key of a cipher that gave its published block.
class Blocks {
public:
    Blocks(const CpuCipher& cipher, const uint8_t* key);
    size_t bytes() const { return cipher_.block_bytes; }
    // One after the other, or, of a cipher that gives the same so, many in one call: a form that
    // has lanes fills them all for one block too.
    void encrypt(const uint8_t* in, uint8_t* out, size_t count = 1) const;
    const uint8_t* hash_key() const;  // of GHASH: the block of zeros, encrypted

private:
    static constexpr size_t blocks_at_once = 32;  // few to compare, and few calls of them

    void encrypt_at_once(const uint8_t* in, uint8_t* out, size_t count) const;
    // Found out once in a process, with `blocks_at_once` different blocks.
    bool same_at_once() const;

    const CpuCipher& cipher_;
    std::vector<uint8_t> memory_;
    void* state_;
    mutable bool hash_key_there_ = false;  // wanted by few, and one block more of a slow reference
    mutable uint8_t hash_key_[16] = {};
};

Text ecb(const Blocks& blocks, const Text& plaintext);
// counter: the first block's; its last `counter_bytes` bytes count, big-endian, and wrap. CTR
// counts them all, GCM the last 4.
Text keystream(const Blocks& blocks, Text counter, size_t counter_bytes, size_t bytes);
Text exclusive_or(const Text& a, const Text& b);

// SP 800-38A 6.2, 6.3 with segments of a block, and 6.4. cbc: whole blocks.
Text cbc(const Blocks& blocks, const Text& iv, const Text& plaintext);
Text cfb(const Blocks& blocks, const Text& iv, const Text& plaintext);
Text ofb(const Blocks& blocks, const Text& iv, const Text& text);
// IEEE 1619 5.3 for each data unit of `unit_bytes` and the last of at least a block; number: that
// of the first.
Text xts(const Blocks& data, const Blocks& tweak, Text number, size_t unit_bytes,
         const Text& plaintext);

// SP 800-38B 6.2: the whole tag.
Text cmac(const Blocks& blocks, const Text& message);
// SP 800-38C 6.1 with the formatting of its appendix A, for AAD of less than 2^16 - 2^8 bytes: the
// ciphertext, then the tag.
Text ccm(const Blocks& blocks, const Text& iv, const Text& aad, const Text& plaintext,
         size_t tag_bytes);

// SP 800-38D: J0 of 7.1, the sum of 6.4 continued from `sum` over `text` padded to whole blocks,
// and the tag of 7.1.
Text counter0(const Blocks& blocks, const Text& iv);
Text ghash(const Blocks& blocks, const Text& sum, const Text& text);
Text tag(const Blocks& blocks, const Text& iv, const Text& aad, const Text& ciphertext);
// What precedes the first block of the text: the sum over the padded AAD.
Text aad_sum(const Blocks& blocks, const Text& aad);

}  // namespace warpseal::reference_output
