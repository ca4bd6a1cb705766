// NTRU as its round-3 specification describes it: the simplest algorithms, hashes by libcrypto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/cipher.h"

namespace reference {

class Ntru {
public:
    explicit Ntru(const std::string& set);

    struct Keys {
        Text public_key, secret_key;
    };
    struct Encapsulated {
        Text ciphertext, secret;
    };
    // Coins: sampling, then the key of implicit rejection. Returns none if a polynomial has no
    // inverse.
    std::optional<Keys> keypair(const Text& coins) const;
    Encapsulated encapsulate(const Text& coins, const Text& public_key) const;
    Text decapsulate(const Text& ciphertext, const Text& secret_key,
                     bool* accepted = nullptr) const;

    size_t keypair_coins() const { return sample_bytes() + 32; }
    size_t encapsulation_coins() const { return sample_bytes(); }
    size_t public_key_bytes() const { return static_cast<size_t>((n_ - 1) * log_q_ + 7) / 8; }
    size_t secret_key_bytes() const { return 2 * ternary_bytes() + public_key_bytes() + 32; }
    size_t ciphertext_bytes() const { return public_key_bytes(); }
    int spare_bits() const { return static_cast<int>(8 * public_key_bytes()) - (n_ - 1) * log_q_; }

    // For tests with ciphertexts of messages outside the message space: n coefficients, residues
    // modulo 3 or q, lowest first.
    using Coefficients = std::vector<uint16_t>;
    int n() const { return n_; }
    int q() const { return 1 << log_q_; }
    bool is_hrss() const { return hrss_; }
    void sample(const Text& coins, Coefficients& first, Coefficients& second) const;
    // Returns r h + lift(m), r modulo q, m modulo 3.
    Text encrypt(const Coefficients& r, const Coefficients& m, const Text& public_key) const;

private:
    size_t ternary_bytes() const { return static_cast<size_t>(n_ + 3) / 5; }
    size_t sample_bytes() const {
        return static_cast<size_t>(n_ - 1) +
               (hrss_ ? static_cast<size_t>(n_ - 1) : static_cast<size_t>(30 * (n_ - 1) + 7) / 8);
    }

    Coefficients ternary(const uint8_t* coins) const;
    Coefficients fixed_type(const uint8_t* coins) const;
    Coefficients ternary_plus(const uint8_t* coins) const;

    Coefficients product(const Coefficients& a, const Coefficients& b) const;
    Coefficients modulo_q(Coefficients a) const;
    Coefficients modulo_3_phi(Coefficients a) const;
    Coefficients modulo_q_phi(Coefficients a) const;
    Coefficients to_q(const Coefficients& ternary) const;
    Coefficients centred_to_3(const Coefficients& a) const;
    Coefficients lift(const Coefficients& m) const;
    std::optional<Coefficients> inverse_modulo_prime(const Coefficients& a, int p) const;
    std::optional<Coefficients> inverse_modulo_q(const Coefficients& a) const;

    Text pack_ternary(const Coefficients& a) const;
    Coefficients unpack_ternary(const uint8_t* in) const;
    Text pack_q(const Coefficients& a) const;
    Coefficients unpack_q(const uint8_t* in, bool sum_zero) const;

    int n_, log_q_;
    bool hrss_;
    Coefficients over_x_minus_1_;  // 1 / (x - 1) in S3
};

// Hash functions of libcrypto.
Text sha3_256(const Text& message);
Text shake256(const Text& message, size_t bytes);
// Returns the coins of case i of the bulk files.
Text ntru_bulk_coins(const std::string& set, uint64_t i, size_t bytes);

}  // namespace reference
