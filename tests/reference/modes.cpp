// ECB and CTR as SP 800-38A writes them (6.1, 6.5), one block after the other.
#include "reference/modes.h"

namespace reference {

namespace {

// counter += amount, as a big-endian number modulo 2^(8 * size): schoolbook addition, byte by byte from the right.
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
    for (size_t i = 0; i + cipher.block_bytes() <= out.size(); i += cipher.block_bytes()) cipher.encrypt(&out[i]);
    return out;
}

Text ecb_decrypt(const Cipher& cipher, const Text& in) {
    Text out = in;
    for (size_t i = 0; i + cipher.block_bytes() <= out.size(); i += cipher.block_bytes()) cipher.decrypt(&out[i]);
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
