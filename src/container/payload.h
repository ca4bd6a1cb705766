// The payload: chunked encryption as c2sp.org/chunked-encryption says ("Cobblestone"), its keys,
// head and chunk numbers.
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
inline constexpr size_t chunk_text_bytes =
    16384;  // of every chunk but the last, which is always shorter and may be empty
inline constexpr size_t chunk_bytes = chunk_text_bytes + tag_bytes;
inline constexpr uint64_t max_chunks = uint64_t{1} << 38;
inline constexpr uint64_t max_text_bytes = max_chunks * chunk_text_bytes - 1;

struct Suite {
    uint16_t id;  // in our fixed part: IANA's AEAD number where there is one, from 0x8001 where
                  // there is none
    const char* name;    // in our interface
    const char* cipher;  // in the engine, in GCM
    const char* aead;    // in the key derivation: IANA's name where there is one
    uint32_t key_bytes;
};

inline constexpr Suite suites[] = {
    {2, "aes-256-gcm", "aes-256", "AEAD_AES_256_GCM", 32},
    {1, "aes-128-gcm", "aes-128", "AEAD_AES_128_GCM", 16},
    {0x8001, "aria-256-gcm", "aria-256", "AEAD_ARIA_256_GCM", 32},
    {0x8002, "camellia-256-gcm", "camellia-256", "AEAD_CAMELLIA_256_GCM", 32},
};
inline constexpr const Suite& default_suite = suites[0];  // also that of slots: Cobblestone-256

const Suite* suite_by_id(uint16_t id);
const Suite* suite_by_name(const char* name);
const Suite* suite_by_key_bytes(size_t key_bytes);  // of the cobblestone format: the one with AES

// A payload's AEAD key, expanded, and the nonce of its chunk 0.
struct PayloadKey {
    std::unique_ptr<Key> key;
    Secret<nonce_bytes> base_nonce;
};

// Draws a salt and writes the head of a new payload under `input_key` (suite.key_bytes long).
warpseal_status new_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                            uint8_t head[payload_head_bytes], PayloadKey& out, Fault& fault);
// Reads a payload's head. WARPSEAL_WRONG_KEY if the commitment does not match: another key,
// context, or a changed head.
warpseal_status open_payload(Engine& engine, const Suite& suite, Bytes input_key, Parts context,
                             const uint8_t head[payload_head_bytes], PayloadKey& out, Fault& fault);

// The nonce of a chunk: the base nonce XOR the chunk's number, big-endian.
void chunk_nonce(const PayloadKey& payload, uint64_t number, uint8_t nonce[nonce_bytes]);

}  // namespace warpseal::container
