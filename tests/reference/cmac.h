// CMAC as SP 800-38B specifies it, for blocks of 8 and 16 bytes.
#pragma once

#include "reference/cipher.h"

namespace reference {

Text cmac(const Cipher& cipher,
          const Text& message);  // a whole block; its MSB_t is the tag of t bits

}  // namespace reference
