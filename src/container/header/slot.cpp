// Writes, parses, seals and opens key slots.
#include "container/header/slot.h"

#include "container/bytes.h"
#include "container/random.h"

namespace warpseal::container {
namespace {

constexpr char slot_label[] = "warpseal/slot/v1";
constexpr char key_file_label[] = "warpseal/key-file/v1";
constexpr char recipient_label[] = "warpseal/recipient/v1";

warpseal_status passphrase_key(Bytes passphrase, const uint8_t* parameters, SlotKeys* keys,
                               Secret<32>& key, Fault& fault) {
    const Argon2Cost cost = {get32(parameters), get32(parameters + 4)};
    const warpseal_status status = keys != nullptr
                                       ? keys->derive(passphrase, parameters + 8, cost, key)
                                       : argon2id(passphrase, parameters + 8, cost, key);
    if (status == WARPSEAL_OUT_OF_MEMORY)
        return fault.say(status, "no memory for Argon2id, which needs %u KiB here",
                         cost.memory_kib);
    if (status != WARPSEAL_OK) return fault.say(status, "Argon2id could not start");
    return WARPSEAL_OK;
}

// A key file gets a label of its own, because it may also be the key of a bare payload. So does a
// file key, which is wrapped as age does.
void labeled_key(Bytes from, Bytes label, Secret<32>& key) {
    expand(from, {&label, 1}, key.data(), key.size());
}

Bytes bytes_of(const warpseal_secret& secret) {
    return {static_cast<const uint8_t*>(secret.bytes), secret.byte_count};
}

// Opens the parameters of a recipient's slot: a share, then a wrapped file key.
warpseal_status identity_key(Engine& engine, const warpseal_secret& secret,
                             const uint8_t* parameters, Secret<32>& key, Fault& fault) {
    const RecipientType type = recipient_type(secret);
    Secret<recipient_secret_bytes> secret_key;
    if (decode_identity(secret, secret_key, fault) != WARPSEAL_OK) return fault.status;
    Secret<file_key_bytes> file_key;
    const warpseal_status status =
        unwrap_file_key(engine, type, secret_key.data(), parameters,
                        parameters + form_of(type).share_bytes, file_key);
    if (status == WARPSEAL_WRONG_KEY) return fault.say(status, "a slot of another recipient");
    if (status == WARPSEAL_NOT_AUTHENTIC)
        return fault.say(status, "the public share of a slot was changed");
    if (status != WARPSEAL_OK) return fault.say(status, "a recipient's slot could not be opened");
    labeled_key({file_key.data(), file_key.size()}, text_bytes(recipient_label), key);
    return WARPSEAL_OK;
}

// Asks the program for the file key. The message is empty if the slot is for somebody else.
warpseal_status unwrapped_key(const warpseal_secret& secret, const Slot& slot, const Alike& alike,
                              Secret<32>& key, Fault& fault) {
    warpseal_internal_unwrapper unwrapper;
    static_assert(sizeof fault.message == 240);
    memcpy(&unwrapper, secret.bytes, sizeof unwrapper);
    Secret<file_key_bytes> file_key;
    fault = {};
    const warpseal_internal_stanza_slot asked = {
        slot.type, {slot.parameters.data, slot.parameters.size}, alike.data(), alike.size()};
    fault.status = unwrapper.unwrap(unwrapper.user, &asked, file_key.data(), fault.message);
    fault.message[sizeof fault.message - 1] = 0;
    if (fault.status == WARPSEAL_OK)
        labeled_key({file_key.data(), file_key.size()}, text_bytes(recipient_label), key);
    else if (fault.status != WARPSEAL_WRONG_KEY && fault.message[0] == 0)
        fault.say(fault.status, "a recipient's slot could not be opened");
    return fault.status;
}

// Derives the input key of a stored slot.
warpseal_status slot_key(Engine& engine, const warpseal_secret& secret, const Slot& slot,
                         SlotKeys* keys, const Alike& alike, Secret<32>& key, Fault& fault) {
    const uint8_t* const parameters = slot.parameters.data;
    if (secret.type == WARPSEAL_SECRET_PASSPHRASE)
        return passphrase_key(bytes_of(secret), parameters, keys, key, fault);
    if (secret.type == WARPSEAL_SECRET_IDENTITY)
        return identity_key(engine, secret, parameters, key, fault);
    if (is_unwrapper_secret(secret)) return unwrapped_key(secret, slot, alike, key, fault);
    labeled_key(bytes_of(secret), text_bytes(key_file_label), key);
    return WARPSEAL_OK;
}

// Write the parameters of a new slot, and derive its key.
warpseal_status new_passphrase_key(const warpseal_secret& secret, Argon2Cost cost, SlotKeys* keys,
                                   uint8_t* parameters, Secret<32>& key, Fault& fault) {
    put32(parameters, cost.passes);
    put32(parameters + 4, cost.memory_kib);
    const bool has_salt = keys != nullptr ? keys->salt_for(bytes_of(secret), cost, parameters + 8)
                                          : random_bytes(parameters + 8, argon2_salt_bytes);
    if (!has_salt) return fault.say(WARPSEAL_NO_RANDOM, "no random bytes for a passphrase's salt");
    return passphrase_key(bytes_of(secret), parameters, keys, key, fault);
}
warpseal_status new_recipient_key(Engine& engine, const warpseal_secret& secret,
                                  uint8_t* parameters, Secret<32>& key, Fault& fault) {
    const RecipientType type = recipient_type(secret);
    uint8_t public_key[recipient_public_bytes_max];
    if (decode_recipient(secret, public_key, fault) != WARPSEAL_OK) return fault.status;
    Secret<file_key_bytes> file_key;
    if (!random_bytes(file_key.data(), file_key.size()))
        return fault.say(WARPSEAL_NO_RANDOM, "no random bytes for a recipient's slot");
    const warpseal_status status = wrap_file_key(engine, type, public_key, file_key, parameters,
                                                 parameters + form_of(type).share_bytes);
    if (status == WARPSEAL_INVALID_ARGUMENT)
        return fault.say(status, "a recipient is no valid key: ask its owner for another");
    if (status != WARPSEAL_OK) return fault.say(status, "a recipient's slot could not be sealed");
    labeled_key({file_key.data(), file_key.size()}, text_bytes(recipient_label), key);
    return WARPSEAL_OK;
}
// The caller has wrapped the file key into the parameters.
void stanza_key(const warpseal_secret& secret, uint8_t* parameters, Secret<32>& key) {
    const Bytes from = stanza_parameters(secret);
    memcpy(parameters, from.data, from.size);
    labeled_key({from.data - file_key_bytes, file_key_bytes}, text_bytes(recipient_label), key);
}
warpseal_status new_slot_key(Engine& engine, const warpseal_secret& secret, Argon2Cost cost,
                             SlotKeys* keys, uint8_t* parameters, Secret<32>& key, Fault& fault) {
    if (secret.type == WARPSEAL_SECRET_PASSPHRASE)
        return new_passphrase_key(secret, cost, keys, parameters, key, fault);
    if (secret.type == WARPSEAL_SECRET_RECIPIENT)
        return new_recipient_key(engine, secret, parameters, key, fault);
    if (is_stanza_secret(secret)) {
        stanza_key(secret, parameters, key);
        return WARPSEAL_OK;
    }
    labeled_key(bytes_of(secret), text_bytes(key_file_label), key);
    return WARPSEAL_OK;
}

// The parameter bytes of a slot type, or SIZE_MAX for an unknown type.
size_t parameter_bytes_of(uint16_t slot_type) {
    switch (slot_type) {
        case WARPSEAL_SLOT_KEY: return 0;
        case WARPSEAL_SLOT_PASSPHRASE: return passphrase_parameter_bytes;
        case WARPSEAL_SLOT_X25519: return recipient_parameter_bytes(RecipientType::x25519);
        case WARPSEAL_SLOT_MLKEM768_X25519:
            return recipient_parameter_bytes(RecipientType::mlkem768_x25519);
        case WARPSEAL_SLOT_NTRU_X25519:
            return recipient_parameter_bytes(RecipientType::ntru_x25519);
        default: return SIZE_MAX;
    }
}

struct Context {
    Bytes parts[2];
    uint8_t front[sizeof slot_label - 1 + fixed_part_bytes];
    Context(const uint8_t* fixed_part, Bytes head) {
        memcpy(front, slot_label, sizeof slot_label - 1);
        memcpy(front + sizeof slot_label - 1, fixed_part, fixed_part_bytes);
        parts[0] = {front, sizeof front};
        parts[1] = head;
    }
    Context(const Context&) = delete;
    Parts get() const { return {parts, 2}; }
};

}  // namespace

bool parse_slot(Bytes& rest, Slot& slot) {
    if (rest.size < 4) return false;
    const uint8_t* const p = rest.data;
    const size_t parameter_bytes = get16(p + 2);
    if (rest.size < slot_frame_bytes + parameter_bytes) return false;
    const size_t body_bytes = get16(p + 4 + parameter_bytes);
    const size_t whole_bytes = slot_frame_bytes + parameter_bytes + body_bytes;
    if (rest.size < whole_bytes) return false;
    slot.type = get16(p);
    slot.whole = {p, whole_bytes};
    slot.head = {p, 4 + parameter_bytes};
    slot.parameters = {p + 4, parameter_bytes};
    slot.body = {p + slot_frame_bytes + parameter_bytes, body_bytes};
    rest = {p + whole_bytes, rest.size - whole_bytes};
    if (slot.type == 0) return false;
    const bool is_known = is_stanza_slot(slot.type) || parameter_bytes_of(slot.type) != SIZE_MAX;
    return !is_known ||
           (may_have_parameters(slot.type, slot.parameters) && body_bytes == sealed_key_bytes);
}

bool may_have_parameters(uint16_t slot_type, Bytes parameters) {
    constexpr size_t tag_bytes_of_key = 4, share_bytes = 32, rsa_least = 256, rsa_most = 2048,
                     flag_bytes = WARPSEAL_INTERNAL_STANZA_FLAG_BYTES,
                     most = flag_bytes + WARPSEAL_INTERNAL_STANZA_TEXT_BYTES_MAX;
    const size_t bytes = parameters.size;
    switch (slot_type) {
        case WARPSEAL_SLOT_SSH_ED25519:
            return bytes == tag_bytes_of_key + share_bytes + wrapped_key_bytes;
        case WARPSEAL_SLOT_SSH_RSA:
            return bytes >= tag_bytes_of_key + rsa_least && bytes <= tag_bytes_of_key + rsa_most;
        case WARPSEAL_SLOT_STANZA:
            return bytes > flag_bytes && bytes <= most &&
                   (parameters.data[0] | WARPSEAL_INTERNAL_STANZA_POST_QUANTUM) ==
                       WARPSEAL_INTERNAL_STANZA_POST_QUANTUM;
        default: return bytes == parameter_bytes_of(slot_type);
    }
}

bool opens_type(const warpseal_secret& secret, uint16_t slot_type) {
    return is_unwrapper_secret(secret) ? is_stanza_slot(slot_type)
                                       : slot_type_of(secret) == slot_type;
}

uint16_t slot_type_of(const warpseal_secret& secret) {
    if (is_stanza_secret(secret)) return get16(static_cast<const uint8_t*>(secret.bytes));
    if (!is_public_key_secret(secret)) return static_cast<uint16_t>(secret.type);
    switch (recipient_type(secret)) {
        case RecipientType::x25519: return WARPSEAL_SLOT_X25519;
        case RecipientType::mlkem768_x25519: return WARPSEAL_SLOT_MLKEM768_X25519;
        case RecipientType::ntru_x25519: break;
    }
    return WARPSEAL_SLOT_NTRU_X25519;
}

size_t slot_bytes_of(const warpseal_secret& secret) {
    if (is_stanza_secret(secret)) return slot_bytes_with(secret.byte_count - stanza_head_bytes);
    return slot_bytes_with(parameter_bytes_of(slot_type_of(secret)));
}

void RecipientKinds::add(uint16_t slot_type, Bytes parameters) {
    switch (slot_type) {
        case WARPSEAL_SLOT_X25519:
        case WARPSEAL_SLOT_SSH_ED25519:
        case WARPSEAL_SLOT_SSH_RSA: classical_ = true; break;
        case WARPSEAL_SLOT_MLKEM768_X25519:
        case WARPSEAL_SLOT_NTRU_X25519: post_quantum_ = true; break;
        case WARPSEAL_SLOT_STANZA:
            if (parameters.size == 0) break;  // may_have_parameters excludes it
            (parameters.data[0] == WARPSEAL_INTERNAL_STANZA_POST_QUANTUM ? post_quantum_
                                                                         : classical_) = true;
            break;
        default: break;
    }
}

void RecipientKinds::add_new(const warpseal_secret& secret) {
    add(slot_type_of(secret), is_stanza_secret(secret) ? stanza_parameters(secret) : Bytes());
}

warpseal_status RecipientKinds::check(Fault& fault) const {
    if (!classical_ || !post_quantum_) return WARPSEAL_OK;
    return fault.say(WARPSEAL_INVALID_ARGUMENT,
                     "an age1, SSH or plugin recipient is not post-quantum and would weaken the "
                     "post-quantum recipients: take recipients of one kind");
}

Argon2Cost passphrase_cost(const Slot& slot) {
    return {get32(slot.parameters.data), get32(slot.parameters.data + 4)};
}

warpseal_status seal_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const warpseal_secret& secret, Argon2Cost cost,
                          const Secret<data_key_bytes>& data_key, uint8_t* out, size_t& out_bytes,
                          Fault& fault, SlotKeys* keys) {
    const uint16_t type = slot_type_of(secret);
    const size_t parameter_bytes = slot_bytes_of(secret) - slot_bytes_with(0);
    put16(out, type);
    put16(out + 2, parameter_bytes);
    Secret<32> key;
    warpseal_status status = new_slot_key(engine, secret, cost, keys, out + 4, key, fault);
    if (status != WARPSEAL_OK) return status;
    const Context context(fixed_part, {out, 4 + parameter_bytes});
    uint8_t* p = out + 4 + parameter_bytes;
    put16(p, sealed_key_bytes);
    p += 2;
    PayloadKey payload;
    status = new_payload(engine, default_suite, {key.data(), key.size()}, context.get(), p, payload,
                         fault);
    if (status != WARPSEAL_OK) return status;
    p += payload_head_bytes;
    status = engine.seal(*payload.key, WARPSEAL_GCM, {payload.base_nonce.data(), nonce_bytes}, {},
                         data_key.data(), p, data_key_bytes, p + data_key_bytes, tag_bytes);
    if (status != WARPSEAL_OK) return fault.say(status, "the engine could not seal a slot");
    out_bytes = static_cast<size_t>(p + data_key_bytes + tag_bytes - out);
    return WARPSEAL_OK;
}

warpseal_status open_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const Slot& slot, const warpseal_secret& secret,
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys,
                          const Alike& alike) {
    if (!opens_type(secret, slot.type))
        return fault.say(WARPSEAL_WRONG_KEY, "a slot of another type");
    const Context context(fixed_part, slot.head);
    Secret<32> key;
    warpseal_status status = slot_key(engine, secret, slot, keys, alike, key, fault);
    if (status != WARPSEAL_OK) return status;
    PayloadKey payload;
    status = open_payload(engine, default_suite, {key.data(), key.size()}, context.get(),
                          slot.body.data, payload, fault);
    // The identity unwrapped the slot's file key, so it is the right one.
    if (status == WARPSEAL_WRONG_KEY &&
        (secret.type == WARPSEAL_SECRET_IDENTITY || is_unwrapper_secret(secret)))
        return fault.say(WARPSEAL_NOT_AUTHENTIC, "a slot was changed");
    if (status != WARPSEAL_OK) return status;
    const uint8_t* const sealed = slot.body.data + payload_head_bytes;
    status =
        engine.open(*payload.key, WARPSEAL_GCM, {payload.base_nonce.data(), nonce_bytes}, {},
                    sealed, data_key.data(), data_key_bytes, sealed + data_key_bytes, tag_bytes);
    if (status == WARPSEAL_NOT_AUTHENTIC) return fault.say(status, "a slot was changed");
    if (status != WARPSEAL_OK) return fault.say(status, "the engine could not open a slot");
    return WARPSEAL_OK;
}

}  // namespace warpseal::container
