// OpenSSL's side of a measurement.
#include "bench_openssl.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <algorithm>

namespace warpseal::cli {
namespace {

// Providers stay loaded for the life of the process. The legacy one may be absent: then its ciphers are.
void load_providers() {
    static const bool loaded = OSSL_PROVIDER_load(nullptr, "default") != nullptr && (OSSL_PROVIDER_try_load(nullptr, "legacy", 1), true);
    if (!loaded) throw Failure(ExitCode::error, "OpenSSL's default provider does not load: there is nothing to compare with.");
}

// Their name of ours: "aes-256-ctr", "des-ede3-ecb" for 3DES; names are matched without regard to case.
std::string openssl_name(const BenchCase& what) { return what.name(); }

}  // namespace

size_t bench_iv_bytes(const BenchCase& what) {
    return what.mode == WARPSEAL_ECB ? 0 : what.mode == WARPSEAL_GCM ? bench_nonce_bytes : what.cipher.block_bytes;
}

void OpenSsl::Delete::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

OpenSsl::OpenSsl(const BenchCase& what, evp_cipher_ctx_st* context) : what_(what), context_(context) {}

std::unique_ptr<OpenSsl> OpenSsl::find(const BenchCase& what, const std::vector<uint8_t>& key) {
    load_providers();
    const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(EVP_CIPHER_fetch(nullptr, openssl_name(what).c_str(), nullptr),
                                                                    EVP_CIPHER_free);
    if (!cipher) return nullptr;
    std::unique_ptr<OpenSsl> side(new OpenSsl(what, EVP_CIPHER_CTX_new()));
    EVP_CIPHER_CTX* context = side->context_.get();
    if (!context || EVP_CipherInit_ex2(context, cipher.get(), key.data(), nullptr, what.encrypt, nullptr) != 1 ||
        EVP_CIPHER_CTX_set_padding(context, 0) != 1)
        throw Failure(ExitCode::error, "OpenSSL does not take a key of " + what.name() + ".");
    return side;
}

std::unique_ptr<OpenSsl> require_openssl(const BenchCase& what, const std::vector<uint8_t>& key) {
    std::unique_ptr<OpenSsl> side = OpenSsl::find(what, key);
    if (!side) throw BenchWrong("this OpenSSL has no " + what.name() + " to compare with");
    return side;
}

bool OpenSsl::run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
    constexpr size_t largest_update = size_t{1} << 30;  // lengths are int
    EVP_CIPHER_CTX* context = context_.get();
    if (what_.mode != WARPSEAL_ECB && EVP_CipherInit_ex2(context, nullptr, nullptr, iv, -1, nullptr) != 1) return false;
    if (what_.aead() && !what_.encrypt && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, bench_tag_bytes, tag) != 1) return false;
    int wrote = 0;
    for (size_t done = 0; done < bytes;) {
        const size_t piece = std::min(largest_update, bytes - done);
        if (EVP_CipherUpdate(context, out + done, &wrote, in + done, static_cast<int>(piece)) != 1) return false;
        done += piece;
    }
    if (!what_.aead()) return true;
    uint8_t none[16];
    if (EVP_CipherFinal_ex(context, none, &wrote) != 1) return false;
    return !what_.encrypt || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, bench_tag_bytes, tag) == 1;
}

std::string openssl_version() { return OpenSSL_version(OPENSSL_VERSION); }

}  // namespace warpseal::cli
