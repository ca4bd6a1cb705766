// Primitives of age v1, by libcrypto: HMAC, HKDF, ChaCha20-Poly1305, X25519 and scrypt.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <optional>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

constexpr size_t key_bytes = 32;
constexpr size_t file_key_bytes = 16;
constexpr size_t tag_bytes = 16;
constexpr size_t aead_nonce_bytes = 12;

// A library context of our own, without openssl.cnf.
OSSL_LIB_CTX* libcrypto_context();
// Throws Failure (error) unless `done`, and empties libcrypto's queue of errors.
void require_libcrypto(bool done, const char* what);

// All functions throw Failure (error) if libcrypto or the random source fails.
Secret random_secret(size_t bytes);
Secret hmac_sha256(View key, View data);
// RFC 5869 with SHA-256 and an output of 32 bytes. An empty salt is 32 zero bytes.
Secret hkdf_sha256(View input, View salt, View info);
Secret x25519_public(View secret_key);
// Empty for a point of low order.
std::optional<Secret> x25519(View secret_key, View public_key);
// Needs 1 KiB << log2_cost of memory.
Secret scrypt(View passphrase, View salt, unsigned log2_cost);

// ChaCha20-Poly1305 without additional data, for many messages under one key.
class Aead {
public:
    explicit Aead(View key);
    // Writes `text` and then the tag.
    void seal(View nonce, View text, uint8_t* out);
    // Writes all of `sealed` but its tag. If this returns false, `out` holds unverified data.
    bool open(View nonce, View sealed, uint8_t* out);

private:
    struct Delete {
        void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    };
    std::unique_ptr<EVP_CIPHER_CTX, Delete> context_;
};

// The AEAD of stanzas, with a nonce of 12 zero bytes.
Octets wrap_file_key(View key, View file_key);
// Empty if the tag does not verify.
std::optional<Secret> unwrap_file_key(View key, View body);

bool equal(View one, View other);  // in constant time

}  // namespace warpseal::cli::age
