// Keys in DER: SubjectPublicKeyInfo (RFC 5280 4.1) and PrivateKeyInfo (RFC 5208 5). The group fixes
// all lengths, so an encoding is a fixed prefix followed by the key, and decoding compares the
// prefix.
#pragma once

#include <cstdint>
#include <span>

#include "provider/groups.h"

namespace warpseal::provider {

// Returns the prefix before the share.
std::span<const uint8_t> public_key_beginning(size_t group);
// Returns the prefix before the secret key, which the share follows. A hybrid's secret key is the
// classical scalar, then NTRU's key.
std::span<const uint8_t> private_key_beginning(size_t group);

constexpr size_t private_key_bytes(const Group& group) {
    return group.secret_key_bytes() + group.share_bytes();
}

// Returns the index of `group` in `groups`.
size_t index_of(const Group& group);

}  // namespace warpseal::provider
