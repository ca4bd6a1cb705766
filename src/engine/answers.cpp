// Written for reading, not for speed: SP 800-38A 6.1 and 6.5, SP 800-38D 6.3 to 7.1.
#include "engine/answers.h"

#include <cstring>
#include <memory>

namespace warpseal::answers {

Text pattern(size_t bytes, uint32_t seed) {
    Text text(bytes);
    uint32_t x = seed * 2654435761u + 1;
    for (uint8_t& byte : text) {
        x = x * 1664525u + 1013904223u;
        byte = static_cast<uint8_t>(x >> 24);
    }
    return text;
}

Blocks::Blocks(const CpuCipher& cipher, const uint8_t* key) : cipher_(cipher), memory_(cipher.state_bytes + 64) {
    size_t room = memory_.size();
    state_ = memory_.data();
    std::align(64, cipher.state_bytes, state_, room);
    cipher.expand(state_, key);
}

void Blocks::encrypt(const uint8_t* in, uint8_t* out) const { cipher_.sweep[WARPSEAL_ECB][0](state_, nullptr, 0, in, out, bytes()); }

Text ecb(const Blocks& blocks, const Text& plaintext) {
    Text ciphertext(plaintext.size());
    for (size_t i = 0; i < plaintext.size(); i += blocks.bytes()) blocks.encrypt(&plaintext[i], &ciphertext[i]);
    return ciphertext;
}

Text keystream(const Blocks& blocks, Text counter, size_t counter_bytes, size_t bytes) {
    Text stream;
    Text block(blocks.bytes());
    while (stream.size() < bytes) {
        blocks.encrypt(counter.data(), block.data());
        stream.insert(stream.end(), block.begin(), block.end());
        for (size_t i = 1; i <= counter_bytes && ++counter[counter.size() - i] == 0; ++i) {
        }
    }
    stream.resize(bytes);
    return stream;
}

Text exclusive_or(const Text& a, const Text& b) {
    Text sum(a);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] ^= b[i];
    return sum;
}

namespace {

// SP 800-38D 6.3, algorithm 1: the leftmost bit of a block is the coefficient of x^0; R is 11100001 followed by 120 zeros.
Text multiply(const Text& x, const Text& y) {
    Text product(16), v(y);
    for (int bit = 0; bit < 128; ++bit) {
        if (x[bit / 8] >> (7 - bit % 8) & 1)
            for (int i = 0; i < 16; ++i) product[i] ^= v[i];
        const bool low = v[15] & 1;
        for (int i = 15; i > 0; --i) v[i] = static_cast<uint8_t>(v[i] >> 1 | v[i - 1] << 7);
        v[0] >>= 1;
        if (low) v[0] ^= 0xe1;
    }
    return product;
}

Text padded(Text text) {
    text.resize((text.size() + 15) / 16 * 16);
    return text;
}

void append_bits(Text& text, uint64_t bytes) {
    for (int i = 7; i >= 0; --i) text.push_back(static_cast<uint8_t>(bytes * 8 >> (8 * i)));
}

}  // namespace

Text ghash(const Blocks& blocks, Text sum, const Text& text) {
    Text h(16);
    blocks.encrypt(Text(16).data(), h.data());
    const Text whole = padded(text);
    for (size_t i = 0; i < whole.size(); i += 16) sum = multiply(exclusive_or(sum, Text(&whole[i], &whole[i] + 16)), h);
    return sum;
}

Text counter0(const Blocks& blocks, const Text& iv) {
    Text j(iv);
    if (iv.size() == 12) {
        j.insert(j.end(), {0, 0, 0, 1});
        return j;
    }
    j = padded(j);
    append_bits(j, 0);
    append_bits(j, iv.size());
    return ghash(blocks, Text(16), j);
}

Text aad_sum(const Blocks& blocks, const Text& aad) { return ghash(blocks, Text(16), aad); }

Text tag(const Blocks& blocks, const Text& iv, const Text& aad, const Text& ciphertext) {
    Text lengths;
    append_bits(lengths, aad.size());
    append_bits(lengths, ciphertext.size());
    const Text sum = ghash(blocks, ghash(blocks, aad_sum(blocks, aad), ciphertext), lengths);
    return exclusive_or(sum, keystream(blocks, counter0(blocks, iv), 4, 16));
}

}  // namespace warpseal::answers
