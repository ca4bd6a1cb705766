// The three ML-KEM parameter sets (FIPS 203, section 8), and sizes derived from them.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace warpseal::kem {

struct MlKemParams {
    const char* name;
    int k;           // rows of the matrix
    int eta1, eta2;  // width of the noise of s, e and y, and of e1 and e2
    int du, dv;      // bits of a compressed coefficient of u and v

    // 256 coefficients of `bits` bits.
    static constexpr size_t poly_bytes(int bits) { return 32 * static_cast<size_t>(bits); }
    // A vector of k polynomials with 12 bits a coefficient.
    constexpr size_t vector_bytes() const { return static_cast<size_t>(k) * poly_bytes(12); }
    constexpr size_t u_bytes() const { return static_cast<size_t>(k) * poly_bytes(du); }

    constexpr size_t public_key_bytes() const { return vector_bytes() + 32; }
    // s, the public key, its hash, and the implicit rejection value z.
    constexpr size_t secret_key_bytes() const { return vector_bytes() + public_key_bytes() + 64; }
    constexpr size_t ciphertext_bytes() const { return u_bytes() + poly_bytes(dv); }

    static constexpr size_t keypair_coins = 64;        // d, then z
    static constexpr size_t encapsulation_coins = 32;  // m
    static constexpr size_t shared_secret_bytes = 32;
};

// Internal linkage: see params.h.
constexpr MlKemParams mlkem512{"ml-kem-512", 2, 3, 2, 10, 4};
constexpr MlKemParams mlkem768{"ml-kem-768", 3, 2, 2, 10, 4};
constexpr MlKemParams mlkem1024{"ml-kem-1024", 4, 2, 2, 11, 5};

inline constexpr int mlkem_set_count = 3;
constexpr const MlKemParams* mlkem_sets[mlkem_set_count] = {&mlkem512, &mlkem768, &mlkem1024};

// FIPS 203, table 3.
static_assert(mlkem512.public_key_bytes() == 800 && mlkem512.secret_key_bytes() == 1632 &&
              mlkem512.ciphertext_bytes() == 768);
static_assert(mlkem768.public_key_bytes() == 1184 && mlkem768.secret_key_bytes() == 2400 &&
              mlkem768.ciphertext_bytes() == 1088);
static_assert(mlkem1024.public_key_bytes() == 1568 && mlkem1024.secret_key_bytes() == 3168 &&
              mlkem1024.ciphertext_bytes() == 1568);

}  // namespace warpseal::kem
