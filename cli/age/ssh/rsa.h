// RSA by libcrypto: keys from integers or PEM, and RSA-OAEP as age uses it.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <optional>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

constexpr size_t min_rsa_bits = 2048;
constexpr size_t max_rsa_bits = 16384;  // as libcrypto computes with
constexpr size_t min_rsa_bytes = min_rsa_bits / 8, max_rsa_bytes = max_rsa_bits / 8;

// libcrypto zeroizes the secret integers when the last copy is released.
using PrivateKey = std::shared_ptr<EVP_PKEY>;

struct RsaPublic {
    Octets modulus, exponent;  // big-endian, without leading zeros
};
// Empties libcrypto's queue of errors after a refusal. Throws std::bad_alloc if memory was the
// reason.
void take_errors();
// Bits of an integer without leading zeros.
size_t bits_of(View integer);
// True if both integers could be those of a key.
bool is_plausible_rsa(View modulus, View exponent);

// Big-endian integers. Throws Failure (error) if libcrypto fails, and returns null for integers
// that it refuses.
PrivateKey rsa_private_key(const RsaPublic& key, View private_exponent);
// Null for text that is no PEM private key, and for a wrong passphrase. Never asks for one.
PrivateKey pem_private_key(View text, View passphrase);
// Empty unless the key is an RSA key.
std::optional<RsaPublic> rsa_public_of(EVP_PKEY* key);
// The seed, or empty unless the key is an Ed25519 key.
std::optional<Secret> ed25519_seed_of(EVP_PKEY* key);

// Empty if libcrypto refuses the key.
std::optional<Octets> rsa_seal(const RsaPublic& key, View label, View text);
// Empty if the padding does not verify.
std::optional<Secret> rsa_open(EVP_PKEY* key, View label, View sealed);

}  // namespace warpseal::cli::age
