// Keys in DER: SubjectPublicKeyInfo (RFC 5280 4.1) and PrivateKeyInfo (RFC 5208 5). Each length is
// fixed by the group, so an encoding is a fixed beginning and the key's bytes: reading one is to
// compare.
#pragma once

#include <cstdint>
#include <span>

#include "provider/groups.h"

namespace warpseal::provider {

// What stands before the share.
std::span<const uint8_t> public_key_beginning(size_t group);
// What stands before the secret key (in a hybrid the classical scalar, then NTRU's), behind which
// the share follows.
std::span<const uint8_t> private_key_beginning(size_t group);

constexpr size_t private_key_bytes(const Group& group) {
    return group.secret_key_bytes() + group.share_bytes();
}

// The number of a group of the table.
size_t index_of(const Group& group);

}  // namespace warpseal::provider
