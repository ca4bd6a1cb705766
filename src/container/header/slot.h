// Key slots: the data key of a file, sealed under a key file or a passphrase, or for a recipient.
#pragma once

#include <vector>

#include "container/payload.h"
#include "container/recipients/recipient.h"
#include "container/slot_keys.h"

namespace warpseal::container {

inline constexpr size_t fixed_part_bytes = 32;
inline constexpr size_t data_key_bytes = 32;
// A Cobblestone-256 message of one short chunk.
inline constexpr size_t sealed_key_bytes = payload_head_bytes + data_key_bytes + tag_bytes;

// A slot as stored in a header copy: type, parameter length, parameters, body length, body.
struct Slot {
    uint16_t type = 0;  // a warpseal_slot_type, or a type unknown to this version
    Bytes whole;        // the complete slot as stored
    Bytes head;         // type, parameter length and parameters: the end of the body's context
    Bytes parameters;
    Bytes body;
};

// Type, parameter length and body length, two bytes each.
inline constexpr size_t slot_frame_bytes = 6;
inline constexpr size_t passphrase_parameter_bytes = 8 + argon2_salt_bytes;
// A share and the wrapped file key of the slot.
constexpr size_t recipient_parameter_bytes(RecipientType type) {
    return form_of(type).share_bytes + wrapped_key_bytes;
}
constexpr size_t slot_bytes_with(size_t parameter_bytes) {
    return slot_frame_bytes + parameter_bytes + sealed_key_bytes;
}
inline constexpr size_t key_file_slot_bytes = slot_bytes_with(0);
inline constexpr size_t passphrase_slot_bytes = slot_bytes_with(passphrase_parameter_bytes);
inline constexpr size_t x25519_slot_bytes =
    slot_bytes_with(recipient_parameter_bytes(RecipientType::x25519));
inline constexpr size_t hybrid_slot_bytes =
    slot_bytes_with(recipient_parameter_bytes(RecipientType::mlkem768_x25519));

// Slots whose file key the caller wraps and unwraps.
constexpr bool is_stanza_slot(uint16_t type) {
    return type == WARPSEAL_SLOT_SSH_ED25519 || type == WARPSEAL_SLOT_SSH_RSA ||
           type == WARPSEAL_SLOT_STANZA;
}
// True if slots of a type that this version knows may have such parameters. Their length is
// checked, and the flags of a plugin's slot.
bool may_have_parameters(uint16_t slot_type, Bytes parameters);
// True if slots of that type are tried with the secret.
bool opens_type(const warpseal_secret& secret, uint16_t slot_type);
// Return the type and the length of the slot that a secret seals. The type is also that of the
// slots that a secret opens, unless it is an unwrapper, which opens several.
uint16_t slot_type_of(const warpseal_secret& secret);
size_t slot_bytes_of(const warpseal_secret& secret);

inline constexpr size_t ntru_slot_bytes =
    slot_bytes_with(recipient_parameter_bytes(RecipientType::ntru_x25519));

// The strength of the recipients of a header against a quantum computer. Key files and passphrases
// have it. Slots of unknown types do not count.
class RecipientKinds {
public:
    // Takes a slot as it is stored, and the slot that a secret seals.
    void add(uint16_t slot_type, Bytes parameters);
    void add_new(const warpseal_secret& secret);
    // Returns WARPSEAL_INVALID_ARGUMENT for a mixture, whose weaker recipients would make the
    // others' protection void.
    warpseal_status check(Fault& fault) const;

private:
    bool classical_ = false, post_quantum_ = false;
};

// True for a failure of an unwrapper that concerns one slot. The others are of the engine and of
// the program, and end the search.
constexpr bool leaves_other_slots(warpseal_status status) {
    switch (status) {
        case WARPSEAL_INVALID_ARGUMENT:
        case WARPSEAL_UNSUPPORTED:
        case WARPSEAL_LIMIT_EXCEEDED:
        case WARPSEAL_WRONG_KEY:
        case WARPSEAL_NOT_AUTHENTIC:
        case WARPSEAL_TRUNCATED:
        case WARPSEAL_IO:
        case WARPSEAL_WEAK_KEY: return true;
        default: return false;
    }
}

// Parses one slot and removes it from `rest`. Returns false if it does not fit or a known type has
// the wrong lengths.
bool parse_slot(Bytes& rest, Slot& slot);
// Returns the cost stored in a passphrase slot, which may be out of bounds.
Argon2Cost passphrase_cost(const Slot& slot);

// Writes a slot for one secret, which is no identity, and sets out_bytes to slot_bytes_of(secret).
// The cost must be within bounds. `keys` of a run may be null.
// WARPSEAL_INVALID_ARGUMENT: a recipient's public key is refused.
warpseal_status seal_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const warpseal_secret& secret, Argon2Cost cost,
                          const Secret<data_key_bytes>& data_key, uint8_t* out, size_t& out_bytes,
                          Fault& fault, SlotKeys* keys = nullptr);
// Returns WARPSEAL_WRONG_KEY if the secret, which is no recipient, does not open the slot. The
// slot's cost must be within bounds. `alike` has the parameters of all slots of its type in the
// file, for a secret that is an unwrapper.
using Alike = std::vector<warpseal_internal_parameters>;
warpseal_status open_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const Slot& slot, const warpseal_secret& secret,
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys = nullptr,
                          const Alike& alike = {});

}  // namespace warpseal::container
