// The envelope before the payload: a fixed part that never changes, and two copies of a header that
// holds the key slots.
#pragma once

#include <vector>

#include "container/slot.h"

namespace warpseal::container {

inline constexpr uint16_t format_version = 1;
inline constexpr size_t first_block_bytes =
    4096;  // the fixed part and zeros: a block of its own, so that rewriting a copy leaves it alone
inline constexpr uint32_t copy_bytes_default = 8192;
inline constexpr uint32_t copy_bytes_step = 4096;
inline constexpr uint32_t copy_bytes_max = 28672;  // the whole header stays below 64 KiB
inline constexpr size_t copy_head_bytes = 16;      // generation, number of slots, zeros

constexpr size_t header_bytes(uint32_t copy_bytes) {
    return first_block_bytes + 2 * size_t{copy_bytes};
}
static_assert(header_bytes(copy_bytes_max) <= 65536);
static_assert(copy_head_bytes + WARPSEAL_MAX_SLOTS * passphrase_slot_bytes + hmac_bytes <=
              copy_bytes_default);

struct FixedPart {
    uint8_t bytes[fixed_part_bytes] = {};
    uint16_t version = 0;
    const Suite* suite = nullptr;
    uint32_t copy_bytes = 0;
    uint8_t file_id[16] = {};
};

// Checks the front of a file, of which `have` bytes could be read (first_block_bytes if it is long
// enough).
warpseal_status parse_first_block(const uint8_t* block, size_t have, FixedPart& out, Fault& fault);

struct HeaderCopy {
    bool well_formed = false;  // says nothing about authenticity
    uint64_t generation = 0;
    uint32_t slot_count = 0;
    Slot slots[WARPSEAL_MAX_SLOTS];
};

// The whole header of a file in memory. Slots point into `bytes`.
struct Header {
    FixedPart fixed;
    std::vector<uint8_t> bytes;
    HeaderCopy copies[2];

    const uint8_t* copy(int index) const {
        return bytes.data() + first_block_bytes + static_cast<size_t>(index) * fixed.copy_bytes;
    }
    // The index of the well-formed copy with the higher generation, 0 where both have the same; -1
    // if neither is well formed.
    int newest() const;
    // Byte for byte: what a finished write leaves.
    bool copies_equal() const;
};

// Fills `fixed` and both copies from `bytes`, which parse_first_block accepted.
void parse_copies(Header& header);

// Finds a slot that one of the secrets opens (visit_tries says in which order, and what that may
// cost), and the copy in force: of those whose MAC verifies under the data key, the newest.
warpseal_status unlock(Engine& engine, const Header& header, const warpseal_secret* secrets,
                       size_t secret_count, Secret<data_key_bytes>& data_key, int& in_force,
                       Fault& fault, uint64_t budget = argon2_budget);

// A new file's header: draws file id and data key, seals one slot for each secret, writes
// generation 1 in both copies.
warpseal_status new_header(Engine& engine, const Suite& suite, const warpseal_secret* secrets,
                           size_t secret_count, Argon2Cost cost, Header& header,
                           Secret<data_key_bytes>& data_key, Fault& fault);

// Writes one copy, fixed.copy_bytes long, from slots as they lie in a file, and its MAC.
void write_copy(const uint8_t first_block[first_block_bytes], const FixedPart& fixed,
                uint64_t generation, uint32_t slot_count, Bytes slots,
                const Secret<data_key_bytes>& data_key, uint8_t* out);

// The input key of the payload, suite.key_bytes long.
void payload_input_key(const Suite& suite, const Secret<data_key_bytes>& data_key, Secret<32>& out);

}  // namespace warpseal::container
