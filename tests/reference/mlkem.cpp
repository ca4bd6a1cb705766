#include "reference/mlkem.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace reference {
namespace {

constexpr int q = 3329, root = 17, n = 256;

Text hash(const char* name, const Text& message, size_t bytes) {
    Text out(bytes);
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EVP_MD* const digest = EVP_MD_fetch(nullptr, name, nullptr);
    const bool extendable = std::string(name).rfind("SHAKE", 0) == 0;
    const bool right = context != nullptr && digest != nullptr &&
                       EVP_DigestInit_ex(context, digest, nullptr) == 1 &&
                       EVP_DigestUpdate(context, message.data(), message.size()) == 1 &&
                       (extendable ? EVP_DigestFinalXOF(context, out.data(), bytes)
                                   : EVP_DigestFinal_ex(context, out.data(), nullptr)) == 1;
    EVP_MD_free(digest);
    EVP_MD_CTX_free(context);
    if (!right) throw std::runtime_error(std::string("libcrypto has no ") + name);
    return out;
}

Text joined(const std::vector<Text>& parts) {
    Text out;
    for (const Text& part : parts) out.insert(out.end(), part.begin(), part.end());
    return out;
}
Text part(const Text& from, size_t begin, size_t bytes) {
    return Text(from.begin() + static_cast<long>(begin),
                from.begin() + static_cast<long>(begin + bytes));
}

int modulo_q(long x) { return static_cast<int>((x % q + q) % q); }

int power(int base, int exponent) {
    long result = 1;
    for (int i = 0; i < exponent; ++i) result = result * base % q;
    return static_cast<int>(result);
}

int power_of_root(int exponent) {
    static const std::array<int, 256> powers = [] {
        std::array<int, 256> out{};
        for (int i = 0; i < 256; ++i) out[static_cast<size_t>(i)] = power(root, i);
        return out;
    }();
    return powers[static_cast<size_t>(exponent % 256)];
}

// 2 BitRev7(i) + 1.
int exponent_of(int i) {
    int reversed = 0;
    for (int bit = 0; bit < 7; ++bit) reversed |= (i >> bit & 1) << (6 - bit);
    return 2 * reversed + 1;
}

using Poly = std::array<int, n>;

// Section 4.3: residue i is f modulo X^2 - root^(2 BitRev7(i) + 1).
Poly ntt(const Poly& f) {
    Poly out{};
    for (int i = 0; i < 128; ++i) {
        const int gamma = power_of_root(exponent_of(i));
        long even = 0, odd = 0, factor = 1;
        for (int j = 0; j < 128; ++j, factor = factor * gamma % q) {
            even += f[2 * j] * factor;
            odd += f[2 * j + 1] * factor;
        }
        out[2 * i] = modulo_q(even);
        out[2 * i + 1] = modulo_q(odd);
    }
    return out;
}

Poly inverse_ntt(const Poly& residues) {
    Poly out{};
    for (int j = 0; j < 128; ++j) {
        long even = 0, odd = 0;
        for (int i = 0; i < 128; ++i) {
            const int factor = power_of_root((256 - exponent_of(i)) * j);
            even += residues[2 * i] * factor;
            odd += residues[2 * i + 1] * factor;
        }
        const int over_128 = power(128, q - 2);
        out[2 * j] = modulo_q(even % q * over_128);
        out[2 * j + 1] = modulo_q(odd % q * over_128);
    }
    return out;
}

Poly product(const Poly& a, const Poly& b) {  // of transforms
    Poly out{};
    for (int i = 0; i < 128; ++i) {
        const long gamma = power_of_root(exponent_of(i));
        out[2 * i] =
            modulo_q(long{a[2 * i]} * b[2 * i] + long{a[2 * i + 1]} * b[2 * i + 1] % q * gamma);
        out[2 * i + 1] = modulo_q(long{a[2 * i]} * b[2 * i + 1] + long{a[2 * i + 1]} * b[2 * i]);
    }
    return out;
}

Poly sum(const Poly& a, const Poly& b, int sign = 1) {
    Poly out{};
    for (int i = 0; i < n; ++i) out[i] = modulo_q(a[i] + sign * b[i]);
    return out;
}

Text encode(const Poly& a, int bits) {
    Text out(static_cast<size_t>(32 * bits));
    for (int i = 0; i < n * bits; ++i)
        out[i / 8] |= static_cast<uint8_t>((a[i / bits] >> i % bits & 1) << i % 8);
    return out;
}

Poly decode(const uint8_t* in, int bits) {
    Poly out{};
    for (int i = 0; i < n * bits; ++i) out[i / bits] |= (in[i / 8] >> i % 8 & 1) << i % bits;
    return out;
}

Poly compressed(const Poly& a, int bits) {
    Poly out{};
    for (int i = 0; i < n; ++i) out[i] = MlKem::compress(a[i], bits);
    return out;
}

Poly decompressed(const Poly& a, int bits) {
    Poly out{};
    for (int i = 0; i < n; ++i) out[i] = MlKem::decompress(a[i], bits);
    return out;
}

}  // namespace

MlKem::MlKem(const std::string& set) {
    if (set != "ml-kem-512" && set != "ml-kem-768" && set != "ml-kem-1024")
        throw std::invalid_argument(set);
    k_ = set == "ml-kem-512" ? 2 : set == "ml-kem-768" ? 3 : 4;
    eta1_ = k_ == 2 ? 3 : 2;
    du_ = k_ == 4 ? 11 : 10;
    dv_ = k_ == 4 ? 5 : 4;
}

int MlKem::compress(int x, int bits) { return ((x << bits) + q / 2) / q % (1 << bits); }
int MlKem::decompress(int y, int bits) { return (q * y + (1 << bits) / 2) >> bits; }

Poly MlKem::noise(int eta, const Text& seed, int counter) const {
    const Text bytes = hash("SHAKE256", joined({seed, {static_cast<uint8_t>(counter)}}),
                            static_cast<size_t>(64 * eta));
    const auto bit = [&](int i) { return bytes[i / 8] >> i % 8 & 1; };
    Poly out{};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < eta; ++j) out[i] += bit(2 * i * eta + j) - bit(2 * i * eta + eta + j);
    for (int& coefficient : out) coefficient = modulo_q(coefficient);
    return out;
}

Poly MlKem::matrix(const Text& rho, int row, int column) const {
    constexpr size_t more_than_enough = 3 * 1024;
    const Text bytes =
        hash("SHAKE128", joined({rho, {static_cast<uint8_t>(column), static_cast<uint8_t>(row)}}),
             more_than_enough);
    Poly out{};
    int have = 0;
    for (size_t i = 0; have < n; i += 3) {
        const int first = bytes.at(i) + 256 * (bytes.at(i + 1) % 16),
                  second = bytes.at(i + 1) / 16 + 16 * bytes.at(i + 2);
        if (first < q) out[have++] = first;
        if (second < q && have < n) out[have++] = second;
    }
    return out;
}

MlKem::Vector MlKem::decode_vector(const uint8_t* in, int bits) const {
    Vector out;
    for (int i = 0; i < k_; ++i) out.push_back(decode(in + 32 * bits * i, bits));
    return out;
}

MlKem::Keys MlKem::keypair(const Text& coins) const {
    const Text d = part(coins, 0, 32), z = part(coins, 32, 32);
    const Text seeds = hash("SHA3-512", joined({d, {static_cast<uint8_t>(k_)}}), 64);
    const Text rho = part(seeds, 0, 32), sigma = part(seeds, 32, 32);
    Vector s;
    for (int i = 0; i < k_; ++i) s.push_back(ntt(noise(eta1_, sigma, i)));
    Keys keys;
    for (int i = 0; i < k_; ++i) {
        Poly t = ntt(noise(eta1_, sigma, k_ + i));
        for (int j = 0; j < k_; ++j) t = sum(t, product(matrix(rho, i, j), s[j]));
        keys.public_key = joined({keys.public_key, encode(t, 12)});
    }
    keys.public_key = joined({keys.public_key, rho});
    for (const Poly& one : s) keys.secret_key = joined({keys.secret_key, encode(one, 12)});
    keys.secret_key =
        joined({keys.secret_key, keys.public_key, hash("SHA3-256", keys.public_key, 32), z});
    return keys;
}

Text MlKem::encrypt(const Text& public_key, const Text& m, const Text& r) const {
    const Vector t = decode_vector(public_key.data(), 12);
    const Text rho = part(public_key, public_key.size() - 32, 32);
    Vector y;
    for (int i = 0; i < k_; ++i) y.push_back(ntt(noise(eta1_, r, i)));
    Text ciphertext;
    for (int i = 0; i < k_; ++i) {
        Poly u{};
        for (int j = 0; j < k_; ++j) u = sum(u, product(matrix(rho, j, i), y[j]));
        u = sum(inverse_ntt(u), noise(2, r, k_ + i));
        ciphertext = joined({ciphertext, encode(compressed(u, du_), du_)});
    }
    Poly v{};
    for (int j = 0; j < k_; ++j) v = sum(v, product(t[j], y[j]));
    v = sum(sum(inverse_ntt(v), noise(2, r, 2 * k_)), decompressed(decode(m.data(), 1), 1));
    return joined({ciphertext, encode(compressed(v, dv_), dv_)});
}

Text MlKem::decrypt(const Text& secret_key, const Text& ciphertext) const {
    const Vector s = decode_vector(secret_key.data(), 12),
                 u = decode_vector(ciphertext.data(), du_);
    Poly w{};
    for (int j = 0; j < k_; ++j) w = sum(w, product(s[j], ntt(decompressed(u[j], du_))));
    const Poly v = decompressed(decode(ciphertext.data() + 32 * du_ * k_, dv_), dv_);
    return encode(compressed(sum(v, inverse_ntt(w), -1), 1), 1);
}

MlKem::Encapsulated MlKem::encapsulate(const Text& m, const Text& public_key) const {
    const Text both = hash("SHA3-512", joined({m, hash("SHA3-256", public_key, 32)}), 64);
    return {encrypt(public_key, m, part(both, 32, 32)), part(both, 0, 32)};
}

Text MlKem::decapsulate(const Text& ciphertext, const Text& secret_key) const {
    const size_t vector = static_cast<size_t>(384 * k_);
    const Text public_key = part(secret_key, vector, vector + 32),
               h = part(secret_key, 2 * vector + 32, 32), z = part(secret_key, 2 * vector + 64, 32);
    const Text m = decrypt(secret_key, ciphertext);
    const Text both = hash("SHA3-512", joined({m, h}), 64);
    if (encrypt(public_key, m, part(both, 32, 32)) == ciphertext) return part(both, 0, 32);
    return hash("SHAKE256", joined({z, ciphertext}), 32);
}

bool MlKem::public_key_is_valid(const Text& public_key) const {
    for (const Poly& poly : decode_vector(public_key.data(), 12))
        for (const int coefficient : poly)
            if (coefficient >= q) return false;
    return true;
}

bool MlKem::secret_key_is_valid(const Text& secret_key) const {
    const size_t vector = static_cast<size_t>(384 * k_);
    return hash("SHA3-256", part(secret_key, vector, vector + 32), 32) ==
           part(secret_key, 2 * vector + 32, 32);
}

}  // namespace reference
