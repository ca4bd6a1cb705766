// Names and key derivation of `openssl enc`, by libcrypto.
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "cli/foreign/openssl.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {
namespace {

constexpr int default_iterations = 10'000;

struct DigestDelete {
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Digest = std::unique_ptr<EVP_MD, DigestDelete>;

void require(bool good) {
    if (!good) throw Failure(ExitCode::error, "libcrypto cannot derive the key.");
}

Digest fetch_digest(const std::string& name) {
    Digest digest(EVP_MD_fetch(nullptr, name.empty() ? "sha256" : name.c_str(), nullptr));
    // The provider's NULL has no bytes, of which no key can be made.
    if (!digest || (EVP_MD_get_flags(digest.get()) & EVP_MD_FLAG_XOF) != 0 ||
        EVP_MD_get_size(digest.get()) <= 0)
        throw Failure(ExitCode::unsupported,
                      cli::format("there is no digest '{}': use md5, sha1, sha256, sha512 or "
                                  "another of `openssl list -digest-algorithms`.",
                                  name));
    return digest;
}

// One round of EVP_BytesToKey: D1 = H(password || salt), Di = H(D(i-1) || password || salt).
void bytes_to_key(const EVP_MD* digest, const warpseal_secret& passphrase, const uint8_t* salt,
                  SecretBytes& out, size_t bytes) {
    const std::unique_ptr<EVP_MD_CTX, DigestDelete> context(EVP_MD_CTX_new());
    require(context != nullptr);
    SecretBytes block;
    while (out.size < bytes) {
        unsigned block_bytes = 0;
        require(EVP_DigestInit_ex(context.get(), digest, nullptr) == 1 &&
                EVP_DigestUpdate(context.get(), block.data(), block.size) == 1 &&
                EVP_DigestUpdate(context.get(), passphrase.bytes, passphrase.byte_count) == 1 &&
                EVP_DigestUpdate(context.get(), salt, salt ? openssl_salt_bytes : 0) == 1 &&
                EVP_DigestFinal_ex(context.get(), block.data(), &block_bytes) == 1);
        block.size = block_bytes;
        const size_t copied = std::min(block.size, bytes - out.size);
        std::memcpy(out.data() + out.size, block.data(), copied);
        out.size += copied;
    }
}

// Names that openssl gives to ciphers: CBC is not always named, nor the only key size.
std::string our_name(std::string name) {
    name = lower_case(std::move(name));
    if (!name.empty() && name.front() == '-') name.erase(0, 1);
    for (const char* const family : {"aes", "aria", "camellia"})
        for (const char* const bits : {"128", "192", "256"})
            if (name == std::string(family) + bits) return cli::format("{}-{}-cbc", family, bits);
    if (name == "des3") return "des-ede3-cbc";
    if (name == "des" || name == "seed" || name == "sm4") name += "-cbc";
    for (const char* const family : {"seed", "sm4"})
        if (name.rfind(std::string(family) + "-", 0) == 0 &&
            name.find("-128-") == std::string::npos)
            name.insert(std::strlen(family), "-128");
    if (name.rfind("des-ede-", 0) == 0) name.replace(0, 7, "des-ede2");
    return name;
}

}  // namespace

OpensslCipher openssl_cipher(const std::string& name) {
    if (name.empty())
        throw Failure(ExitCode::usage,
                      "a file of openssl enc does not record its cipher: give -c aes-256-cbc, or "
                      "what it was encrypted with, and --pbkdf2 or --iter if it was given.");
    const std::string wanted = our_name(name);
    for (const warpseal_cipher_info& cipher : all_ciphers())
        for (const warpseal_mode mode : modes_of(cipher)) {
            const std::string plain = cli::format("{}-{}", cipher.name, warpseal_mode_name(mode));
            const std::string full =
                cli::format("{}-{}", cipher.name, full_mode_name(cipher, mode));
            if (wanted != plain && wanted != full) continue;
            if (mode == WARPSEAL_CBC || mode == WARPSEAL_CTR || mode == WARPSEAL_CFB ||
                mode == WARPSEAL_OFB)
                return {full, cipher, mode};
        }
    const auto ends = [&](const std::string& with) {
        return wanted.size() >= with.size() &&
               wanted.compare(wanted.size() - with.size(), with.size(), with) == 0;
    };
    if (ends("-ecb") || wanted == "des-ede" || wanted == "des-ede3")
        throw Failure(ExitCode::unsupported,
                      cli::format("'{}' is ECB, which is not read: decrypt it with `openssl enc -d "
                                  "-{}`, and encrypt it in another mode.",
                                  name, wanted));
    throw Failure(ExitCode::unsupported,
                  cli::format("there is no cipher '{}' for files of openssl enc: use a cipher of "
                              "`warpseal list` with cbc, ctr, cfb or ofb, such as aes-256-cbc.{}",
                              name, did_you_mean(wanted, cipher_mode_names())));
}

void check_openssl_digest(const std::string& name) { (void)fetch_digest(name); }

SecretBytes derive_openssl_key(const ForeignChoice& choice, const warpseal_secret& passphrase,
                               const uint8_t* salt, size_t bytes) {
    const Digest digest = fetch_digest(choice.digest);
    SecretBytes out;
    if (choice.iterations == 0 && !choice.pbkdf2) {
        bytes_to_key(digest.get(), passphrase, salt, out, bytes);
        return out;
    }
    const int iterations =
        choice.iterations != 0 ? static_cast<int>(choice.iterations) : default_iterations;
    require(PKCS5_PBKDF2_HMAC(static_cast<const char*>(passphrase.bytes),
                              static_cast<int>(passphrase.byte_count), salt,
                              salt ? static_cast<int>(openssl_salt_bytes) : 0, iterations,
                              digest.get(), static_cast<int>(bytes), out.data()) == 1);
    out.size = bytes;
    return out;
}

}  // namespace warpseal::cli
