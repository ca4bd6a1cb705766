// Writes, parses, seals and opens key slots.
#include "container/header/slot.h"

#include "container/bytes.h"
#include "container/random.h"

namespace warpseal::container {
namespace {

constexpr char slot_label[] = "warpseal/slot/v1";
constexpr char key_file_label[] = "warpseal/key-file/v1";

// Derives the input key of a slot from a key file or a passphrase.
// A key file gets a label of its own, because it may also be the key of a bare payload.
warpseal_status slot_key(const warpseal_secret& secret, const uint8_t* parameters, SlotKeys* keys,
                         Secret<32>& key, Fault& fault) {
    const Bytes bytes = {static_cast<const uint8_t*>(secret.bytes), secret.byte_count};
    if (secret.type == WARPSEAL_SECRET_KEY) {
        const Bytes label = text_bytes(key_file_label);
        expand(bytes, {&label, 1}, key.data(), key.size());
        return WARPSEAL_OK;
    }
    const Argon2Cost cost = {get32(parameters), get32(parameters + 4)};
    const warpseal_status status = keys != nullptr ? keys->derive(bytes, parameters + 8, cost, key)
                                                   : argon2id(bytes, parameters + 8, cost, key);
    if (status == WARPSEAL_OUT_OF_MEMORY)
        return fault.say(status, "no memory for Argon2id, which needs %u KiB here",
                         cost.memory_kib);
    if (status != WARPSEAL_OK) return fault.say(status, "Argon2id could not start");
    return WARPSEAL_OK;
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
    switch (slot.type) {
        case 0: return false;
        case WARPSEAL_SECRET_KEY: return parameter_bytes == 0 && body_bytes == sealed_key_bytes;
        case WARPSEAL_SECRET_PASSPHRASE:
            return parameter_bytes == passphrase_parameter_bytes && body_bytes == sealed_key_bytes;
        default: return true;
    }
}

Argon2Cost passphrase_cost(const Slot& slot) {
    return {get32(slot.parameters.data), get32(slot.parameters.data + 4)};
}

warpseal_status seal_slot(Engine& engine, const uint8_t fixed_part[fixed_part_bytes],
                          const warpseal_secret& secret, Argon2Cost cost,
                          const Secret<data_key_bytes>& data_key, uint8_t* out, size_t& out_bytes,
                          Fault& fault, SlotKeys* keys) {
    uint8_t* p = out;
    const bool passphrase = secret.type == WARPSEAL_SECRET_PASSPHRASE;
    put16(p, static_cast<uint16_t>(secret.type));
    put16(p + 2, passphrase ? passphrase_parameter_bytes : 0);
    p += 4;
    if (passphrase) {
        put32(p, cost.passes);
        put32(p + 4, cost.memory_kib);
        const bool has_salt =
            keys != nullptr
                ? keys->salt_for({static_cast<const uint8_t*>(secret.bytes), secret.byte_count},
                                 cost, p + 8)
                : random_bytes(p + 8, argon2_salt_bytes);
        if (!has_salt)
            return fault.say(WARPSEAL_NO_RANDOM, "no random bytes for a passphrase's salt");
        p += passphrase_parameter_bytes;
    }
    const Context context(fixed_part, {out, static_cast<size_t>(p - out)});
    put16(p, sealed_key_bytes);
    p += 2;
    Secret<32> key;
    warpseal_status status = slot_key(secret, out + 4, keys, key, fault);
    if (status != WARPSEAL_OK) return status;
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
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys) {
    if (slot.type != secret.type) return fault.say(WARPSEAL_WRONG_KEY, "a slot of another type");
    const Context context(fixed_part, slot.head);
    Secret<32> key;
    warpseal_status status = slot_key(secret, slot.parameters.data, keys, key, fault);
    if (status != WARPSEAL_OK) return status;
    PayloadKey payload;
    status = open_payload(engine, default_suite, {key.data(), key.size()}, context.get(),
                          slot.body.data, payload, fault);
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
