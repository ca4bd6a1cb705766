// Checks of public keys that a peer or a file brings, before anything is computed with them.
#pragma once

#include <cstdint>
#include <span>

#include "provider/groups.h"

namespace warpseal::provider {

// Returns null if the bytes are a public key of the set, which have its length; else what is wrong.
const char* public_key_fault(const Set& set, std::span<const uint8_t> public_key);
// Returns the public key within a secret key of ML-KEM, and its hash there.
std::span<const uint8_t> mlkem_public_key(const Set& set, std::span<const uint8_t> secret_key);
std::span<const uint8_t> mlkem_public_key_hash(const Set& set, std::span<const uint8_t> secret_key);

}  // namespace warpseal::provider
