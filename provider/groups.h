// Supported TLS 1.3 groups: the NTRU sets, alone and in hybrids with a classical group, with their
// numbers and lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpseal::provider {

// A parameter set of NTRU (round-3 submission, September 2020). Public keys and ciphertexts consist
// of `degree - 1` numbers of `modulus_bits` bits.
struct Set {
    const char* name;  // as in warpseal/kem.h
    unsigned degree;
    unsigned modulus_bits;
    unsigned security_bits;

    constexpr size_t public_key_bits() const { return size_t{degree - 1} * modulus_bits; }
    constexpr size_t public_key_bytes() const { return (public_key_bits() + 7) / 8; }
    constexpr size_t ciphertext_bytes() const { return public_key_bytes(); }
    // Two ternary polynomials with five coefficients a byte, the inverse of the public key, and the
    // implicit rejection key.
    constexpr size_t secret_key_bytes() const {
        return 2 * ((degree - 1 + 4) / 5) + public_key_bytes() + 32;
    }
};

inline constexpr size_t ntru_secret_bytes = 32;

inline constexpr Set hps2048509{"ntruhps2048509", 509, 11, 128};
inline constexpr Set hps2048677{"ntruhps2048677", 677, 11, 192};
inline constexpr Set hps4096821{"ntruhps4096821", 821, 12, 256};
inline constexpr Set hps40961229{"ntruhps40961229", 1229, 12, 256};
inline constexpr Set hrss701{"ntruhrss701", 701, 13, 192};
inline constexpr Set hrss1373{"ntruhrss1373", 1373, 14, 256};

// Classical half of a hybrid, as in RFC 8446 4.2.8.2 and 7.4.2.
struct Classical {
    const char* algorithm;  // EVP's name
    const char* curve;      // null: the algorithm names the curve
    size_t share_bytes;
    size_t secret_bytes;
    size_t scalar_bytes;  // length of the secret key
};

inline constexpr Classical x25519{"X25519", nullptr, 32, 32, 32};
inline constexpr Classical p256{"EC", "P-256", 65, 32, 32};
inline constexpr Classical p384{"EC", "P-384", 97, 48, 48};
inline constexpr Classical p521{"EC", "P-521", 133, 66, 66};

// A group. Share, secret and secret key of a hybrid are the classical part followed by NTRU's.
struct Group {
    const char* name;
    const Set& set;
    const Classical* classical;  // null: NTRU alone
    uint16_t number;             // TLS group number, unless configured otherwise

    constexpr size_t classical_share_bytes() const {
        return classical == nullptr ? 0 : classical->share_bytes;
    }
    constexpr size_t classical_secret_bytes() const {
        return classical == nullptr ? 0 : classical->secret_bytes;
    }
    constexpr size_t scalar_bytes() const {
        return classical == nullptr ? 0 : classical->scalar_bytes;
    }
    constexpr size_t share_bytes() const {
        return classical_share_bytes() + set.public_key_bytes();
    }
    constexpr size_t secret_bytes() const { return classical_secret_bytes() + ntru_secret_bytes; }
    constexpr size_t secret_key_bytes() const { return scalar_bytes() + set.secret_key_bytes(); }
};

// Compares names as OpenSSL does: ASCII, case-insensitive. OPENSSL_strcasecmp exists only since
// 3.0.3; a module that used it would not load in Ubuntu 22.04.
bool same_name(std::string_view a, std::string_view b);

// Group numbers of the Open Quantum Safe project. It has X25519 numbers only for the first set; the
// others are from the private-use range (RFC 8446 4.2.7).
inline constexpr std::array groups{
    Group{"ntru_hps2048509", hps2048509, nullptr, 0x0214},
    Group{"ntru_hps2048677", hps2048677, nullptr, 0x0215},
    Group{"ntru_hps4096821", hps4096821, nullptr, 0x0216},
    Group{"ntru_hps40961229", hps40961229, nullptr, 0x0245},
    Group{"ntru_hrss701", hrss701, nullptr, 0x0217},
    Group{"ntru_hrss1373", hrss1373, nullptr, 0x0246},
    Group{"x25519_ntru_hps2048509", hps2048509, &x25519, 0x2F94},
    Group{"x25519_ntru_hps2048677", hps2048677, &x25519, 0xFE00},
    Group{"x25519_ntru_hps4096821", hps4096821, &x25519, 0xFE01},
    Group{"x25519_ntru_hps40961229", hps40961229, &x25519, 0xFE02},
    Group{"x25519_ntru_hrss701", hrss701, &x25519, 0xFE03},
    Group{"x25519_ntru_hrss1373", hrss1373, &x25519, 0xFE04},
    Group{"p256_ntru_hps2048509", hps2048509, &p256, 0x2F14},
    Group{"p384_ntru_hps2048677", hps2048677, &p384, 0x2F15},
    Group{"p521_ntru_hps4096821", hps4096821, &p521, 0x2F16},
    Group{"p384_ntru_hrss701", hrss701, &p384, 0x2F17},
    Group{"p521_ntru_hps40961229", hps40961229, &p521, 0x2F45},
    Group{"p521_ntru_hrss1373", hrss1373, &p521, 0x2F46},
};

}  // namespace warpseal::provider
