// AES-256-CTR-DRBG without derivation function (SP 800-90A 10.2.1), as in NIST's answer files, and
// hashes (FIPS 202), both by libcrypto.
#include "cli/vectors/kem_coins.h"

#include <openssl/evp.h>

#include <algorithm>

namespace warpseal::cli {
namespace {

constexpr size_t rejection_key_bytes = 32, block_bytes = 16, seed_bytes = 48;

struct CipherDelete {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
struct DigestDelete {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Generator {
public:
    explicit Generator(const Octets& seed) : key_(32, 0), counter_(block_bytes, 0) { update(seed); }

    Octets draw(size_t bytes) {
        Octets out = blocks((bytes + block_bytes - 1) / block_bytes);
        out.resize(bytes);
        update(Octets(seed_bytes, 0));
        return out;
    }

private:
    Octets blocks(size_t count) {
        Octets out;
        for (size_t i = 0; i < count; ++i) {
            for (size_t byte = block_bytes; byte-- > 0 && ++counter_[byte] == 0;) {
            }
            out.insert(out.end(), counter_.begin(), counter_.end());
        }
        const std::unique_ptr<EVP_CIPHER_CTX, CipherDelete> context(EVP_CIPHER_CTX_new());
        int done = 0;
        if (!context ||
            EVP_EncryptInit_ex2(context.get(), EVP_aes_256_ecb(), key_.data(), nullptr, nullptr) !=
                1 ||
            EVP_EncryptUpdate(context.get(), out.data(), &done, out.data(),
                              static_cast<int>(out.size())) != 1)
            throw std::runtime_error("OpenSSL has no AES-256");
        return out;
    }
    void update(const Octets& data) {
        Octets next = blocks(seed_bytes / block_bytes);
        for (size_t i = 0; i < next.size(); ++i) next[i] ^= data[i];
        key_.assign(next.begin(), next.begin() + 32);
        counter_.assign(next.begin() + 32, next.end());
    }

    Octets key_, counter_;
};

Octets hash(const EVP_MD* algorithm, const Octets& message, size_t bytes) {
    Octets out(bytes);
    const std::unique_ptr<EVP_MD_CTX, DigestDelete> context(EVP_MD_CTX_new());
    const bool extends = EVP_MD_get_flags(algorithm) & EVP_MD_FLAG_XOF;
    if (!context || EVP_DigestInit_ex2(context.get(), algorithm, nullptr) != 1 ||
        EVP_DigestUpdate(context.get(), message.data(), message.size()) != 1 ||
        (extends ? EVP_DigestFinalXOF(context.get(), out.data(), bytes)
                 : EVP_DigestFinal_ex(context.get(), out.data(), nullptr)) != 1)
        throw std::runtime_error("OpenSSL has no SHA-3");
    return out;
}

}  // namespace

Octets kem_answer_seed(uint64_t count) {
    Octets first(seed_bytes);
    for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<uint8_t>(i);
    Generator generator(first);
    Octets seed = generator.draw(seed_bytes);
    while (count-- > 0) seed = generator.draw(seed_bytes);
    return seed;
}

KemCoins kem_answer_coins(const warpseal_kem_info& set, const Octets& seed) {
    Generator generator(seed);
    KemCoins coins{generator.draw(set.keypair_coins_bytes - rejection_key_bytes), {}};
    const Octets rejection_key = generator.draw(rejection_key_bytes);
    coins.keypair.insert(coins.keypair.end(), rejection_key.begin(), rejection_key.end());
    coins.encapsulation = generator.draw(set.encapsulation_coins_bytes);
    return coins;
}

KemCoins kem_digest_coins(const warpseal_kem_info& set, uint64_t item) {
    const std::string label = std::string("ntru-bulk/") + set.name + "/";
    Octets message(label.begin(), label.end());
    for (int byte = 0; byte < 8; ++byte)
        message.push_back(static_cast<uint8_t>(item >> (8 * byte)));
    const Octets all =
        hash(EVP_shake256(), message, set.keypair_coins_bytes + set.encapsulation_coins_bytes);
    const auto cut = all.begin() + static_cast<std::ptrdiff_t>(set.keypair_coins_bytes);
    return {Octets(all.begin(), cut), Octets(cut, all.end())};
}

Octets kem_rejected_secret(const Octets& secret_key, const Octets& ciphertext) {
    Octets message(secret_key.end() - rejection_key_bytes, secret_key.end());
    message.insert(message.end(), ciphertext.begin(), ciphertext.end());
    return hash(EVP_sha3_256(), message, 32);
}

}  // namespace warpseal::cli
