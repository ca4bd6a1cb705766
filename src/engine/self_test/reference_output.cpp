// Reference modes, written for clarity and not for speed: SP 800-38A 6.1 to 6.5, SP 800-38B 6, SP
// 800-38C 6, SP 800-38D 6.3 to 7.1, IEEE 1619 5.3.
#include "engine/self_test/reference_output.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/self_test/results.h"

namespace warpseal::reference_output {

Text pattern(size_t bytes, uint32_t seed) {
    Text text(bytes);
    uint32_t x = seed * 2654435761u + 1;
    for (uint8_t& byte : text) {
        x = x * 1664525u + 1013904223u;
        byte = static_cast<uint8_t>(x >> 24);
    }
    return text;
}

Blocks::Blocks(const CpuCipher& cipher, const uint8_t* key)
    : cipher_(cipher), memory_(cipher.state_bytes + 64) {
    size_t capacity = memory_.size();
    state_ = memory_.data();
    std::align(64, cipher.state_bytes, state_, capacity);
    cipher.expand(state_, key);
}

void Blocks::encrypt(const uint8_t* in, uint8_t* out, size_t count) const {
    if (count > 1 && same_at_once()) return encrypt_at_once(in, out, count);
    for (size_t i = 0; i < count; ++i)
        cipher_.sweep[WARPSEAL_ECB][0](state_, nullptr, 0, in + i * bytes(), out + i * bytes(),
                                       bytes());
}

// Every call has the length that same_at_once() compared, and runs out of place.
void Blocks::encrypt_at_once(const uint8_t* in, uint8_t* out, size_t count) const {
    Text from(blocks_at_once * bytes()), to(from.size());
    for (size_t done = 0; done < count; done += blocks_at_once) {
        const size_t part = std::min(count - done, blocks_at_once) * bytes();
        memcpy(from.data(), in + done * bytes(), part);
        cipher_.sweep[WARPSEAL_ECB][0](state_, nullptr, 0, from.data(), to.data(), from.size());
        memcpy(out + done * bytes(), to.data(), part);
    }
}

bool Blocks::same_at_once() const {
    // Stands in for a GPU backend in the key of the result, so that no real path has this key.
    static constexpr char of_blocks = 0;
    bool failed_now = false;
    const auto test = [this] {
        const Text in = pattern(blocks_at_once * bytes(), 18);
        Text one_by_one(in.size()), at_once(in.size());
        for (size_t i = 0; i < in.size(); i += bytes()) encrypt(&in[i], &one_by_one[i]);
        encrypt_at_once(in.data(), at_once.data(), blocks_at_once);
        return at_once == one_by_one ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
    };
    return self_test_result(
               {&cipher_, &of_blocks, -1, Path::cores, WARPSEAL_ECB, Direction::encrypt}, test,
               &failed_now) == WARPSEAL_OK;
}

const uint8_t* Blocks::hash_key() const {
    if (!hash_key_there_) encrypt(hash_key_, hash_key_);
    hash_key_there_ = true;
    return hash_key_;
}

Text ecb(const Blocks& blocks, const Text& plaintext) {
    Text ciphertext(plaintext.size());
    blocks.encrypt(plaintext.data(), ciphertext.data(), plaintext.size() / blocks.bytes());
    return ciphertext;
}

Text keystream(const Blocks& blocks, Text counter, size_t counter_bytes, size_t bytes) {
    Text counters;
    while (counters.size() < bytes) {
        counters.insert(counters.end(), counter.begin(), counter.end());
        for (size_t i = 1; i <= counter_bytes && ++counter[counter.size() - i] == 0; ++i) {
        }
    }
    Text stream = ecb(blocks, counters);
    stream.resize(bytes);
    return stream;
}

Text xor_bytes(const Text& a, const Text& b) {
    Text sum(a);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] ^= b[i];
    return sum;
}

namespace {

Text encrypted(const Blocks& blocks, const Text& block) {
    Text out(block.size());
    blocks.encrypt(block.data(), out.data());
    return out;
}

// Returns up to `bytes` bytes from offset `at`.
Text part(const Text& text, size_t at, size_t bytes) {
    const size_t end = text.size() - at < bytes ? text.size() : at + bytes;
    return Text(text.begin() + static_cast<ptrdiff_t>(at),
                text.begin() + static_cast<ptrdiff_t>(end));
}

void append(Text& text, const Text& more) { text.insert(text.end(), more.begin(), more.end()); }

Text first_of(const Text& text, size_t bytes) { return part(text, 0, bytes); }

// Returns the last ciphertext block of CBC with a zero IV.
Text cbc_mac(const Blocks& blocks, const Text& whole_blocks) {
    Text sum(blocks.bytes());
    for (size_t i = 0; i < whole_blocks.size(); i += blocks.bytes())
        sum = encrypted(blocks, xor_bytes(sum, part(whole_blocks, i, blocks.bytes())));
    return sum;
}

}  // namespace

Text cbc(const Blocks& blocks, const Text& iv, const Text& plaintext) {
    Text ciphertext, before = iv;
    for (size_t i = 0; i < plaintext.size(); i += blocks.bytes()) {
        before = encrypted(blocks, xor_bytes(part(plaintext, i, blocks.bytes()), before));
        append(ciphertext, before);
    }
    return ciphertext;
}

Text cfb(const Blocks& blocks, const Text& iv, const Text& plaintext) {
    Text ciphertext, before = iv;
    for (size_t i = 0; i < plaintext.size(); i += blocks.bytes()) {
        before = xor_bytes(part(plaintext, i, blocks.bytes()), encrypted(blocks, before));
        append(ciphertext, before);
    }
    return ciphertext;
}

Text ofb(const Blocks& blocks, const Text& iv, const Text& text) {
    Text stream, block = iv;
    while (stream.size() < text.size()) {
        block = encrypted(blocks, block);
        append(stream, block);
    }
    return xor_bytes(text, stream);
}

Text xts(const Blocks& data, const Blocks& tweak, Text number, size_t unit_bytes,
         const Text& plaintext) {
    Text ciphertext;
    for (size_t at = 0; at < plaintext.size(); at += unit_bytes) {
        const Text unit = part(plaintext, at, unit_bytes);
        Text mask = encrypted(tweak, number), out;
        const auto cipher = [&](const Text& block) {
            return xor_bytes(encrypted(data, xor_bytes(block, mask)), mask);
        };
        for (size_t i = 0; i < unit.size(); i += 16) {
            const Text block = part(unit, i, 16);
            if (block.size() == 16) {
                append(out, cipher(block));
            } else {  // 5.3.2: the short block steals the tail of the ciphertext block before it
                const Text stolen = part(out, out.size() - 16, 16);
                Text last = block;
                append(last, part(stolen, block.size(), 16));
                out.resize(out.size() - 16);
                append(out, cipher(last));
                append(out, first_of(stolen, block.size()));
            }
            uint8_t carry = 0;  // 5.2: times x, least significant byte first
            for (uint8_t& byte : mask) {
                const uint8_t high = byte >> 7;
                byte = static_cast<uint8_t>(byte << 1 | carry);
                carry = high;
            }
            if (carry != 0) mask[0] ^= 0x87;
        }
        append(ciphertext, out);
        for (size_t i = 0; i < number.size() && ++number[i] == 0; ++i) {
        }
    }
    return ciphertext;
}

Text cmac(const Blocks& blocks, const Text& message) {
    const auto doubled = [](const Text& block) {  // 6.1: times x, most significant byte first
        Text twice(block.size());
        for (size_t i = 0; i < block.size(); ++i)
            twice[i] = static_cast<uint8_t>(block[i] << 1 |
                                            (i + 1 < block.size() ? block[i + 1] >> 7 : 0));
        if (block[0] >> 7 != 0) twice[block.size() - 1] ^= block.size() == 16 ? 0x87 : 0x1b;
        return twice;
    };
    Text mask = doubled(encrypted(blocks, Text(blocks.bytes()))), text = message;
    if (text.empty() || text.size() % blocks.bytes() != 0) {
        mask = doubled(mask);
        text.push_back(0x80);
        while (text.size() % blocks.bytes() != 0) text.push_back(0);
    }
    for (size_t i = 0; i < mask.size(); ++i) text[text.size() - mask.size() + i] ^= mask[i];
    return cbc_mac(blocks, text);
}

Text ccm(const Blocks& blocks, const Text& iv, const Text& aad, const Text& plaintext,
         size_t tag_bytes) {
    const size_t length_bytes = 15 - iv.size();
    const auto framed = [&](uint8_t flags, uint64_t number) {  // A.2.1, A.3
        Text block = {flags};
        append(block, iv);
        for (size_t i = length_bytes; i-- > 0;)
            block.push_back(i < 8 ? static_cast<uint8_t>(number >> (8 * i)) : 0);
        return block;
    };
    const auto pad = [](Text& text) { text.resize((text.size() + 15) / 16 * 16); };
    const size_t flags = (aad.empty() ? 0 : 64) + (tag_bytes - 2) / 2 * 8 + length_bytes - 1;
    Text summed = framed(static_cast<uint8_t>(flags), plaintext.size());
    if (!aad.empty()) {  // A.2.2
        append(summed, {static_cast<uint8_t>(aad.size() >> 8), static_cast<uint8_t>(aad.size())});
        append(summed, aad);
        pad(summed);
    }
    append(summed, plaintext);
    pad(summed);
    const auto masks = [&](uint64_t first, size_t bytes) {
        return keystream(blocks, framed(static_cast<uint8_t>(length_bytes - 1), first),
                         length_bytes, bytes);
    };
    Text sealed = xor_bytes(plaintext, masks(1, plaintext.size()));
    append(sealed, first_of(xor_bytes(cbc_mac(blocks, summed), masks(0, 16)), tag_bytes));
    return sealed;
}

namespace {

// A block with the bit order of SP 800-38D: the highest bit of `high` is bit 0, the coefficient of
// x^0.
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
        const uint64_t taken = 0 - ((bit < 64 ? x.high >> (63 - bit) : x.low >> (127 - bit)) &
                                    1);  // all ones or zero, without a branch
        product.high ^= v.high & taken;
        product.low ^= v.low & taken;
        const uint64_t reduce = (0 - (v.low & 1)) & uint64_t{0xe1} << 56;
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
    return xor_bytes(sum, keystream(blocks, counter0(blocks, iv), 4, 16));
}

}  // namespace warpseal::reference_output
