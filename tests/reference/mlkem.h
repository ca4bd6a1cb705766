// ML-KEM as FIPS 203 describes it: the transform by its definition, hashes by libcrypto.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "reference/cipher.h"

namespace reference {

class MlKem {
public:
    // "ml-kem-512", "ml-kem-768" or "ml-kem-1024".
    explicit MlKem(const std::string& set);

    struct Keys {
        Text public_key, secret_key;
    };
    struct Encapsulated {
        Text ciphertext, secret;
    };
    // coins: d, then z.
    Keys keypair(const Text& coins) const;
    Encapsulated encapsulate(const Text& m, const Text& public_key) const;
    Text decapsulate(const Text& ciphertext, const Text& secret_key) const;
    // The checks of sections 7.2 and 7.3, without those of lengths.
    bool public_key_is_valid(const Text& public_key) const;
    bool secret_key_is_valid(const Text& secret_key) const;

    // Equations 4.7 and 4.8.
    static int compress(int x, int bits);
    static int decompress(int y, int bits);

private:
    using Poly = std::array<int, 256>;
    using Vector = std::vector<Poly>;
    Poly noise(int eta, const Text& seed, int counter) const;
    Poly matrix(const Text& rho, int row, int column) const;
    Text encrypt(const Text& public_key, const Text& m, const Text& r) const;
    Text decrypt(const Text& secret_key, const Text& ciphertext) const;
    Vector decode_vector(const uint8_t* in, int bits) const;

    int k_, eta1_, du_, dv_;
};

}  // namespace reference
