// Time of a server's part of a key exchange: the median of many.
#include "bench/tls/key_exchange.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "bench/tls/library.h"

namespace warpseal::tls {
namespace {

using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Release<EVP_PKEY_CTX_free>>;

double median_seconds(const std::function<bool()>& exchange) {
    constexpr int times = 401;
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
        const auto start = std::chrono::steady_clock::now();
        if (!exchange()) return 0;
        seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
    return seconds[times / 2];
}

// Where keys are made: a library context, and the properties of what is fetched there.
struct Origin {
    OSSL_LIB_CTX* library;
    std::string properties;
};

PrivateKey make_key(const Origin& from, const std::string& name) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_name(from.library, name.c_str(), from.properties.c_str()));
    EVP_PKEY* key = nullptr;
    if (context && EVP_PKEY_keygen_init(context.get()) == 1) EVP_PKEY_generate(context.get(), &key);
    return PrivateKey(key);
}

bool derive(const Origin& from, EVP_PKEY* own, EVP_PKEY* peer) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_pkey(from.library, own, from.properties.c_str()));
    unsigned char secret[256];
    size_t bytes = sizeof secret;
    const bool derived = context && EVP_PKEY_derive_init(context.get()) == 1 &&
                         EVP_PKEY_derive_set_peer(context.get(), peer) == 1 &&
                         EVP_PKEY_derive(context.get(), secret, &bytes) == 1;
    OPENSSL_cleanse(secret, sizeof secret);
    return derived;
}

bool encapsulate(const Origin& from, EVP_PKEY* key) {
    const KeyContext context(
        EVP_PKEY_CTX_new_from_pkey(from.library, key, from.properties.c_str()));
    unsigned char ciphertext[8192], secret[256];
    size_t ciphertext_bytes = sizeof ciphertext, secret_bytes = sizeof secret;
    const bool encapsulated = context && EVP_PKEY_encapsulate_init(context.get(), nullptr) == 1 &&
                              EVP_PKEY_encapsulate(context.get(), ciphertext, &ciphertext_bytes,
                                                   secret, &secret_bytes) == 1;
    OPENSSL_cleanse(secret, sizeof secret);
    return encapsulated;
}

}  // namespace

double key_exchange_seconds(OSSL_LIB_CTX* library, const std::string& group,
                            const std::string& provider) {
    const Origin from{library, "?provider=" + provider};
    double seconds = 0;
    if (const PrivateKey peer = make_key(from, group)) {
        seconds = median_seconds([&] {
            const PrivateKey own = make_key(from, group);
            return own && derive(from, own.get(), peer.get());
        });
        if (seconds == 0) seconds = median_seconds([&] { return encapsulate(from, peer.get()); });
    }
    ERR_clear_error();
    return seconds;
}

}  // namespace warpseal::tls
