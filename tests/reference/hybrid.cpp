#include "reference/hybrid.h"

#include "reference/ntru.h"

namespace reference {
namespace {

// A number below 2^256 as 16 digits of 16 bits, modulo 2^255 - 19.
using Number = std::array<int64_t, 16>;

Number carried(Number a) {
    for (int round = 0; round < 3; ++round)
        for (size_t i = 0; i < 16; ++i) {
            const int64_t carry = a[i] >> 16;  // rounds down
            a[i] -= carry * 65536;
            if (i < 15)
                a[i + 1] += carry;
            else
                a[0] += 38 * carry;
        }
    return a;
}
Number add(const Number& a, const Number& b, int64_t sign = 1) {
    Number out;
    for (size_t i = 0; i < 16; ++i) out[i] = a[i] + sign * b[i];
    return carried(out);
}
Number multiply(const Number& a, const Number& b) {
    std::array<int64_t, 31> sums{};
    for (size_t i = 0; i < 16; ++i)
        for (size_t j = 0; j < 16; ++j) sums[i + j] += a[i] * b[j];
    Number out;
    for (size_t i = 0; i < 16; ++i) out[i] = sums[i] + (i < 15 ? 38 * sums[i + 16] : 0);
    return carried(out);
}
// a^(p - 2): every bit of the exponent is 1, but bits 2 and 4.
Number inverse(const Number& a) {
    Number out = a;
    for (int bit = 253; bit >= 0; --bit) {
        out = multiply(out, out);
        if (bit != 2 && bit != 4) out = multiply(out, a);
    }
    return out;
}
Number read(const Text& bytes) {
    Number out;
    for (size_t i = 0; i < 16; ++i) out[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
    out[15] &= 0x7fff;
    return out;
}
// Subtracts p while the number is not below it.
Text write(Number a) {
    a = carried(a);
    for (int times = 0; times < 2; ++times) {
        Number less = a;
        less[0] -= 0xffed;
        for (size_t i = 1; i < 16; ++i) {
            less[i] -= (i == 15 ? 0x7fff : 0xffff) + (less[i - 1] < 0 ? 1 : 0);
            if (less[i - 1] < 0) less[i - 1] += 65536;
        }
        if (less[15] >= 0) a = less;
    }
    Text out;
    for (const int64_t digit : a) {
        out.push_back(static_cast<uint8_t>(digit));
        out.push_back(static_cast<uint8_t>(digit >> 8));
    }
    return out;
}

Text part(const Text& of, size_t begin, size_t end) {
    return Text(of.begin() + static_cast<long>(begin), of.begin() + static_cast<long>(end));
}
Text joined(Text a, const Text& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
const Text base_point = [] {
    Text nine(32, 0);
    nine[0] = 9;
    return nine;
}();

constexpr size_t mlkem_public = 1184, mlkem_secret = 2400, mlkem_ciphertext = 1088;

}  // namespace

// The ladder with the affine formulas of Montgomery (1987): (x2 : z2) and (x3 : z3) differ by u.
Text x25519(const Text& scalar, const Text& u) {
    const Number x1 = read(u);
    Number x2{1}, z2{}, x3 = x1, z3{1};
    for (int t = 254; t >= 0; --t) {
        const bool bit =
            t == 254 || (t > 2 && (scalar[static_cast<size_t>(t) / 8] >> t % 8 & 1) != 0);
        Number sum_x, sum_z;
        const Number plus = multiply(add(x2, z2), add(x3, z3, -1)),
                     minus = multiply(add(x2, z2, -1), add(x3, z3)), total = add(plus, minus),
                     difference = add(plus, minus, -1);
        sum_x = multiply(total, total);
        sum_z = multiply(x1, multiply(difference, difference));
        const Number& x = bit ? x3 : x2;
        const Number& z = bit ? z3 : z2;
        const Number s = multiply(add(x, z), add(x, z)), d = multiply(add(x, z, -1), add(x, z, -1)),
                     e = add(s, d, -1);
        const Number twice_x = multiply(s, d),
                     twice_z = multiply(e, add(d, multiply(e, Number{121666 % 65536, 1})));
        x2 = bit ? sum_x : twice_x;
        z2 = bit ? sum_z : twice_z;
        x3 = bit ? twice_x : sum_x;
        z3 = bit ? twice_z : sum_z;
    }
    return write(multiply(x2, inverse(z2)));
}

Hybrid::Hybrid(const std::string& set) : with_mlkem_(set != "x25519"), is_xwing_(set == "x-wing") {}

MlKem::Keys Hybrid::long_keys(const Text& coins) const {
    const size_t split = with_mlkem_ ? 64 : 0;
    MlKem::Keys keys;
    if (with_mlkem_) keys = mlkem_.keypair(part(coins, 0, split));
    const Text scalar = part(coins, split, split + 32);
    return {joined(keys.public_key, x25519(scalar, base_point)), joined(keys.secret_key, scalar)};
}

MlKem::Keys Hybrid::keypair(const Text& coins) const {
    if (is_xwing_) return {long_keys(shake256(coins, 96)).public_key, coins};
    return long_keys(coins);
}

// SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ label).
Text Hybrid::combine(const Text& both, const Text& ciphertext, const Text& public_key) const {
    if (!is_xwing_) return both;
    const Text label = {0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c};
    return sha3_256(
        joined(joined(joined(both, part(ciphertext, mlkem_ciphertext, mlkem_ciphertext + 32)),
                      part(public_key, mlkem_public, mlkem_public + 32)),
               label));
}

MlKem::Encapsulated Hybrid::encapsulate(const Text& coins, const Text& public_key) const {
    const size_t split = with_mlkem_ ? 32 : 0, key_split = with_mlkem_ ? mlkem_public : 0;
    MlKem::Encapsulated sent;
    if (with_mlkem_)
        sent = mlkem_.encapsulate(part(coins, 0, split), part(public_key, 0, key_split));
    const Text scalar = part(coins, split, split + 32);
    sent.ciphertext = joined(sent.ciphertext, x25519(scalar, base_point));
    sent.secret = joined(sent.secret, x25519(scalar, part(public_key, key_split, key_split + 32)));
    return {sent.ciphertext, combine(sent.secret, sent.ciphertext, public_key)};
}

Text Hybrid::decapsulate(const Text& ciphertext, const Text& secret_key) const {
    const MlKem::Keys keys =
        is_xwing_ ? long_keys(shake256(secret_key, 96)) : MlKem::Keys{{}, secret_key};
    const size_t split = with_mlkem_ ? mlkem_ciphertext : 0,
                 key_split = with_mlkem_ ? mlkem_secret : 0;
    Text both;
    if (with_mlkem_)
        both = mlkem_.decapsulate(part(ciphertext, 0, split), part(keys.secret_key, 0, key_split));
    both = joined(both, x25519(part(keys.secret_key, key_split, key_split + 32),
                               part(ciphertext, split, split + 32)));
    return combine(both, ciphertext, keys.public_key);
}

}  // namespace reference
