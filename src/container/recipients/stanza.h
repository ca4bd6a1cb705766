// The public-key step of age v1, and one of ours: a file key of 16 bytes, wrapped for a recipient.
#pragma once

#include "core/secret.h"
#include "engine/engine.h"

namespace warpseal::container {

// ntru_x25519 is ours, the others are age's.
enum class RecipientType : uint8_t { x25519, mlkem768_x25519, ntru_x25519 };

inline constexpr size_t recipient_secret_bytes = 32;  // a scalar, or the seed of a hybrid
inline constexpr size_t recipient_public_bytes_max = 1262;
inline constexpr size_t recipient_share_bytes_max = 1262;
inline constexpr size_t file_key_bytes = 16;
inline constexpr size_t wrapped_key_bytes = file_key_bytes + 16;

// Lengths and texts of a type. Prefixes are in lower case.
struct RecipientForm {
    RecipientType type;
    const char* kem_set;  // of a hybrid of ours, that besides X25519
    const char* recipient_prefix;
    const char* identity_prefix;
    size_t public_bytes;
    size_t share_bytes;  // X25519's share, after the ciphertext of a hybrid
};
inline constexpr RecipientForm recipient_forms[] = {
    {RecipientType::x25519, "x25519", "age", "age-secret-key-", 32, 32},
    {RecipientType::mlkem768_x25519, "x-wing", "age1pq", "age-secret-key-pq-", 1216, 1120},
    {RecipientType::ntru_x25519, "ntruhps4096821", "warpntru", "warpntru-secret-key-", 1262, 1262},
};
constexpr const RecipientForm& form_of(RecipientType type) {
    return recipient_forms[static_cast<int>(type)];
}

// All run on cores, on an engine of GPUs alone too.

// Computes the public key of a secret key of recipient_secret_bytes bytes.
warpseal_status recipient_public_key(Engine& engine, RecipientType type, const uint8_t* secret_key,
                                     uint8_t* public_key);

// Writes share_bytes bytes of share and wrapped_key_bytes bytes of wrapped key.
// WARPSEAL_INVALID_ARGUMENT: the public key is refused.
warpseal_status wrap_file_key(Engine& engine, RecipientType type, const uint8_t* public_key,
                              const Secret<file_key_bytes>& file_key, uint8_t* share,
                              uint8_t wrapped[wrapped_key_bytes]);

// WARPSEAL_WRONG_KEY: it is wrapped for another recipient, or was changed.
// WARPSEAL_NOT_AUTHENTIC: the share has low order, which no writer makes.
warpseal_status unwrap_file_key(Engine& engine, RecipientType type, const uint8_t* secret_key,
                                const uint8_t* share, const uint8_t wrapped[wrapped_key_bytes],
                                Secret<file_key_bytes>& file_key);

}  // namespace warpseal::container
