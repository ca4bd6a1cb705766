// Ciphers, digests and key derivation of `openssl enc`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/foreign/choice.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {

constexpr size_t openssl_salt_bytes = 8;

struct OpensslCipher {
    std::string name;  // "aes-256-cbc", as `warpseal list` has it
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
};
// Accepts our names and those of openssl, such as aes256, des3 and aes-256-cfb. Throws Failure
// (unsupported), or usage if `name` is empty.
OpensslCipher openssl_cipher(const std::string& name);

// Throws Failure (unsupported) for an unknown digest.
void check_openssl_digest(const std::string& name);

// Returns the key, then the IV. `salt` has openssl_salt_bytes bytes; null with -nosalt. Throws
// Failure.
SecretBytes derive_openssl_key(const ForeignChoice& choice, const warpseal_secret& passphrase,
                               const uint8_t* salt, size_t bytes);

}  // namespace warpseal::cli
