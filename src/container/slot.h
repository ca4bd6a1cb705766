// Key slots: the data key of a file, sealed for one key file or one passphrase.
#pragma once

#include "container/payload.h"

namespace warpseal::container {

inline constexpr size_t fixed_part_bytes = 32;
inline constexpr size_t data_key_bytes = 32;
inline constexpr size_t sealed_key_bytes =
    payload_head_bytes + data_key_bytes +
    tag_bytes;  // a Cobblestone-256 message of one short chunk

// A slot as it lies in a header copy: type, length and parameters, then length and body.
struct Slot {
    uint16_t type = 0;  // a warpseal_secret_type, or one that this version does not know
    Bytes whole;        // everything below, as stored
    Bytes head;         // type, parameter length, parameters: what the body's context ends with
    Bytes parameters;
    Bytes body;
};

inline constexpr size_t slot_frame_bytes =
    6;  // type, parameter length, body length: two bytes each
inline constexpr size_t passphrase_parameter_bytes = 8 + argon2_salt_bytes;
inline constexpr size_t key_file_slot_bytes = slot_frame_bytes + sealed_key_bytes;
inline constexpr size_t passphrase_slot_bytes =
    slot_frame_bytes + passphrase_parameter_bytes + sealed_key_bytes;

// Takes one slot from the front of `rest`. False if it does not fit, or if a known type has lengths
// that it cannot have.
bool parse_slot(Bytes& rest, Slot& slot);
// The cost that a passphrase slot asks for, not yet checked against any bound.
Argon2Cost passphrase_cost(const Slot& slot);

// Writes a slot for one secret and returns its length: key_file_slot_bytes or
// passphrase_slot_bytes. Costs are within bounds.
warpseal_status seal_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const warpseal_secret& secret, Argon2Cost cost,
                          const Secret<data_key_bytes>& data_key, uint8_t* out, size_t& out_bytes,
                          Fault& fault);
// WARPSEAL_WRONG_KEY if the slot is not this secret's. The slot's cost is within bounds.
warpseal_status open_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const Slot& slot, const warpseal_secret& secret,
                          Secret<data_key_bytes>& data_key, Fault& fault);

}  // namespace warpseal::container
