// The payload: keys, head and chunk numbers of c2sp.org/chunked-encryption ("Cobblestone").
#pragma once

#include "container/derive.h"
#include "container/fault.h"
#include "engine/key.h"

namespace warpseal::container {

inline constexpr size_t salt_bytes = 24;
inline constexpr size_t commitment_bytes = 32;
inline constexpr size_t payload_head_bytes = salt_bytes + commitment_bytes;
inline constexpr size_t nonce_bytes = 12;
inline constexpr size_t tag_bytes = 16;
// Text bytes of every chunk but the last, which is always shorter and may be empty.
inline constexpr size_t chunk_text_bytes = 16384;
inline constexpr size_t chunk_bytes = chunk_text_bytes + tag_bytes;
inline constexpr uint64_t max_chunks = uint64_t{1} << 38;
inline constexpr uint64_t max_text_bytes = max_chunks * chunk_text_bytes - 1;

struct Suite {
    // Suite number in the fixed part: IANA's AEAD number, or from 0x8001 if there is none.
    uint16_t id;
    const char* name;    // in the C API
    const char* cipher;  // engine's name of the cipher, used in GCM
    const char* aead;    // in the key derivation: IANA's name if there is one
    uint32_t key_bytes;
};

inline constexpr Suite suites[] = {
    {2, "aes-256-gcm", "aes-256", "AEAD_AES_256_GCM", 32},
    {1, "aes-128-gcm", "aes-128", "AEAD_AES_128_GCM", 16},
    {0x8001, "aria-256-gcm", "aria-256", "AEAD_ARIA_256_GCM", 32},
    {0x8002, "camellia-256-gcm", "camellia-256", "AEAD_CAMELLIA_256_GCM", 32},
};
inline constexpr const Suite& default_suite = suites[0];  // also used for slots: Cobblestone-256

const Suite* suite_by_id(uint16_t id);
const Suite* suite_by_name(const char* name);
// For the cobblestone format: returns the AES suite with that key size, or null.
const Suite* suite_by_key_bytes(size_t key_bytes);

// Expanded AEAD key of a payload, and the nonce of its chunk 0.
struct PayloadKey {
    std::unique_ptr<Key> key;
    Secret<nonce_bytes> base_nonce;
};

// Draws a salt and writes the head of a new payload under `input_key`, which is suite.key_bytes
// long.
warpseal_status new_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                            uint8_t head[payload_head_bytes], PayloadKey& out, Fault& fault);
// Reads the head of a payload. Returns WARPSEAL_WRONG_KEY if the commitment does not match: wrong
// key, wrong context, or changed head.
warpseal_status open_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                             const uint8_t head[payload_head_bytes], PayloadKey& out, Fault& fault);

// Derives the key of the journal at the end of an unfinished output (container/resume). Each
// payload has its own, because each has another salt.
void derive_journal_key(Bytes input_key, const uint8_t head[payload_head_bytes],
                        Secret<hmac_bytes>& out);

// Computes the nonce of a chunk: the base nonce XOR the chunk's number, big-endian.
void chunk_nonce(const PayloadKey& payload, uint64_t number, uint8_t nonce[nonce_bytes]);

}  // namespace warpseal::container
