// XTS as IEEE Std 1619 specifies it: tweaks doubled bit by bit, ciphertext stealing at the end of a
// unit.
#pragma once

#include "reference/cipher.h"

namespace reference {

// Encrypts one data unit of at least 16 bytes. number: 16 bytes, least significant first.
Text xts_encrypt(const Cipher& data, const Cipher& tweak, const Text& number, const Text& in);
Text xts_decrypt(const Cipher& data, const Cipher& tweak, const Text& number, const Text& in);
// Processes units of unit_bytes; the last may be shorter. Each has the next number modulo 2^128.
Text xts_units(const Cipher& data, const Cipher& tweak, bool encrypt, Text number,
               size_t unit_bytes, const Text& in);

}  // namespace reference
