// Recipients and identities as a caller gives them: age's text, in a warpseal_secret.
#pragma once

#include "container/fault.h"
#include "container/recipients/stanza.h"
#include "container/recipients/unwrapper.h"

namespace warpseal::container {

// Longest text that is looked at.
inline constexpr size_t recipient_characters_max = 2048;

// Bytes before the parameters in a stanza secret: the type and the file key.
inline constexpr size_t stanza_head_bytes = 2 + file_key_bytes;

constexpr bool is_stanza_secret(const warpseal_secret& secret) {
    return static_cast<int>(secret.type) == WARPSEAL_INTERNAL_SECRET_STANZA;
}
// The secret has more than stanza_head_bytes.
inline Bytes stanza_parameters(const warpseal_secret& secret) {
    return {static_cast<const uint8_t*>(secret.bytes) + stanza_head_bytes,
            secret.byte_count - stanza_head_bytes};
}
constexpr bool is_late_secret(const warpseal_secret& secret) {
    return static_cast<int>(secret.type) == WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER;
}
constexpr bool is_unwrapper_secret(const warpseal_secret& secret) {
    return static_cast<int>(secret.type) == WARPSEAL_INTERNAL_SECRET_UNWRAPPER ||
           is_late_secret(secret);
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
