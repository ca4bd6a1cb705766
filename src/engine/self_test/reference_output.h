// Reference implementation of each mode on single blocks, as its standard describes it, with a
// bitwise GHASH. It favors clarity over speed.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cipher_backend.h"

namespace warpseal::reference_output {

using Text = std::vector<uint8_t>;

// Returns pseudorandom bytes whose period is no power of two, so that no two blocks, lanes or rows
// of a test are equal.
Text pattern(size_t bytes, uint32_t seed);

// A cipher that passed its known-answer test, with one key.
class Blocks {
public:
    Blocks(const CpuCipher& cipher, const uint8_t* key);
    size_t bytes() const { return cipher_.block_bytes; }
    // Encrypts `count` blocks one by one.
    // Uses calls of many blocks if the cipher gives the same result that way: a vectorized
    // representation fills all lanes even for one block.
    void encrypt(const uint8_t* in, uint8_t* out, size_t count = 1) const;
    const uint8_t* hash_key() const;  // the GHASH key H: the encrypted zero block

private:
    static constexpr size_t blocks_at_once = 32;  // cheap to compare, and enough to save calls

    void encrypt_at_once(const uint8_t* in, uint8_t* out, size_t count) const;
    // True if one call of `blocks_at_once` blocks equals single calls. Tested once per process.
    bool same_at_once() const;

    const CpuCipher& cipher_;
    std::vector<uint8_t> memory_;
    void* state_;
    mutable bool hash_key_there_ = false;  // computed on demand: few tests need it
    mutable uint8_t hash_key_[16] = {};
};

Text ecb(const Blocks& blocks, const Text& plaintext);
// Returns the keystream that starts at block `counter`.
// The last `counter_bytes` bytes are a big-endian counter that wraps: all of them in CTR, the last
// 4 in GCM.
Text keystream(const Blocks& blocks, Text counter, size_t counter_bytes, size_t bytes);
Text xor_bytes(const Text& a, const Text& b);

// SP 800-38A 6.2, 6.3 with segments of one block, and 6.4. CBC takes whole blocks.
Text cbc(const Blocks& blocks, const Text& iv, const Text& plaintext);
Text cfb(const Blocks& blocks, const Text& iv, const Text& plaintext);
Text ofb(const Blocks& blocks, const Text& iv, const Text& text);
// IEEE 1619 5.3 for each data unit of `unit_bytes`; the last may be shorter, but at least a block.
// `number` is the number of the first unit.
Text xts(const Blocks& data, const Blocks& tweak, Text number, size_t unit_bytes,
         const Text& plaintext);

// SP 800-38B 6.2. Returns the full tag.
Text cmac(const Blocks& blocks, const Text& message);
// SP 800-38C 6.1 with the formatting of appendix A, for AAD shorter than 2^16 - 2^8 bytes.
// Returns the ciphertext followed by the tag.
Text ccm(const Blocks& blocks, const Text& iv, const Text& aad, const Text& plaintext,
         size_t tag_bytes);

// SP 800-38D: J0 (7.1), GHASH (6.4) continued from `sum` over the zero-padded `text`, and the tag
// (7.1).
Text counter0(const Blocks& blocks, const Text& iv);
Text ghash(const Blocks& blocks, const Text& sum, const Text& text);
Text tag(const Blocks& blocks, const Text& iv, const Text& aad, const Text& ciphertext);
// Returns the GHASH of the zero-padded AAD, with which GHASH of the text starts.
Text aad_sum(const Blocks& blocks, const Text& aad);

}  // namespace warpseal::reference_output
