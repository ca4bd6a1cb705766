// The unauthenticated modes as SP 800-38A specifies them (6.1 to 6.5), one block at a time.
#include "reference/modes.h"

namespace reference {

namespace {

// Computes counter += amount, as a big-endian number modulo 2^(8 * size): schoolbook addition, byte
// by byte from the right.
void add(Text& counter, uint64_t amount) {
    unsigned carry = 0;
    for (size_t i = counter.size(); i-- > 0;) {
        const unsigned sum = counter[i] + static_cast<unsigned>(amount & 0xff) + carry;
        counter[i] = static_cast<uint8_t>(sum);
        carry = sum >> 8;
        amount >>= 8;
    }
}

}  // namespace

Text ecb_encrypt(const Cipher& cipher, const Text& in) {
    Text out = in;
    for (size_t i = 0; i + cipher.block_bytes() <= out.size(); i += cipher.block_bytes())
        cipher.encrypt(&out[i]);
    return out;
}

Text ecb_decrypt(const Cipher& cipher, const Text& in) {
    Text out = in;
    for (size_t i = 0; i + cipher.block_bytes() <= out.size(); i += cipher.block_bytes())
        cipher.decrypt(&out[i]);
    return out;
}

Text cbc_encrypt(const Cipher& cipher, Text iv, const Text& in) {
    Text out;
    for (size_t i = 0; i + iv.size() <= in.size(); i += iv.size()) {
        for (size_t j = 0; j < iv.size(); ++j) iv[j] = static_cast<uint8_t>(iv[j] ^ in[i + j]);
        cipher.encrypt(iv.data());
        out.insert(out.end(), iv.begin(), iv.end());
    }
    return out;
}

Text cbc_decrypt(const Cipher& cipher, Text iv, const Text& in) {
    Text out = in;
    for (size_t i = 0; i + iv.size() <= in.size(); i += iv.size()) {
        cipher.decrypt(&out[i]);
        for (size_t j = 0; j < iv.size(); ++j) {
            out[i + j] = static_cast<uint8_t>(out[i + j] ^ iv[j]);
            iv[j] = in[i + j];
        }
    }
    return out;
}

Text cfb_encrypt(const Cipher& cipher, Text iv, const Text& in) {
    Text out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        const size_t j = i % iv.size();
        if (j == 0) cipher.encrypt(iv.data());
        out[i] = static_cast<uint8_t>(in[i] ^ iv[j]);
        iv[j] = out[i];
    }
    return out;
}

Text cfb_decrypt(const Cipher& cipher, Text iv, const Text& in) {
    Text out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        const size_t j = i % iv.size();
        if (j == 0) cipher.encrypt(iv.data());
        out[i] = static_cast<uint8_t>(in[i] ^ iv[j]);
        iv[j] = in[i];
    }
    return out;
}

Text ofb(const Cipher& cipher, Text iv, const Text& in) {
    Text out(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
        if (i % iv.size() == 0) cipher.encrypt(iv.data());
        out[i] = static_cast<uint8_t>(in[i] ^ iv[i % iv.size()]);
    }
    return out;
}

Text ctr(const Cipher& cipher, Text counter, const Text& in, uint64_t first_block) {
    add(counter, first_block);
    Text out(in.size());
    Text mask(cipher.block_bytes());
    for (size_t i = 0; i < in.size(); ++i) {
        if (i % cipher.block_bytes() == 0) {
            mask = counter;
            cipher.encrypt(mask.data());
            add(counter, 1);
        }
        out[i] = static_cast<uint8_t>(in[i] ^ mask[i % cipher.block_bytes()]);
    }
    return out;
}

}  // namespace reference
