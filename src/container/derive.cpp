// Key derivation over libcrypto's HMAC and libsodium's Argon2id.
#include "container/derive.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sodium.h>

#include <memory>

namespace warpseal::container {
namespace {

// A context of our own: no configuration file of the host program's OpenSSL is read, and no provider of its choice runs.
EVP_MAC* hmac_algorithm() {
    static OSSL_LIB_CTX* const library = OSSL_LIB_CTX_new();
    static EVP_MAC* const algorithm = library == nullptr ? nullptr : EVP_MAC_fetch(library, "HMAC", nullptr);
    return algorithm;
}

struct FreeMac {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }  // wipes the key schedule
};

}  // namespace

bool hmac(Bytes key, Parts message, uint8_t mac[hmac_bytes]) {
    EVP_MAC* algorithm = hmac_algorithm();
    const std::unique_ptr<EVP_MAC_CTX, FreeMac> context(algorithm == nullptr ? nullptr : EVP_MAC_CTX_new(algorithm));
    char digest[] = "SHA512";
    const OSSL_PARAM settings[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    bool good = context != nullptr && EVP_MAC_init(context.get(), key.data, key.size, settings) == 1;
    for (size_t i = 0; good && i < message.count; ++i) {
        good = message.parts[i].size == 0 || EVP_MAC_update(context.get(), message.parts[i].data, message.parts[i].size) == 1;
    }
    size_t written = 0;
    good = good && EVP_MAC_final(context.get(), mac, &written, hmac_bytes) == 1 && written == hmac_bytes;
    if (!good) wipe(mac, hmac_bytes);
    return good;
}

bool expand(Bytes key, Parts info, uint8_t* out, size_t out_bytes) {
    Secret<hmac_bytes> block;
    uint8_t number = 0;
    for (size_t done = 0; done < out_bytes;) {
        // T(n) = HMAC(key, T(n - 1) || info || n), with T(0) empty.
        Bytes parts[8];
        size_t count = 0;
        if (number > 0) parts[count++] = {block.data(), hmac_bytes};
        for (size_t i = 0; i < info.count; ++i) parts[count++] = info.parts[i];
        ++number;
        parts[count++] = {&number, 1};
        if (!hmac(key, {parts, count}, block.data())) {
            wipe(out, out_bytes);
            return false;
        }
        const size_t take = out_bytes - done < hmac_bytes ? out_bytes - done : hmac_bytes;
        memcpy(out + done, block.data(), take);
        done += take;
    }
    return true;
}

warpseal_status argon2id(Bytes passphrase, const uint8_t salt[argon2_salt_bytes], Argon2Cost cost, Secret<32>& out) {
    static_assert(argon2_salt_bytes == crypto_pwhash_argon2id_SALTBYTES);
    if (sodium_init() < 0) return WARPSEAL_NO_RANDOM;  // the only thing that it can fail at
    const int failed = crypto_pwhash_argon2id(out.data(), out.size(), reinterpret_cast<const char*>(passphrase.data), passphrase.size, salt,
                                              cost.passes, size_t{cost.memory_kib} * 1024, crypto_pwhash_argon2id_ALG_ARGON2ID13);
    return failed == 0 ? WARPSEAL_OK : WARPSEAL_OUT_OF_MEMORY;
}

}  // namespace warpseal::container
