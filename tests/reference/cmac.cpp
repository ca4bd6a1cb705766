// CMAC as SP 800-38B specifies it, for blocks of 8 and 16 bytes.
#include "reference/cmac.h"

namespace reference {

namespace {

Text twice(
    const Text& x) {  // 6.1, steps 2 and 3: shifted to the left, with R_b if a bit was shifted out
    Text out(x.size());
    for (size_t i = 0; i < x.size(); ++i)
        out[i] = static_cast<uint8_t>(x[i] << 1 | (i + 1 < x.size() ? x[i + 1] >> 7 : 0));
    if (x[0] & 0x80) out.back() = static_cast<uint8_t>(out.back() ^ (x.size() == 16 ? 0x87 : 0x1b));
    return out;
}

}  // namespace

Text cmac(const Cipher& cipher, const Text& message) {  // 6.2
    const size_t b = cipher.block_bytes();
    Text l(b, 0);
    cipher.encrypt(l.data());
    const Text k1 = twice(l), k2 = twice(k1);
    Text padded = message;
    const bool whole = !message.empty() && message.size() % b == 0;
    if (!whole) {
        padded.push_back(0x80);
        padded.resize((padded.size() + b - 1) / b * b, 0);
    }
    const Text& last = whole ? k1 : k2;
    for (size_t i = 0; i < b; ++i)
        padded[padded.size() - b + i] =
            static_cast<uint8_t>(padded[padded.size() - b + i] ^ last[i]);
    Text c(b, 0);
    for (size_t i = 0; i < padded.size(); i += b) {
        for (size_t j = 0; j < b; ++j) c[j] = static_cast<uint8_t>(c[j] ^ padded[i + j]);
        cipher.encrypt(c.data());
    }
    return c;
}

}  // namespace reference
