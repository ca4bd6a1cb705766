// One operation of NTRU for a caller that waits for it, whether on a thread or on a fibre of
// libcrypto's.
#pragma once

#include <span>

#include "provider/context.h"
#include "provider/groups.h"

namespace warpseal::provider {

// Each is false, with an error raised, if it fails. Lengths are the set's.
bool make_keypair(const Context& context, const Set& set, std::span<uint8_t> public_key,
                  std::span<uint8_t> secret_key);
bool encapsulate(const Context& context, const Set& set, std::span<const uint8_t> public_key,
                 std::span<uint8_t> ciphertext, std::span<uint8_t> secret);
bool decapsulate(const Context& context, const Set& set, std::span<const uint8_t> secret_key,
                 std::span<const uint8_t> ciphertext, std::span<uint8_t> secret);

}  // namespace warpseal::provider
