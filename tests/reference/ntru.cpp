// NTRU as its round-3 specification describes it: the simplest algorithms, hashes by libcrypto.
#include "reference/ntru.h"

#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>

namespace reference {

namespace {

using Coefficients = Ntru::Coefficients;

Text hash(const EVP_MD* how, const Text& message, size_t bytes, bool extendable) {
    Text out(bytes);
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const bool done = context != nullptr && EVP_DigestInit_ex(context, how, nullptr) == 1 &&
                      EVP_DigestUpdate(context, message.data(), message.size()) == 1 &&
                      (extendable ? EVP_DigestFinalXOF(context, out.data(), out.size())
                                  : EVP_DigestFinal_ex(context, out.data(), nullptr)) == 1;
    EVP_MD_CTX_free(context);
    if (!done) throw std::runtime_error("libcrypto refused");
    return out;
}

// Polynomials over the integers modulo a small prime, for Euclid's algorithm: the highest
// coefficient is not zero, zero is empty.
using Small = std::vector<int>;

void trim(Small& a) {
    while (!a.empty() && a.back() == 0) a.pop_back();
}

int inverse_of(int a, int p) {
    for (int x = 1; x < p; ++x)
        if (a * x % p == 1) return x;
    throw std::runtime_error("no inverse");
}

// Computes a -= factor x^shift b.
void subtract(Small& a, int factor, size_t shift, const Small& b, int p) {
    if (a.size() < b.size() + shift) a.resize(b.size() + shift, 0);
    for (size_t i = 0; i < b.size(); ++i) a[i + shift] = (a[i + shift] + (p - factor) * b[i]) % p;
    trim(a);
}

}  // namespace

Text sha3_256(const Text& message) { return hash(EVP_sha3_256(), message, 32, false); }
Text shake256(const Text& message, size_t bytes) {
    return hash(EVP_shake256(), message, bytes, true);
}

Text ntru_bulk_coins(const std::string& set, uint64_t i, size_t bytes) {
    const std::string label = "ntru-bulk/" + set + "/";
    Text message(label.begin(), label.end());
    for (int byte = 0; byte < 8; ++byte) message.push_back(static_cast<uint8_t>(i >> (8 * byte)));
    return shake256(message, bytes);
}

Ntru::Ntru(const std::string& set) {
    struct {
        const char* name;
        int n, log_q;
        bool hrss;
    } static constexpr table[] = {
        {"ntruhps2048509", 509, 11, false}, {"ntruhps2048677", 677, 11, false},
        {"ntruhps4096821", 821, 12, false}, {"ntruhps40961229", 1229, 12, false},
        {"ntruhrss701", 701, 13, true},     {"ntruhrss1373", 1373, 14, true}};
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const auto& row) { return set == row.name; });
    if (found == std::end(table)) throw std::runtime_error("no set " + set);
    n_ = found->n;
    log_q_ = found->log_q;
    hrss_ = found->hrss;
    Coefficients x_minus_1(static_cast<size_t>(n_), 0);
    x_minus_1[0] = 2;
    x_minus_1[1] = 1;
    over_x_minus_1_ = inverse_modulo_prime(x_minus_1, 3).value();
}

// ---- sampling (1.10)

Coefficients Ntru::ternary(const uint8_t* coins) const {
    Coefficients out(static_cast<size_t>(n_), 0);
    for (size_t i = 0; i + 1 < out.size(); ++i) out[i] = coins[i] % 3;
    return out;
}

Coefficients Ntru::fixed_type(const uint8_t* coins) const {
    const int weight = q() / 16 - 1;
    std::vector<int32_t> sorted;
    for (int i = 0; i < n_ - 1; ++i) {
        uint32_t key = i < weight ? 1 : i < 2 * weight ? 2 : 0;
        for (int bit = 0; bit < 30; ++bit) {
            const int at = 30 * i + bit;
            key |= static_cast<uint32_t>(coins[at / 8] >> (at % 8) & 1) << (2 + bit);
        }
        sorted.push_back(static_cast<int32_t>(key));
    }
    std::sort(sorted.begin(), sorted.end());
    Coefficients out;
    for (const int32_t key : sorted)
        out.push_back(static_cast<uint16_t>(static_cast<uint32_t>(key) % 4));
    out.push_back(0);
    return out;
}

Coefficients Ntru::ternary_plus(const uint8_t* coins) const {
    Coefficients out = ternary(coins);
    const auto integer = [&](size_t i) { return out[i] == 2 ? -1 : int{out[i]}; };
    int sum = 0;
    for (size_t i = 0; i + 1 < out.size(); ++i) sum += integer(i) * integer(i + 1);
    if (sum < 0)
        for (size_t i = 0; i < out.size(); i += 2) out[i] = static_cast<uint16_t>((3 - out[i]) % 3);
    return out;
}

void Ntru::sample(const Text& coins, Coefficients& first, Coefficients& second) const {
    first = ternary(coins.data());
    second = hrss_ ? ternary(coins.data() + n_ - 1) : fixed_type(coins.data() + n_ - 1);
}

// ---- rings (1.7 to 1.9)

// Multiplies modulo x^n - 1 and 2^16, which sums of residues modulo 3 do not reach.
Coefficients Ntru::product(const Coefficients& a, const Coefficients& b) const {
    const size_t n = a.size();
    Coefficients wide(2 * n, 0);
    for (size_t i = 0; i < n; ++i)
        if (a[i] != 0)
            for (size_t j = 0; j < n; ++j)
                wide[i + j] = static_cast<uint16_t>(wide[i + j] + uint32_t{a[i]} * b[j]);
    for (size_t i = 0; i < n; ++i) wide[i] = static_cast<uint16_t>(wide[i] + wide[n + i]);
    wide.resize(n);
    return wide;
}

Coefficients Ntru::modulo_q(Coefficients a) const {
    for (uint16_t& x : a) x = static_cast<uint16_t>(x % q());
    return a;
}

// x^(n - 1) = -(1 + x + ... + x^(n - 2)).
Coefficients Ntru::modulo_3_phi(Coefficients a) const {
    const int last = a.back() % 3;
    for (uint16_t& x : a) x = static_cast<uint16_t>((x + 3 - last) % 3);
    return a;
}

Coefficients Ntru::modulo_q_phi(Coefficients a) const {
    const int last = a.back() % q();
    for (uint16_t& x : a) x = static_cast<uint16_t>((x % q() + q() - last) % q());
    return a;
}

Coefficients Ntru::to_q(const Coefficients& ternary) const {
    Coefficients out = ternary;
    for (uint16_t& x : out)
        if (x == 2) x = static_cast<uint16_t>(q() - 1);
    return out;
}

// Takes each residue modulo q from [-q/2, q/2), and reduces modulo (3, Phi_n).
Coefficients Ntru::centred_to_3(const Coefficients& a) const {
    Coefficients out = modulo_q(a);
    for (uint16_t& x : out)
        x = static_cast<uint16_t>((x >= q() / 2 ? x - q() + 3 * q() : int{x}) % 3);
    return modulo_3_phi(out);
}

// Returns (x - 1) S3(m / (x - 1)), or m itself.
Coefficients Ntru::lift(const Coefficients& m) const {
    if (!hrss_) return to_q(m);
    Coefficients x_minus_1(m.size(), 0);
    x_minus_1[0] = static_cast<uint16_t>(q() - 1);
    x_minus_1[1] = 1;
    return modulo_q(product(x_minus_1, to_q(modulo_3_phi(product(m, over_x_minus_1_)))));
}

// Euclid's algorithm on Phi_n and a: each remainder is a times its cofactor, modulo Phi_n; the last
// is a constant.
std::optional<Coefficients> Ntru::inverse_modulo_prime(const Coefficients& a, int p) const {
    Small upper(static_cast<size_t>(n_), 1), lower, upper_cofactor, lower_cofactor{1};
    for (const uint16_t x : a) lower.push_back((x % p + p - a.back() % p) % p);
    trim(lower);
    while (lower.size() > 1) {
        while (upper.size() >= lower.size()) {
            const int factor = upper.back() * inverse_of(lower.back(), p) % p;
            const size_t shift = upper.size() - lower.size();
            subtract(upper, factor, shift, lower, p);
            subtract(upper_cofactor, factor, shift, lower_cofactor, p);
        }
        std::swap(upper, lower);
        std::swap(upper_cofactor, lower_cofactor);
    }
    if (lower.empty()) return std::nullopt;
    Coefficients out(static_cast<size_t>(n_), 0);
    for (size_t i = 0; i < lower_cofactor.size(); ++i)
        out[i] = static_cast<uint16_t>(lower_cofactor[i] * inverse_of(lower[0], p) % p);
    return out;
}

// From modulo 2, modulo 4, 16, 256 and 2^16 (1.9.4).
std::optional<Coefficients> Ntru::inverse_modulo_q(const Coefficients& a) const {
    std::optional<Coefficients> out = inverse_modulo_prime(a, 2);
    for (int step = 0; out && step < 4; ++step) {
        Coefficients rest = product(a, *out);
        for (uint16_t& x : rest) x = static_cast<uint16_t>(-x);
        rest[0] = static_cast<uint16_t>(rest[0] + 2);
        out = product(*out, rest);
    }
    return out;
}

// ---- bytes (1.8)

Text Ntru::pack_ternary(const Coefficients& a) const {
    Text out(ternary_bytes(), 0);
    for (size_t i = a.size() - 1; i-- > 0;)
        out[i / 5] = static_cast<uint8_t>(3 * out[i / 5] + a[i] % 3);
    return out;
}

Coefficients Ntru::unpack_ternary(const uint8_t* in) const {
    Coefficients out(static_cast<size_t>(n_), 0);
    static constexpr int power[] = {1, 3, 9, 27, 81};
    for (size_t i = 0; i + 1 < out.size(); ++i)
        out[i] = static_cast<uint16_t>(in[i / 5] / power[i % 5] % 3);
    return out;
}

// Bit j of coefficient i is bit i log_q + j of the string.
Text Ntru::pack_q(const Coefficients& a) const {
    Text out(public_key_bytes(), 0);
    size_t at = 0;
    for (size_t i = 0; i + 1 < a.size(); ++i)
        for (int j = 0; j < log_q_; ++j, ++at)
            out[at / 8] |= static_cast<uint8_t>((a[i] >> j & 1) << (at % 8));
    return out;
}

Coefficients Ntru::unpack_q(const uint8_t* in, bool sum_zero) const {
    Coefficients out(static_cast<size_t>(n_), 0);
    size_t at = 0;
    for (size_t i = 0; i + 1 < out.size(); ++i)
        for (int j = 0; j < log_q_; ++j, ++at)
            out[i] |= static_cast<uint16_t>((in[at / 8] >> (at % 8) & 1) << j);
    unsigned sum = 0;
    for (const uint16_t x : out) sum += x;
    if (sum_zero) out.back() = static_cast<uint16_t>((0u - sum) % static_cast<unsigned>(q()));
    return out;
}

// ---- the KEM (1.11, 1.12)

std::optional<Ntru::Keys> Ntru::keypair(const Text& coins) const {
    const Coefficients f = hrss_ ? ternary_plus(coins.data()) : ternary(coins.data());
    Coefficients g =
        to_q(hrss_ ? ternary_plus(coins.data() + n_ - 1) : fixed_type(coins.data() + n_ - 1));
    for (uint16_t& x : g) x = static_cast<uint16_t>(3 * x);
    if (hrss_) {
        Coefficients x_minus_1(g.size(), 0);
        x_minus_1[0] = 0xffff;
        x_minus_1[1] = 1;
        g = product(g, x_minus_1);
    }
    const auto f3 = inverse_modulo_prime(f, 3);
    const auto fq = inverse_modulo_q(to_q(f));
    if (!f3 || !fq) return std::nullopt;
    const Coefficients h = modulo_q(product(g, *fq));
    const auto hq = inverse_modulo_q(h);
    if (!hq) return std::nullopt;
    Keys out{pack_q(h), pack_ternary(f)};
    for (const Text& part :
         {pack_ternary(*f3), pack_q(modulo_q_phi(*hq)), Text(coins.end() - 32, coins.end())})
        out.secret_key.insert(out.secret_key.end(), part.begin(), part.end());
    return out;
}

Text Ntru::encrypt(const Coefficients& r, const Coefficients& m, const Text& public_key) const {
    Coefficients c = product(r, unpack_q(public_key.data(), true));
    const Coefficients lifted = lift(m);
    for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<uint16_t>(c[i] + lifted[i]);
    return pack_q(modulo_q(c));
}

Ntru::Encapsulated Ntru::encapsulate(const Text& coins, const Text& public_key) const {
    Coefficients r, m;
    sample(coins, r, m);
    Text message = pack_ternary(r);
    const Text packed_m = pack_ternary(m);
    message.insert(message.end(), packed_m.begin(), packed_m.end());
    return {encrypt(to_q(r), m, public_key), sha3_256(message)};
}

Text Ntru::decapsulate(const Text& ciphertext, const Text& secret_key, bool* accepted) const {
    bool valid = spare_bits() == 0 || ciphertext.back() >> (8 - spare_bits()) == 0;
    const uint8_t* const sk = secret_key.data();
    const Coefficients c = unpack_q(ciphertext.data(), true);
    const Coefficients f = unpack_ternary(sk), f3 = unpack_ternary(sk + ternary_bytes());
    const Coefficients hq = unpack_q(sk + 2 * ternary_bytes(), false);
    const Coefficients m = modulo_3_phi(product(f3, centred_to_3(product(to_q(f), c))));
    if (!hrss_)
        for (const int residue : {1, 2})
            valid = valid && std::count(m.begin(), m.end(), residue) == q() / 16 - 1;
    Coefficients r;
    if (valid) {  // otherwise r has no effect
        Coefficients rest = c;
        const Coefficients lifted = lift(m);
        for (size_t i = 0; i < rest.size(); ++i)
            rest[i] = static_cast<uint16_t>(rest[i] - lifted[i]);
        r = modulo_q_phi(product(rest, hq));
    }
    for (uint16_t& x : r) {
        valid = valid && (x <= 1 || x == q() - 1);
        if (x == q() - 1) x = 2;
    }
    if (accepted != nullptr) *accepted = valid;
    Text message;
    if (valid) {
        message = pack_ternary(r);
        const Text packed_m = pack_ternary(m);
        message.insert(message.end(), packed_m.begin(), packed_m.end());
    } else {
        message.assign(secret_key.end() - 32, secret_key.end());
        message.insert(message.end(), ciphertext.begin(), ciphertext.end());
    }
    return sha3_256(message);
}

}  // namespace reference
