// The envelope before the payload: an immutable fixed part, and two copies of a header with the key
// slots.
#pragma once

#include <vector>

#include "container/header/slot.h"

namespace warpseal::container {

inline constexpr uint16_t format_version = 1;
// Fixed part and zeros. A separate block, so that rewriting a copy does not touch it.
inline constexpr size_t first_block_bytes = 4096;
inline constexpr uint32_t copy_bytes_default = 28672;
inline constexpr uint32_t copy_bytes_step = 4096;
inline constexpr uint32_t copy_bytes_max = 28672;  // keeps the complete header below 64 KiB
inline constexpr size_t copy_head_bytes = 16;      // generation, number of slots, zeros

constexpr size_t header_bytes(uint32_t copy_bytes) {
    return first_block_bytes + 2 * size_t{copy_bytes};
}
static_assert(header_bytes(copy_bytes_max) <= 65536);
// Slots that a copy has room for, in bytes.
constexpr size_t slot_room(uint32_t copy_bytes) {
    return copy_bytes - copy_head_bytes - hmac_bytes;
}
static_assert(WARPSEAL_MAX_SLOTS * passphrase_slot_bytes <= slot_room(copy_bytes_default));
static_assert(slot_room(copy_bytes_default) / hybrid_slot_bytes == 22);
static_assert(slot_room(copy_bytes_default) / ntru_slot_bytes == 20);

struct FixedPart {
    uint8_t bytes[fixed_part_bytes] = {};
    uint16_t version = 0;
    const Suite* suite = nullptr;
    uint32_t copy_bytes = 0;
    uint8_t file_id[16] = {};
};

// Parses and checks the start of a file. `have` is the number of bytes read: first_block_bytes
// unless the file is shorter.
warpseal_status parse_first_block(const uint8_t* block, size_t have, FixedPart& out, Fault& fault);

struct HeaderCopy {
    bool well_formed = false;  // does not imply authenticity
    uint64_t generation = 0;
    uint32_t slot_count = 0;
    Slot slots[WARPSEAL_MAX_SLOTS];
};

// The complete header of a file. Slots point into `bytes`.
struct Header {
    FixedPart fixed;
    std::vector<uint8_t> bytes;
    HeaderCopy copies[2];

    const uint8_t* copy(int index) const {
        return bytes.data() + first_block_bytes + static_cast<size_t>(index) * fixed.copy_bytes;
    }
    // Returns the index of the well-formed copy with the higher generation, 0 if both are equal, or
    // -1 if neither is well-formed.
    int newest() const;
    // True if both copies are identical, as after a complete write.
    bool copies_equal() const;
};

// Returns the parameters of all slots of a type, in both copies.
Alike parameters_of_type(const Header& header, uint16_t type);

// Parses both copies from `bytes`, which parse_first_block() must have accepted.
void parse_copies(Header& header);

struct Try;

// Finds a slot that one of the secrets opens; visit_tries() defines the order and the cost limit.
// in_force: receives the index of the newest copy whose MAC verifies under the data key.
// keys: those of the run, or null. A key from there counts for the limit like a derived one.
// opened: if not null, receives the slot and the secret that gave the data key.
warpseal_status unlock(Engine& engine, const Header& header, const warpseal_secret* secrets,
                       size_t secret_count, Secret<data_key_bytes>& data_key, int& in_force,
                       Fault& fault, uint64_t budget = argon2_budget, SlotKeys* keys = nullptr,
                       Try* opened = nullptr);

// Creates the header of a new file: draws file ID and data key, seals one slot for each secret, and
// writes both copies with generation 1.
warpseal_status new_header(Engine& engine, const Suite& suite, const warpseal_secret* secrets,
                           size_t secret_count, Argon2Cost cost, Header& header,
                           Secret<data_key_bytes>& data_key, Fault& fault,
                           SlotKeys* keys = nullptr);

// Writes one copy of fixed.copy_bytes bytes, with its MAC. `slots` are in the file's encoding.
void write_copy(const uint8_t first_block[first_block_bytes], const FixedPart& fixed,
                uint64_t generation, uint32_t slot_count, Bytes slots,
                const Secret<data_key_bytes>& data_key, uint8_t* out);

// Derives the input key of the payload, suite.key_bytes long.
void payload_input_key(const Suite& suite, const Secret<data_key_bytes>& data_key, Secret<32>& out);

}  // namespace warpseal::container
