// X25519 (RFC 7748) on big numbers, and its hybrids with ML-KEM-768, hashes by libcrypto.
#pragma once

#include "reference/mlkem.h"

namespace reference {

// X25519(scalar, u), 32 bytes each; zeros for a point of low order.
Text x25519(const Text& scalar, const Text& u);

class Hybrid {
public:
    // "x25519", "x25519mlkem768" or "x-wing".
    explicit Hybrid(const std::string& set);

    MlKem::Keys keypair(const Text& coins) const;
    MlKem::Encapsulated encapsulate(const Text& coins, const Text& public_key) const;
    Text decapsulate(const Text& ciphertext, const Text& secret_key) const;

private:
    Text combine(const Text& both, const Text& ciphertext, const Text& public_key) const;
    MlKem::Keys long_keys(const Text& coins) const;

    bool with_mlkem_, is_xwing_;
    MlKem mlkem_{"ml-kem-768"};
};

}  // namespace reference
