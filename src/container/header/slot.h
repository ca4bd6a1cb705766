// Key slots: the data key of a file, sealed under a key file or a passphrase.
#pragma once

#include "container/payload.h"
#include "container/slot_keys.h"

namespace warpseal::container {

inline constexpr size_t fixed_part_bytes = 32;
inline constexpr size_t data_key_bytes = 32;
// A Cobblestone-256 message of one short chunk.
inline constexpr size_t sealed_key_bytes = payload_head_bytes + data_key_bytes + tag_bytes;

// A slot as stored in a header copy: type, parameter length, parameters, body length, body.
struct Slot {
    uint16_t type = 0;  // a warpseal_secret_type, or a type unknown to this version
    Bytes whole;        // the complete slot as stored
    Bytes head;         // type, parameter length and parameters: the end of the body's context
    Bytes parameters;
    Bytes body;
};

// Type, parameter length and body length, two bytes each.
inline constexpr size_t slot_frame_bytes = 6;
inline constexpr size_t passphrase_parameter_bytes = 8 + argon2_salt_bytes;
inline constexpr size_t key_file_slot_bytes = slot_frame_bytes + sealed_key_bytes;
inline constexpr size_t passphrase_slot_bytes =
    slot_frame_bytes + passphrase_parameter_bytes + sealed_key_bytes;

// Parses one slot and removes it from `rest`. Returns false if it does not fit or a known type has
// the wrong lengths.
bool parse_slot(Bytes& rest, Slot& slot);
// Returns the cost stored in a passphrase slot, which may be out of bounds.
Argon2Cost passphrase_cost(const Slot& slot);

// Writes a slot for one secret and sets out_bytes to key_file_slot_bytes or passphrase_slot_bytes.
// The cost must be within bounds. `keys` of a run may be null.
warpseal_status seal_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const warpseal_secret& secret, Argon2Cost cost,
                          const Secret<data_key_bytes>& data_key, uint8_t* out, size_t& out_bytes,
                          Fault& fault, SlotKeys* keys = nullptr);
// Returns WARPSEAL_WRONG_KEY if the secret does not open the slot. The slot's cost must be within
// bounds.
warpseal_status open_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const Slot& slot, const warpseal_secret& secret,
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys = nullptr);

}  // namespace warpseal::container
