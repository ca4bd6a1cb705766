// OpenSSL's side of a measurement.
#include "bench/bulk/yardsticks/openssl.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <cctype>

#include "bench/bulk/yardsticks/libcrypto.h"

namespace warpseal::bench {
namespace {

const LibCrypto& linked() {
    static const LibCrypto functions = [] {
        const LibCrypto made;
        load_providers(made, true);
        return made;
    }();
    return functions;
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

using Cipher = std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)>;

// OpenSSL's CMAC names the cipher by its CBC mode.
Cipher fetch(const LibCrypto& crypto, const BenchCase& what, std::string& name) {
    for (const std::string& family : family_names(what.cipher.name)) {
        name = family + "-" + (what.mac() ? "cbc" : warpseal_mode_name(what.mode));
        Cipher cipher(crypto.EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr),
                      crypto.EVP_CIPHER_free);
        const size_t key_bytes =
            cipher ? static_cast<size_t>(crypto.EVP_CIPHER_get_key_length(cipher.get())) : 0;
        if (key_bytes == what.key_bytes()) return cipher;
    }
    return {nullptr, crypto.EVP_CIPHER_free};
}

EVP_MAC_CTX* new_cmac(const LibCrypto& crypto, std::string cipher,
                      const std::vector<uint8_t>& key) {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(
        crypto.EVP_MAC_fetch(nullptr, "CMAC", nullptr), crypto.EVP_MAC_free);
    EVP_MAC_CTX* const made = mac ? crypto.EVP_MAC_CTX_new(mac.get()) : nullptr;
    const OSSL_PARAM settings[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher.data(), 0),
        OSSL_PARAM_construct_end()};
    if (made && crypto.EVP_MAC_init(made, key.data(), key.size(), settings) == 1) return made;
    crypto.EVP_MAC_CTX_free(made);
    return nullptr;
}

class LinkedOpenSsl : public YardstickLibrary {
public:
    std::string version() const override {
        return linked().OpenSSL_version(OPENSSL_VERSION_STRING);
    }
    std::unique_ptr<YardstickCipher> find(const BenchCase& what,
                                          const std::vector<uint8_t>& key) const override {
        return OpenSsl::find(what, key);
    }
};

}  // namespace

void load_providers(const LibCrypto& functions, bool with_legacy) {
    if (!functions.OSSL_PROVIDER_load(nullptr, "default"))
        throw cli::Failure(
            cli::ExitCode::error,
            "OpenSSL's default provider does not load: there is nothing to compare with.");
    if (with_legacy) functions.OSSL_PROVIDER_try_load(nullptr, "legacy", 1);
}

std::shared_ptr<const YardstickLibrary> open_linked_openssl() {
    return std::make_shared<LinkedOpenSsl>();
}

OpenSsl::OpenSsl(const LibCrypto& functions, const std::string& library, const BenchCase& what,
                 const std::string& cipher_name)
    : YardstickCipher(what, library, (what.mac() ? "cmac, " : "") + cipher_name),
      crypto_(functions) {}

OpenSsl::~OpenSsl() {
    crypto_.EVP_CIPHER_CTX_free(cipher_);
    crypto_.EVP_MAC_CTX_free(mac_);
}

std::unique_ptr<OpenSsl> OpenSsl::find(const BenchCase& what, const std::vector<uint8_t>& key) {
    return find_in(linked(), "openssl", what, key);
}

std::unique_ptr<OpenSsl> OpenSsl::find_in(const LibCrypto& functions, const std::string& library,
                                          const BenchCase& what, const std::vector<uint8_t>& key) {
    std::string name;
    const Cipher cipher = fetch(functions, what, name);
    if (!cipher) return nullptr;
    std::unique_ptr<OpenSsl> side(new OpenSsl(functions, library, what, name));
    bool good = false;
    if (what.mac()) {
        side->mac_ = new_cmac(functions, name, key);
        good = side->mac_ != nullptr;
    } else {
        side->cipher_ = functions.EVP_CIPHER_CTX_new();
        good = side->cipher_ &&
               functions.EVP_CipherInit_ex2(side->cipher_, cipher.get(), nullptr, nullptr,
                                            what.encrypt, nullptr) == 1 &&
               functions.EVP_CIPHER_CTX_set_padding(side->cipher_, 0) == 1 &&
               (what.mode != WARPSEAL_CCM || side->set_up_ccm()) && side->set_key(key.data());
    }
    if (!good)
        throw cli::Failure(cli::ExitCode::error,
                           "OpenSSL does not take a key of " + what.name() + ".");
    return side;
}

bool OpenSsl::set_up_ccm() {
    return crypto_.EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_IVLEN, bench_nonce_bytes,
                                       nullptr) == 1 &&
           crypto_.EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_TAG,
                                       static_cast<int>(what_.tag_bytes()), nullptr) == 1;
}

bool OpenSsl::set_key(const uint8_t* key) {
    if (mac_) return crypto_.EVP_MAC_init(mac_, key, what_.key_bytes(), nullptr) == 1;
    return crypto_.EVP_CipherInit_ex2(cipher_, nullptr, key, nullptr, -1, nullptr) == 1;
}

bool OpenSsl::run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                          uint8_t* tag) {
    constexpr size_t largest_update = size_t{1} << 30;  // OpenSSL's lengths have type int.
    const bool ccm = what_.mode == WARPSEAL_CCM, opens = what_.aead() && !what_.encrypt;
    const int tag_bytes = static_cast<int>(what_.tag_bytes());
    int wrote = 0;
    if (ccm && (bytes > largest_update ||
                crypto_.EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_TAG, tag_bytes,
                                            opens ? tag : nullptr) != 1))
        return false;
    if (what_.mode != WARPSEAL_ECB &&
        crypto_.EVP_CipherInit_ex2(cipher_, nullptr, nullptr, iv, -1, nullptr) != 1)
        return false;
    if (opens && !ccm &&
        crypto_.EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag) != 1)
        return false;
    if (ccm &&
        crypto_.EVP_CipherUpdate(cipher_, nullptr, &wrote, nullptr, static_cast<int>(bytes)) != 1)
        return false;
    for (size_t done = 0; done < bytes;) {
        const size_t segment = std::min(largest_update, bytes - done);
        if (crypto_.EVP_CipherUpdate(cipher_, out + done, &wrote, in + done,
                                     static_cast<int>(segment)) != 1)
            return false;
        done += segment;
    }
    if (!what_.aead()) return true;
    uint8_t none[16];
    // CCM's update has already checked the tag.
    if (!(ccm && opens) && crypto_.EVP_CipherFinal_ex(cipher_, none, &wrote) != 1) return false;
    return opens ||
           crypto_.EVP_CIPHER_CTX_ctrl(cipher_, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag) == 1;
}

bool OpenSsl::run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) {
    size_t wrote = 0;
    return crypto_.EVP_MAC_init(mac_, nullptr, 0, nullptr) == 1 &&
           crypto_.EVP_MAC_update(mac_, in, bytes) == 1 &&
           crypto_.EVP_MAC_final(mac_, tag, &wrote, bench_tag_stride) == 1 &&
           wrote == what_.tag_bytes();
}

}  // namespace warpseal::bench
