// Keys in DER: SubjectPublicKeyInfo (RFC 5280 4.1) and PrivateKeyInfo (RFC 5208 5; ML-KEM: RFC
// 9935). The group fixes all lengths, so an encoding is a fixed prefix followed by the key, and
// decoding compares the prefix.
#pragma once

#include <cstdint>
#include <span>

#include "provider/groups.h"

namespace warpseal::provider {

// Returns the prefix before the share.
std::span<const uint8_t> public_key_beginning(size_t group);
// Contents of a private key's octet string. with_share: the secret key, then the public key; a
// hybrid's secret key is the classical scalar, then the key of its set. ML-KEM alone has the other
// forms (RFC 9935, section 6): the seed, the expanded key, or both.
enum class PrivateForm : uint8_t { with_share, seed, expanded, both };
inline constexpr int private_form_count = 4;

// Returns the prefix of a form.
std::span<const uint8_t> private_key_beginning(size_t group, PrivateForm form);
// Returns the header of the key after the seed, in the form that has both.
std::span<const uint8_t> expanded_key_header(size_t group);

// Number of bytes after the prefix.
constexpr size_t private_key_bytes(const Group& group, PrivateForm form) {
    constexpr size_t header = 4;
    switch (form) {
        case PrivateForm::with_share: return group.secret_key_bytes() + group.share_bytes();
        case PrivateForm::seed: return mlkem_seed_bytes;
        case PrivateForm::expanded: return group.secret_key_bytes();
        case PrivateForm::both: return mlkem_seed_bytes + header + group.secret_key_bytes();
    }
    return 0;
}

// Returns the index of `group` in `groups`.
size_t index_of(const Group& group);

}  // namespace warpseal::provider
