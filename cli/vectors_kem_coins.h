// Where the coins of NTRU's vector files come from: the generator of NIST's answer files, and
// SHAKE256. By libcrypto.
#pragma once

#include "vectors.h"
#include "warpseal/kem.h"

namespace warpseal::cli {

// What key generation and encapsulation read for one pair of keys and one ciphertext.
struct KemCoins {
    Octets keypair, encapsulation;
};

// The seed of a count of an answer file: the count-th that AES-256-CTR-DRBG gives from 00 01 … 2f.
Octets kem_answer_seed(uint64_t count);
// What that generator gives from a seed. It changes its state after each draw, so that these are
// three: the coins of key generation are two.
KemCoins kem_answer_coins(const warpseal_kem_info& set, const Octets& seed);
// Of item i of a set's digests.
KemCoins kem_digest_coins(const warpseal_kem_info& set, uint64_t item);
// SHA3-256(rejection key ‖ ciphertext), the secret of what is no ciphertext of that key; the
// rejection key ends the secret key.
Octets kem_rejected_secret(const Octets& secret_key, const Octets& ciphertext);

}  // namespace warpseal::cli
