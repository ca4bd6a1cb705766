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
    if (cipher.block_bytes == sizeof hash_key_) encrypt(hash_key_, hash_key_);
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

// A block as the standard numbers its bits: bit 0, the coefficient of x^0, is the highest of `high`.
struct Element {
    uint64_t high, low;
};

Element element(const uint8_t* block) {
    Element e = {0, 0};
    for (int i = 0; i < 8; ++i) {
        e.high = e.high << 8 | block[i];
        e.low = e.low << 8 | block[8 + i];
    }
    return e;
}

// SP 800-38D 6.3, algorithm 1: R is 11100001 followed by 120 zeros.
Element multiply(const Element& x, Element v) {
    Element product = {0, 0};
    for (int bit = 0; bit < 128; ++bit) {
        if ((bit < 64 ? x.high >> (63 - bit) : x.low >> (127 - bit)) & 1) {
            product.high ^= v.high;
            product.low ^= v.low;
        }
        const uint64_t reduce = (v.low & 1) != 0 ? uint64_t{0xe1} << 56 : 0;
        v.low = v.low >> 1 | v.high << 63;
        v.high = v.high >> 1 ^ reduce;
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

Text ghash(const Blocks& blocks, const Text& sum, const Text& text) {
    const Element h = element(blocks.hash_key());
    const Text whole = padded(text);
    Element y = element(sum.data());
    for (size_t i = 0; i < whole.size(); i += 16) {
        const Element block = element(&whole[i]);
        y = multiply({y.high ^ block.high, y.low ^ block.low}, h);
    }
    Text result;
    for (const uint64_t half : {y.high, y.low})
        for (int i = 7; i >= 0; --i) result.push_back(static_cast<uint8_t>(half >> (8 * i)));
    return result;
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
