// Key derivation: HKDF-Expand and HMAC with SHA-512 (RFC 5869 2.3, RFC 2104), both with SHA-256 for
// recipients, and Argon2id version 1.3 (RFC 9106).
#pragma once

#include "core/secret.h"
#include "engine/engine.h"

namespace warpseal::container {

inline constexpr size_t hmac_bytes = 64;  // SHA-512

// Byte strings whose concatenation is a message. They are not copied together in memory.
struct Parts {
    const Bytes* parts;
    size_t count;
};

// Computes HMAC-SHA-512 of the concatenated message.
void hmac(Bytes key, Parts message, uint8_t mac[hmac_bytes]);

// Computes HKDF-Expand(SHA-512, key, info, out_bytes). out_bytes is at most 255 * 64.
void expand(Bytes key, Parts info, uint8_t* out, size_t out_bytes);

inline constexpr size_t hmac256_bytes = 32;  // SHA-256
// Compute HMAC-SHA-256, and the first block of HKDF-Expand with it: out_bytes is at most 32.
void hmac256(Bytes key, Parts message, uint8_t mac[hmac256_bytes]);
void expand256(Bytes key, Parts info, uint8_t* out, size_t out_bytes);

// ChaCha20-Poly1305 (RFC 8439) without associated data; the tag follows the text. libsodium must
// have started. chacha_open returns false if the tag does not verify, and zeroizes the text.
inline constexpr size_t chacha_nonce_bytes = 12, chacha_tag_bytes = 16;
void chacha_seal(const uint8_t key[32], const uint8_t nonce[chacha_nonce_bytes],
                 const uint8_t* text, size_t bytes, uint8_t* out);
bool chacha_open(const uint8_t key[32], const uint8_t nonce[chacha_nonce_bytes],
                 const uint8_t* sealed, size_t bytes, uint8_t* out);

// Starts libsodium, on the first call. Returns false without random bytes.
bool start_sodium();

struct Argon2Cost {
    uint32_t passes = 0;
    uint32_t memory_kib = 0;
};

inline constexpr Argon2Cost argon2_default = {3, 256 * 1024};
inline constexpr uint32_t argon2_passes_max = 16;
inline constexpr uint32_t argon2_memory_kib_min = 8;  // Argon2's minimum with one lane
inline constexpr uint32_t argon2_memory_kib_max = 1024 * 1024;
// Limit for all passphrase slots of a header copy together, in passes times KiB.
inline constexpr uint64_t argon2_work_max = uint64_t{32} * 1024 * 1024;
// Limit for all tries of one call that opens a file, over both copies and all passphrases. It
// bounds what a hostile file costs its reader.
// It covers two copies at their limit with one passphrase, so that a damaged copy never hides an
// intact one.
inline constexpr uint64_t argon2_budget = 2 * argon2_work_max;
inline constexpr size_t argon2_salt_bytes = 16;

constexpr bool within_bounds(Argon2Cost cost) {
    return cost.passes >= 1 && cost.passes <= argon2_passes_max &&
           cost.memory_kib >= argon2_memory_kib_min && cost.memory_kib <= argon2_memory_kib_max;
}
constexpr uint64_t work(Argon2Cost cost) { return uint64_t{cost.passes} * cost.memory_kib; }
// The number that docs/file-format.md and warpseal.h state.
static_assert(argon2_budget / work(argon2_default) == 85);

// Computes Argon2id with one lane and 32 bytes of output. The cost must be within bounds.
// Returns WARPSEAL_OUT_OF_MEMORY if its memory cannot be allocated.
warpseal_status argon2id(Bytes passphrase, const uint8_t salt[argon2_salt_bytes], Argon2Cost cost,
                         Secret<32>& out);

}  // namespace warpseal::container
