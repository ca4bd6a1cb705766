// Supported TLS 1.3 groups: sets of NTRU and ML-KEM, alone and in hybrids with a classical group,
// with their numbers and lengths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpseal::provider {

// A set of warpseal/kem.h. All lengths are in bytes.
struct Set {
    const char* name;
    unsigned bits;  // OSSL_PKEY_PARAM_BITS: the degree of NTRU, k times 256 of ML-KEM
    unsigned security_bits;
    size_t public_key, secret_key, ciphertext, shared_secret;
    unsigned spare_bits;  // of NTRU: unused bits in the last byte of a public key
    unsigned rank;        // of ML-KEM: k; 0 without ML-KEM
    bool with_x25519;     // public key and ciphertext end with a point

    constexpr size_t public_key_bytes() const { return public_key; }
    constexpr size_t secret_key_bytes() const { return secret_key; }
    constexpr size_t ciphertext_bytes() const { return ciphertext; }
    constexpr size_t shared_secret_bytes() const { return shared_secret; }
};

// NTRU (round-3 submission, September 2020). Public keys and ciphertexts consist of `degree - 1`
// numbers of `modulus_bits` bits. A secret key has two ternary polynomials with five coefficients a
// byte, the inverse of the public key, and the implicit rejection key.
constexpr Set ntru_set(const char* name, unsigned degree, unsigned modulus_bits,
                       unsigned security_bits) {
    const size_t bits = size_t{degree - 1} * modulus_bits, bytes = (bits + 7) / 8;
    return {name,
            degree,
            security_bits,
            bytes,
            2 * ((degree - 1 + 4) / 5) + bytes + 32,
            bytes,
            32,
            static_cast<unsigned>(8 * bytes - bits),
            0,
            false};
}
inline constexpr Set hps2048509 = ntru_set("ntruhps2048509", 509, 11, 128);
inline constexpr Set hps2048677 = ntru_set("ntruhps2048677", 677, 11, 192);
inline constexpr Set hps4096821 = ntru_set("ntruhps4096821", 821, 12, 256);
inline constexpr Set hps40961229 = ntru_set("ntruhps40961229", 1229, 12, 256);
inline constexpr Set hrss701 = ntru_set("ntruhrss701", 701, 13, 192);
inline constexpr Set hrss1373 = ntru_set("ntruhrss1373", 1373, 14, 256);

// FIPS 203, section 8. A secret key is the vector s, the public key, its hash, and 32 bytes more.
inline constexpr Set mlkem512{"ml-kem-512", 512, 128, 800, 1632, 768, 32, 0, 2, false};
inline constexpr Set mlkem768{"ml-kem-768", 768, 192, 1184, 2400, 1088, 32, 0, 3, false};
inline constexpr Set mlkem1024{"ml-kem-1024", 1024, 256, 1568, 3168, 1568, 32, 0, 4, false};
inline constexpr Set x25519mlkem768{"x25519mlkem768", 768, 192, 1184 + 32, 2400 + 32,
                                    1088 + 32,        64,  0,   3,         true};
inline constexpr size_t mlkem_seed_bytes = 64;  // d and z
// RFC 7748: keys and ciphertexts are coordinates.
inline constexpr Set x25519_alone{"x25519", 253, 128, 32, 32, 32, 32, 0, 0, true};

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

// A group. Share, secret and secret key of a hybrid are the classical part followed by the set's.
struct Group {
    const char* name;
    const Set& set;
    const Classical* classical;  // null: the set alone
    uint16_t number;             // TLS group number; one of NTRU may be configured otherwise

    // ML-KEM alone, whose keys have the forms of RFC 9935.
    constexpr bool is_mlkem() const {
        return set.rank != 0 && !set.with_x25519 && classical == nullptr;
    }
    // X25519 alone, which libcrypto and libssl use for key agreement instead of encapsulation.
    constexpr bool is_x25519() const { return set.with_x25519 && set.rank == 0; }
    constexpr size_t classical_share_bytes() const {
        return classical == nullptr ? 0 : classical->share_bytes;
    }
    constexpr size_t classical_secret_bytes() const {
        return classical == nullptr ? 0 : classical->secret_bytes;
    }
    constexpr size_t scalar_bytes() const {
        return classical == nullptr ? 0 : classical->scalar_bytes;
    }
    // Lengths of the client's key share, which is a public key, and of the server's.
    constexpr size_t share_bytes() const {
        return classical_share_bytes() + set.public_key_bytes();
    }
    constexpr size_t server_share_bytes() const {
        return classical_share_bytes() + set.ciphertext_bytes();
    }
    constexpr size_t secret_bytes() const {
        return classical_secret_bytes() + set.shared_secret_bytes();
    }
    constexpr size_t secret_key_bytes() const { return scalar_bytes() + set.secret_key_bytes(); }
};

// Compares names as OpenSSL does: ASCII, case-insensitive. OPENSSL_strcasecmp exists only since
// 3.0.3; a module that used it would not load in Ubuntu 22.04.
bool same_name(std::string_view a, std::string_view b);

// Group numbers of the Open Quantum Safe project. It has X25519 numbers only for the first set; the
// others are from the private-use range (RFC 8446 4.2.7). Numbers with ML-KEM, and of X25519, are
// IANA's; those groups are last.
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
    Group{"X25519MLKEM768", x25519mlkem768, nullptr, 0x11EC},
    Group{"SecP256r1MLKEM768", mlkem768, &p256, 0x11EB},
    Group{"SecP384r1MLKEM1024", mlkem1024, &p384, 0x11ED},
    Group{"MLKEM512", mlkem512, nullptr, 0x0200},
    Group{"MLKEM768", mlkem768, nullptr, 0x0201},
    Group{"MLKEM1024", mlkem1024, nullptr, 0x0202},
    Group{"X25519", x25519_alone, nullptr, 0x001D},
};
inline constexpr size_t ntru_group_count = 18;
inline constexpr const Group& x25519_group = groups.back();
static_assert(groups[ntru_group_count - 1].set.rank == 0 && groups[ntru_group_count].set.rank != 0);
static_assert(x25519_group.is_x25519());

// The algorithms that are provided beside NTRU.
struct Offer {
    bool mlkem, x25519;

    constexpr bool has(size_t group) const {
        return group < ntru_group_count || (groups[group].is_x25519() ? x25519 : mlkem);
    }
};

}  // namespace warpseal::provider
