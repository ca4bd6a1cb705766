// Recipients and identities as a caller gives them: age's text, in a warpseal_secret.
#pragma once

#include "container/fault.h"
#include "container/recipients/stanza.h"

namespace warpseal::container {

// Longest text that is looked at.
inline constexpr size_t recipient_characters_max = 2048;

// Secrets of a program that wraps file keys by itself, as SSH keys and plugins of age need. They
// are no part of the public interface. One seals: it has the type of the slot (2 bytes,
// big-endian), a file key and the slot's parameters. The other opens: it is a file key.
inline constexpr uint32_t stanza_secret = 110, file_key_secret = 111;
inline constexpr size_t stanza_head_bytes = 2 + file_key_bytes;
inline constexpr size_t stanza_parameter_bytes_max = 8192;

constexpr bool is_stanza_secret(const warpseal_secret& secret) {
    return static_cast<uint32_t>(secret.type) == stanza_secret;
}
constexpr bool is_file_key_secret(const warpseal_secret& secret) {
    return static_cast<uint32_t>(secret.type) == file_key_secret;
}

constexpr bool is_public_key_secret(const warpseal_secret& secret) {
    return secret.type == WARPSEAL_SECRET_RECIPIENT || secret.type == WARPSEAL_SECRET_IDENTITY;
}

// Returns the type that the beginning of the text says. The rest may be wrong.
RecipientType recipient_type(const warpseal_secret& secret);

// Decode the text of a recipient or an identity. WARPSEAL_INVALID_ARGUMENT: the text is something
// else, which the message says without it.
warpseal_status decode_recipient(const warpseal_secret& secret,
                                 uint8_t public_key[recipient_public_bytes_max], Fault& fault);
warpseal_status decode_identity(const warpseal_secret& secret, Secret<recipient_secret_bytes>& key,
                                Fault& fault);

}  // namespace warpseal::container
