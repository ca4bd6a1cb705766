// GCM as SP 800-38D specifies it, bit by bit.
#include "reference/gcm.h"

namespace reference {

namespace {

// A 128-bit string; high holds bits 0 to 63 of the standard's x_0 x_1 ... x_127, x_0 its most
// significant bit.
struct Bits {
    uint64_t high = 0;
    uint64_t low = 0;
    Bits() = default;
    Bits(uint64_t h, uint64_t l) : high(h), low(l) {}
    explicit Bits(const uint8_t* bytes) {
        for (int i = 0; i < 8; ++i) high = high << 8 | bytes[i];
        for (int i = 8; i < 16; ++i) low = low << 8 | bytes[i];
    }
    Text text() const {
        Text out(16);
        for (int i = 0; i < 8; ++i)
            out[static_cast<size_t>(i)] = static_cast<uint8_t>(high >> (56 - 8 * i));
        for (int i = 0; i < 8; ++i)
            out[static_cast<size_t>(i) + 8] = static_cast<uint8_t>(low >> (56 - 8 * i));
        return out;
    }
};

Bits operator^(const Bits& a, const Bits& b) { return {a.high ^ b.high, a.low ^ b.low}; }

Bits times(const Bits& x, const Bits& y) {  // 6.3, algorithm 1
    Bits z;
    Bits v = y;
    for (int i = 0; i < 128; ++i) {
        const uint64_t x_i = i < 64 ? x.high >> (63 - i) & 1 : x.low >> (127 - i) & 1;
        // Masks: a branch on each random bit would take several times as long.
        const uint64_t if_x_i = 0 - x_i, if_last = 0 - (v.low & 1);
        z = z ^ Bits(v.high & if_x_i, v.low & if_x_i);
        v = {v.high >> 1, v.low >> 1 | v.high << 63};
        v = v ^ Bits(0xe100000000000000u & if_last, 0);  // R = 11100001 || 0^120
    }
    return z;
}

// Returns x^(2^128 - 2), the inverse of x.
Bits inverse(const Bits& x) {
    Bits result(0x8000000000000000u, 0);  // one
    Bits power = x;
    for (int i = 1; i < 128; ++i) {
        power = times(power, power);
        result = times(result, power);
    }
    return result;
}

Bits hash_key(const Cipher& cipher) {
    Text zero(16, 0);
    cipher.encrypt(zero.data());
    return Bits(zero.data());
}

Bits ghash(const Bits& h, const Text& blocks, Bits sum) {
    for (size_t i = 0; i + 16 <= blocks.size(); i += 16) sum = times(sum ^ Bits(&blocks[i]), h);
    return sum;
}

void pad(Text& text) { text.resize((text.size() + 15) / 16 * 16, 0); }

void append(Text& text, const Text& more) { text.insert(text.end(), more.begin(), more.end()); }

void increment32(
    Text& counter) {  // 6.2: the rightmost 32 bits modulo 2^32; the others do not change
    for (size_t i = 15; i >= 12; --i)
        if (++counter[i] != 0) break;
}

Text gctr(const Cipher& cipher, Text counter, const Text& in) {  // 6.5
    Text out(in.size());
    Text mask(16);
    for (size_t i = 0; i < in.size(); ++i) {
        if (i % 16 == 0) {
            mask = counter;
            cipher.encrypt(mask.data());
            increment32(counter);
        }
        out[i] = static_cast<uint8_t>(in[i] ^ mask[i % 16]);
    }
    return out;
}

}  // namespace

Text gcm_counter0(const Cipher& cipher, const Text& iv) {
    Text counter = iv;
    if (iv.size() == 12) {
        append(counter, {0, 0, 0, 1});
        return counter;
    }
    pad(counter);
    append(counter, Bits(0, 8 * uint64_t{iv.size()}).text());
    return ghash(hash_key(cipher), counter, Bits()).text();
}

Text gcm_ghash(const Cipher& cipher, const Text& blocks, const Text& sum) {
    return ghash(hash_key(cipher), blocks, Bits(sum.data())).text();
}

Sealed gcm_seal_from(const Cipher& cipher, const Text& counter0, const Text& aad,
                     const Text& plaintext) {  // 7.1
    Text counter = counter0;
    increment32(counter);
    Sealed result;
    result.ciphertext = gctr(cipher, counter, plaintext);
    Text hashed = aad;
    pad(hashed);
    append(hashed, result.ciphertext);
    pad(hashed);
    append(hashed, Bits(8 * uint64_t{aad.size()}, 8 * uint64_t{plaintext.size()}).text());
    result.tag = gctr(cipher, counter0, ghash(hash_key(cipher), hashed, Bits()).text());
    return result;
}

Sealed gcm_seal(const Cipher& cipher, const Text& iv, const Text& aad, const Text& plaintext) {
    return gcm_seal_from(cipher, gcm_counter0(cipher, iv), aad, plaintext);
}

Text gcm_decrypt_from(const Cipher& cipher, const Text& counter0, const Text& ciphertext) {
    Text counter = counter0;
    increment32(counter);
    return gctr(cipher, counter, ciphertext);
}

Text gcm_iv_for(const Cipher& cipher, const Text& counter0) {
    // J0 = ((IV * H) xor [0]_64 || [128]_64) * H
    const Bits over_h = inverse(hash_key(cipher));
    return times(times(Bits(counter0.data()), over_h) ^ Bits(0, 128), over_h).text();
}

}  // namespace reference
