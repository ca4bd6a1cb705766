// OpenSSL's side of a measurement.
#include "bench/bulk/openssl.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <algorithm>
#include <cctype>

namespace warpseal::bench {
namespace {

// Loads the providers for the life of the process. The legacy provider and its ciphers may be
// missing.
void load_providers() {
    static const bool loaded = OSSL_PROVIDER_load(nullptr, "default") != nullptr &&
                               (OSSL_PROVIDER_try_load(nullptr, "legacy", 1), true);
    if (!loaded)
        throw cli::Failure(
            cli::ExitCode::error,
            "OpenSSL's default provider does not load: there is nothing to compare with.");
}

// Returns OpenSSL's possible names of our cipher, by rule instead of a list. They are our name,
// without the key length (for ciphers with one length), or without the number of keys (two is
// OpenSSL's default).
std::vector<std::string> family_names(const std::string& ours) {
    std::vector<std::string> names{ours};
    const size_t dash = ours.rfind('-');
    if (dash != std::string::npos &&
        ours.find_first_not_of("0123456789", dash + 1) == std::string::npos)
        names.push_back(ours.substr(0, dash));
    if (std::isdigit(static_cast<unsigned char>(ours.back())))
        names.push_back(ours.substr(0, ours.size() - 1));
    return names;
}

using Cipher = std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)>;

// OpenSSL's CMAC names the cipher by its CBC mode.
Cipher fetch(const BenchCase& what, std::string& name) {
    load_providers();
    for (const std::string& family : family_names(what.cipher.name)) {
        name = family + "-" + (what.mac() ? "cbc" : warpseal_mode_name(what.mode));
        Cipher cipher(EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr), EVP_CIPHER_free);
        const size_t key_bytes =
            cipher ? static_cast<size_t>(EVP_CIPHER_get_key_length(cipher.get())) : 0;
        if (key_bytes == what.key_bytes()) return cipher;
    }
    return {nullptr, EVP_CIPHER_free};
}

}  // namespace

OpenSsl::OpenSsl(const BenchCase& what, std::string name) : what_(what), name_(std::move(name)) {}

OpenSsl::~OpenSsl() {
    EVP_CIPHER_CTX_free(cipher_);
    EVP_MAC_CTX_free(mac_);
}

std::unique_ptr<OpenSsl> OpenSsl::find(const BenchCase& what, const std::vector<uint8_t>& key) {
    std::string name;
    const Cipher cipher = fetch(what, name);
    if (!cipher) return nullptr;
    std::unique_ptr<OpenSsl> side(new OpenSsl(what, name));
    bool good = true;
    if (what.mac()) {
        const std::unique_ptr<EVP_MAC, void (*)(EVP_MAC*)> mac(
            EVP_MAC_fetch(nullptr, "CMAC", nullptr), EVP_MAC_free);
        side->mac_ = mac ? EVP_MAC_CTX_new(mac.get()) : nullptr;
        const OSSL_PARAM settings[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name.data(), 0),
            OSSL_PARAM_construct_end()};
        good = side->mac_ && EVP_MAC_init(side->mac_, key.data(), key.size(), settings) == 1;
        side->name_ = "cmac, " + name;
    } else {
        side->cipher_ = EVP_CIPHER_CTX_new();
        good = side->cipher_ &&
               EVP_CipherInit_ex2(side->cipher_, cipher.get(), nullptr, nullptr, what.encrypt,
                                  nullptr) == 1 &&
               EVP_CIPHER_CTX_set_padding(side->cipher_, 0) == 1;
        if (what.mode == WARPSEAL_CCM)
            good = good &&
                   EVP_CIPHER_CTX_ctrl(side->cipher_, EVP_CTRL_AEAD_SET_IVLEN, bench_nonce_bytes,
                                       nullptr) == 1 &&
                   EVP_CIPHER_CTX_ctrl(side->cipher_, EVP_CTRL_AEAD_SET_TAG,
                                       static_cast<int>(what.tag_bytes()), nullptr) == 1;
        good = good && side->set_key(key.data());
    }
    if (!good)
        throw cli::Failure(cli::ExitCode::error,
                           "OpenSSL does not take a key of " + what.name() + ".");
    return side;
}

bool OpenSsl::set_key(const uint8_t* key) {
    if (mac_) return EVP_MAC_init(mac_, key, what_.key_bytes(), nullptr) == 1;
    return EVP_CipherInit_ex2(cipher_, nullptr, key, nullptr, -1, nullptr) == 1;
}

bool OpenSsl::run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
    if (mac_) return run_mac(in, bytes, tag);
    if (what_.mode != WARPSEAL_XTS) return run_message(iv, in, out, bytes, tag);
    uint8_t unit[16];
    std::copy_n(iv, sizeof unit, unit);
    for (size_t done = 0; done < bytes; done += what_.unit_bytes) {
        if (!run_message(unit, in + done, out + done,
                         std::min<size_t>(what_.unit_bytes, bytes - done), nullptr))
            return false;
        for (size_t i = 0; i < sizeof unit && ++unit[i] == 0; ++i) {
        }
    }
    return true;
}

bool OpenSsl::run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                          uint8_t* tag) {
    constexpr size_t largest_update = size_t{1} << 30;  // OpenSSL's lengths have type int.
    const bool ccm = what_.mode == WARPSEAL_CCM, opens = what_.aead() && !what_.encrypt;
    const int tag_bytes = static_cast<int>(what_.tag_bytes());
    int wrote = 0;
    if (ccm &&
        (bytes > largest_update || EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_TAG, tag_bytes,
                                                       opens ? tag : nullptr) != 1))
        return false;
    if (what_.mode != WARPSEAL_ECB &&
        EVP_CipherInit_ex2(cipher_, nullptr, nullptr, iv, -1, nullptr) != 1)
        return false;
    if (opens && !ccm && EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag) != 1)
        return false;
    if (ccm && EVP_CipherUpdate(cipher_, nullptr, &wrote, nullptr, static_cast<int>(bytes)) != 1)
        return false;
    for (size_t done = 0; done < bytes;) {
        const size_t segment = std::min(largest_update, bytes - done);
        if (EVP_CipherUpdate(cipher_, out + done, &wrote, in + done, static_cast<int>(segment)) !=
            1)
            return false;
        done += segment;
    }
    if (!what_.aead()) return true;
    uint8_t none[16];
    // CCM's update has already checked the tag.
    if (!(ccm && opens) && EVP_CipherFinal_ex(cipher_, none, &wrote) != 1) return false;
    return opens || EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag) == 1;
}

bool OpenSsl::run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) {
    uint8_t computed[16];
    size_t wrote = 0;
    const bool good =
        EVP_MAC_init(mac_, nullptr, 0, nullptr) == 1 && EVP_MAC_update(mac_, in, bytes) == 1 &&
        EVP_MAC_final(mac_, computed, &wrote, sizeof computed) == 1 && wrote == what_.tag_bytes();
    if (!good) return false;
    if (!what_.encrypt) return std::equal(computed, computed + wrote, tag);
    std::copy_n(computed, wrote, tag);
    return true;
}

std::unique_ptr<OpenSsl> find_openssl_ecb(const BenchCase& what, const std::vector<uint8_t>& key,
                                          bool encrypt) {
    BenchCase ecb = what.as(encrypt);
    ecb.mode = WARPSEAL_ECB;
    return OpenSsl::find(ecb, {key.begin(), key.begin() + static_cast<ptrdiff_t>(ecb.key_bytes())});
}

}  // namespace warpseal::bench
