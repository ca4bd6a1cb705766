// GCM as SP 800-38D specifies it, bit by bit, and the IV for a chosen first counter block.
#pragma once

#include "reference/cipher.h"

namespace reference {

struct Sealed {
    Text ciphertext;
    Text tag;  // 16 bytes; its MSB_t is the tag of t bits
};

Text gcm_counter0(const Cipher& cipher, const Text& iv);  // J0, 7.1 step 2
Text gcm_ghash(const Cipher& cipher, const Text& blocks,
               const Text& sum);  // from the accumulator `sum` over whole blocks, 6.4
Sealed gcm_seal(const Cipher& cipher, const Text& iv, const Text& aad, const Text& plaintext);
// Like gcm_seal, from a chosen J0: allows a start just before the 32-bit counter wraps without a
// search for an IV.
Sealed gcm_seal_from(const Cipher& cipher, const Text& counter0, const Text& aad,
                     const Text& plaintext);
Text gcm_decrypt_from(const Cipher& cipher, const Text& counter0, const Text& ciphertext);
// Returns a 16-byte IV whose J0 is counter0. GHASH is linear, so there is exactly one (except under
// a zero H).
Text gcm_iv_for(const Cipher& cipher, const Text& counter0);

}  // namespace reference
