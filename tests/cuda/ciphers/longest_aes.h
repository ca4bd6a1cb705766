// AES by its longest key alone, for what does not depend on the key's size.
#pragma once

#include "ciphers/aes.h"

namespace warpseal::ciphers::longest_aes {

using Ciphers = List<aes::Aes<256>>;

}  // namespace warpseal::ciphers::longest_aes
