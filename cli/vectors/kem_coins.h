// Coins of NTRU's vector files, from the generator of NIST's answer files or from SHAKE256, both by
// libcrypto.
#pragma once

#include "cli/vectors/vectors.h"
#include "warpseal/kem.h"

namespace warpseal::cli {

// Coins that key generation and encapsulation read for one key pair and one ciphertext.
struct KemCoins {
    Octets keypair, encapsulation;
};

// Returns the seed of entry `count` of an answer file: output number `count` of AES-256-CTR-DRBG
// seeded with 00 01 … 2f.
Octets kem_answer_seed(uint64_t count);
// Returns three draws of that generator from a seed. Key generation uses two draws, because the
// generator changes its state after each.
KemCoins kem_answer_coins(const warpseal_kem_info& set, const Octets& seed);
// Returns the coins of item `item` of a set's digests.
KemCoins kem_digest_coins(const warpseal_kem_info& set, uint64_t item);
// Returns SHA3-256(rejection key ‖ ciphertext), the secret for an invalid ciphertext.
// The rejection key is the end of the secret key.
Octets kem_rejected_secret(const Octets& secret_key, const Octets& ciphertext);

}  // namespace warpseal::cli
