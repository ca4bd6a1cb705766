// Work for the tests of refused requests: functions of the provider, in a process of its own.
#pragma once

#include "failures/works.h"

namespace works {

inline constexpr char ntru_group[] = "ntru_hps2048509";
inline constexpr char hybrid_group[] = "x25519_ntru_hps2048509";
inline constexpr char mlkem_group[] = "MLKEM768";
inline constexpr char agreement_group[] = "X25519";

// One cipher of each class of contexts, called without EVP (works_cipher.cpp).
warpseal_status cipher_ctr();
warpseal_status cipher_cbc();
warpseal_status cipher_ecb();
warpseal_status cipher_xts();
warpseal_status cipher_gcm();
warpseal_status cipher_ccm();
// Keys, and encapsulation or agreement, called without EVP (works_keys.cpp).
warpseal_status keys_ntru();
warpseal_status keys_hybrid();
warpseal_status keys_mlkem();
warpseal_status keys_agreement();
// The module, and encodings through libcrypto, as only that makes a BIO of the core
// (works_module.cpp).
warpseal_status module();
warpseal_status encodings();
warpseal_status encodings_hybrid();

}  // namespace works
