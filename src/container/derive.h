// Keys from keys and passphrases: HKDF-Expand and HMAC with SHA-512 (RFC 5869 2.3, RFC 2104),
// Argon2id version 1.3 (RFC 9106).
#pragma once

#include "core/secret.h"
#include "engine/engine.h"

namespace warpseal::container {

inline constexpr size_t hmac_bytes = 64;  // SHA-512

// The parts of a message, one after the other, without joining them in memory.
struct Parts {
    const Bytes* parts;
    size_t count;
};

// HMAC-SHA-512 of all parts.
void hmac(Bytes key, Parts message, uint8_t mac[hmac_bytes]);

// HKDF-Expand(SHA-512, key, info, out_bytes), out_bytes at most 255 * 64.
void expand(Bytes key, Parts info, uint8_t* out, size_t out_bytes);

struct Argon2Cost {
    uint32_t passes = 0;
    uint32_t memory_kib = 0;
};

inline constexpr Argon2Cost argon2_default = {3, 256 * 1024};
inline constexpr uint32_t argon2_passes_max = 16;
inline constexpr uint32_t argon2_memory_kib_min = 8;  // Argon2's own floor at one lane
inline constexpr uint32_t argon2_memory_kib_max = 1024 * 1024;
// In passes times KiB: all passphrase slots of a header copy together.
inline constexpr uint64_t argon2_work_max = uint64_t{32} * 1024 * 1024;
// All tries of one call that opens a file, over both copies and all passphrases: what a hostile
// file can cost whoever tries to open it. It covers two copies at their bound with one passphrase,
// so that a damaged copy never hides an intact one.
inline constexpr uint64_t argon2_budget = 2 * argon2_work_max;
inline constexpr size_t argon2_salt_bytes = 16;

constexpr bool within_bounds(Argon2Cost cost) {
    return cost.passes >= 1 && cost.passes <= argon2_passes_max &&
           cost.memory_kib >= argon2_memory_kib_min && cost.memory_kib <= argon2_memory_kib_max;
}
constexpr uint64_t work(Argon2Cost cost) { return uint64_t{cost.passes} * cost.memory_kib; }
static_assert(argon2_budget / work(argon2_default) ==
              85);  // as docs/file-format.md and warpseal.h say

// Argon2id, one lane, 32 bytes out. The cost is within bounds. WARPSEAL_OUT_OF_MEMORY if its memory
// cannot be had.
warpseal_status argon2id(Bytes passphrase, const uint8_t salt[argon2_salt_bytes], Argon2Cost cost,
                         Secret<32>& out);

}  // namespace warpseal::container
