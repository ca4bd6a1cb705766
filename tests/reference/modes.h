// The unauthenticated modes as SP 800-38A specifies them (6.1 to 6.5), one block at a time.
#pragma once

#include "reference/cipher.h"

namespace reference {

Text ecb_encrypt(const Cipher& cipher, const Text& in);
Text ecb_decrypt(const Cipher& cipher, const Text& in);
Text cbc_encrypt(const Cipher& cipher, Text iv, const Text& in);  // whole blocks
Text cbc_decrypt(const Cipher& cipher, Text iv, const Text& in);
// CFB with segments of a whole block, of which the last may be short.
Text cfb_encrypt(const Cipher& cipher, Text iv, const Text& in);
Text cfb_decrypt(const Cipher& cipher, Text iv, const Text& in);
Text ofb(const Cipher& cipher, Text iv, const Text& in);
// The counter is the whole block, a big-endian number modulo 2^(block bits). first_block: start
// that many blocks into the message.
Text ctr(const Cipher& cipher, Text counter, const Text& in, uint64_t first_block = 0);

}  // namespace reference
