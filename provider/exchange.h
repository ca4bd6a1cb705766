// Operations of the sets for a waiting caller, on a thread or on a libcrypto fibre.
#pragma once

#include <span>

#include "provider/context.h"
#include "provider/groups.h"
#include "warpseal/kem.h"

namespace warpseal::provider {

// Each returns false, with an error raised, on failure. Lengths are those of the set.
bool make_keypair(const Context& context, const Set& set, std::span<uint8_t> public_key,
                  std::span<uint8_t> secret_key);
// The pair that a seed of ML-KEM or a scalar of X25519 determines. Not through the batcher, which
// draws its own coins.
bool make_keypair_of(const Context& context, const Set& set, std::span<const uint8_t> seed,
                     std::span<uint8_t> public_key, std::span<uint8_t> secret_key);
bool encapsulate(const Context& context, const Set& set, std::span<const uint8_t> public_key,
                 std::span<uint8_t> ciphertext, std::span<uint8_t> secret);
bool decapsulate(const Context& context, const Set& set, std::span<const uint8_t> secret_key,
                 std::span<const uint8_t> ciphertext, std::span<uint8_t> secret);
// The same under a prepared key, on the calling thread.
bool encapsulate(const Context& context, const warpseal_kem_key* key, std::span<uint8_t> ciphertext,
                 std::span<uint8_t> secret);
bool decapsulate(const Context& context, const warpseal_kem_key* key,
                 std::span<const uint8_t> ciphertext, std::span<uint8_t> secret);

}  // namespace warpseal::provider
