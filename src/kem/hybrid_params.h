// X25519 as a key encapsulation mechanism, and its two hybrids with ML-KEM-768: sizes and orders.
#pragma once

#include "kem/mlkem_params.h"

namespace warpseal::kem {

// The shared secret of a hybrid: both secrets side by side, or a hash of them.
enum class Combiner : uint8_t { none, concatenation, xwing };

// Keys, ciphertexts and coins have ML-KEM's half first. X25519's public key, ciphertext and shared
// secret are coordinates, and its secret key is a scalar.
struct HybridParams {
    const char* name;
    const MlKemParams* mlkem;  // null: X25519 alone
    Combiner combiner;

    static constexpr size_t x25519_bytes = 32;
    static constexpr size_t xwing_seed_bytes = 32;  // X-Wing's secret key
    // d and z of ML-KEM and X25519's scalar, which X-Wing derives from its seed.
    static constexpr size_t expanded_bytes = MlKemParams::keypair_coins + x25519_bytes;

    constexpr size_t public_key_bytes() const { return half(&MlKemParams::public_key_bytes); }
    constexpr size_t ciphertext_bytes() const { return half(&MlKemParams::ciphertext_bytes); }
    constexpr size_t secret_key_bytes() const {
        return combiner == Combiner::xwing ? xwing_seed_bytes
                                           : half(&MlKemParams::secret_key_bytes);
    }
    constexpr size_t keypair_coins() const {
        return combiner == Combiner::none    ? x25519_bytes
               : combiner == Combiner::xwing ? xwing_seed_bytes
                                             : expanded_bytes;
    }
    constexpr size_t encapsulation_coins() const {
        return (mlkem == nullptr ? 0 : MlKemParams::encapsulation_coins) + x25519_bytes;
    }
    constexpr size_t shared_secret_bytes() const {
        return combiner == Combiner::concatenation ? 64 : 32;
    }

private:
    constexpr size_t half(size_t (MlKemParams::*bytes)() const) const {
        return (mlkem == nullptr ? 0 : (mlkem->*bytes)()) + x25519_bytes;
    }
};

// Internal linkage: see params.h.
// X25519 (RFC 7748) between a key and a fresh one, whose public key is the ciphertext.
constexpr HybridParams x25519_set{"x25519", nullptr, Combiner::none};
// The TLS group X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem).
constexpr HybridParams x25519mlkem768{"x25519mlkem768", &mlkem768, Combiner::concatenation};
// draft-connolly-cfrg-xwing-kem.
constexpr HybridParams xwing{"x-wing", &mlkem768, Combiner::xwing};

inline constexpr int hybrid_set_count = 3;
constexpr const HybridParams* hybrid_sets[hybrid_set_count] = {&x25519_set, &x25519mlkem768,
                                                               &xwing};

static_assert(x25519mlkem768.public_key_bytes() == 1216 &&
              x25519mlkem768.ciphertext_bytes() == 1120 &&
              x25519mlkem768.secret_key_bytes() == 2432);
static_assert(xwing.public_key_bytes() == 1216 && xwing.ciphertext_bytes() == 1120 &&
              xwing.secret_key_bytes() == 32 && xwing.encapsulation_coins() == 64);

}  // namespace warpseal::kem
