// XTS as IEEE Std 1619 specifies it: tweaks doubled bit by bit, ciphertext stealing at the end of a
// unit.
#include "reference/xts.h"

#include <algorithm>
#include <utility>

namespace reference {

namespace {

void twice(Text& t) {  // 5.2: times alpha, byte 0 the least significant
    unsigned carry = 0;
    for (uint8_t& byte : t) {
        const unsigned shifted = unsigned{byte} << 1 | carry;
        byte = static_cast<uint8_t>(shifted);
        carry = shifted >> 8;
    }
    if (carry != 0) t[0] = static_cast<uint8_t>(t[0] ^ 0x87);
}

void block(const Cipher& data, bool encrypt, const Text& tweak, uint8_t* x) {  // 5.3.1, 5.4.1
    for (size_t i = 0; i < 16; ++i) x[i] = static_cast<uint8_t>(x[i] ^ tweak[i]);
    encrypt ? data.encrypt(x) : data.decrypt(x);
    for (size_t i = 0; i < 16; ++i) x[i] = static_cast<uint8_t>(x[i] ^ tweak[i]);
}

Text unit(const Cipher& data, const Cipher& tweak, bool encrypt, const Text& number,
          const Text& in) {  // 5.3.2, 5.4.2
    const size_t whole = in.size() / 16, rest = in.size() % 16;
    Text here = number, out = in;
    tweak.encrypt(here.data());
    for (size_t i = 0; i + (rest != 0 ? 1 : 0) < whole; ++i) {
        block(data, encrypt, here, &out[16 * i]);
        twice(here);
    }
    if (rest == 0) return out;
    // The last whole block and the rest; decryption uses the two tweaks in reverse order.
    Text next = here;
    twice(next);
    uint8_t* const last = &out[16 * (whole - 1)];
    block(data, encrypt, encrypt ? here : next, last);
    std::swap_ranges(last, last + rest, last + 16);
    block(data, encrypt, encrypt ? next : here, last);
    return out;
}

}  // namespace

Text xts_encrypt(const Cipher& data, const Cipher& tweak, const Text& number, const Text& in) {
    return unit(data, tweak, true, number, in);
}
Text xts_decrypt(const Cipher& data, const Cipher& tweak, const Text& number, const Text& in) {
    return unit(data, tweak, false, number, in);
}

Text xts_units(const Cipher& data, const Cipher& tweak, bool encrypt, Text number,
               size_t unit_bytes, const Text& in) {
    Text out;
    for (size_t i = 0; i < in.size(); i += unit_bytes) {
        const size_t end = std::min(in.size(), i + unit_bytes);
        const Text one =
            unit(data, tweak, encrypt, number,
                 Text(in.begin() + static_cast<long>(i), in.begin() + static_cast<long>(end)));
        out.insert(out.end(), one.begin(), one.end());
        for (size_t j = 0; j < 16 && ++number[j] == 0; ++j) {
        }
    }
    return out;
}

}  // namespace reference
