// Parses, authenticates and creates the header of the envelope.
#include "container/header/header.h"

#include <algorithm>
#include <cstring>

#include "container/bytes.h"
#include "container/header/tries.h"
#include "container/random.h"

namespace warpseal::container {
namespace {

constexpr uint8_t magic[8] = {'W', 'A', 'R', 'P', 'S', 'E', 'A', 'L'};
constexpr char mac_label[] = "warpseal/header-mac/v1";
constexpr char payload_label[] = "warpseal/payload/v1";

// Computes HMAC-SHA-512 over the first block and the copy up to its MAC.
void header_copy_mac(const uint8_t* first_block, const uint8_t* copy, uint32_t copy_bytes,
                     const Secret<data_key_bytes>& data_key, uint8_t mac[hmac_bytes]) {
    const Bytes label = text_bytes(mac_label);
    Secret<hmac_bytes> key;
    const Bytes parts[] = {{first_block, first_block_bytes}, {copy, copy_bytes - hmac_bytes}};
    expand({data_key.data(), data_key.size()}, {&label, 1}, key.data(), key.size());
    hmac({key.data(), key.size()}, {parts, 2}, mac);
}

bool zeros(Bytes bytes) {
    return std::all_of(bytes.data, bytes.data + bytes.size, [](uint8_t byte) { return byte == 0; });
}

void parse_copy(Bytes raw, HeaderCopy& out) {
    out = {};
    out.generation = get64(raw.data);
    out.slot_count = get16(raw.data + 8);
    if (out.generation == 0 || out.slot_count == 0 || out.slot_count > WARPSEAL_MAX_SLOTS) return;
    Bytes rest = {raw.data + copy_head_bytes, raw.size - copy_head_bytes - hmac_bytes};
    for (uint32_t i = 0; i < out.slot_count; ++i) {
        if (!parse_slot(rest, out.slots[i])) return;
    }
    out.well_formed = zeros({raw.data + 10, copy_head_bytes - 10}) && zeros(rest);
}

// Describes the reason for which a try was skipped.
Fault refused(const Try& left_out) {
    Fault fault;
    switch (left_out.refusal) {
        case Refusal::slot_cost: {
            const Argon2Cost cost = passphrase_cost(*left_out.slot);
            fault.say(WARPSEAL_LIMIT_EXCEEDED,
                      "a passphrase slot asks for Argon2id with %u passes and %u KiB; the limits "
                      "are %u and %u",
                      cost.passes, cost.memory_kib, argon2_passes_max, argon2_memory_kib_max);
            break;
        }
        case Refusal::copy_work:
            fault.say(WARPSEAL_LIMIT_EXCEEDED,
                      "the passphrase slots together ask for more Argon2id work than the file "
                      "format allows");
            break;
        case Refusal::budget:
            fault.say(WARPSEAL_LIMIT_EXCEEDED,
                      "no slot opened before the limit of Argon2id work for one file: give fewer "
                      "passphrases, or the key file");
            break;
        case Refusal::none: break;
    }
    return fault;
}

bool is_of_unwrapper(const Try& tried) {
    return tried.secret != nullptr && is_unwrapper_secret(*tried.secret);
}

// True if an unwrapper says why it does not open a slot that is for it: the passphrase of a private
// key was wrong.
bool gives_reason(const Try& tried, const Fault& fault) {
    return is_of_unwrapper(tried) && fault.message[0] != 0;
}

// True if no further slot is tried.
bool ends_tries(const Try& tried, warpseal_status status) {
    if (is_of_unwrapper(tried)) return !leaves_other_slots(status);
    return status != WARPSEAL_NOT_AUTHENTIC && status != WARPSEAL_LIMIT_EXCEEDED;
}

// Finds a slot that one of the secrets opens. If none does, returns the first error of a slot, or
// WARPSEAL_WRONG_KEY.
// A damaged or too expensive slot does not prevent the next one from opening the file, and neither
// does an unwrapper that fails.
Fault find_data_key(Engine& engine, const Header& header, const warpseal_secret* secrets,
                    size_t secret_count, uint64_t budget, Secret<data_key_bytes>& data_key,
                    SlotKeys* keys, Try* opened) {
    Fault outcome;
    outcome.say(WARPSEAL_WRONG_KEY,
                "wrong key file, passphrase or identity: it does not open this file");
    bool has_reason = false;
    visit_tries(header, secrets, secret_count, budget, [&](const Try& next) {
        Fault here = refused(next);
        if (next.refusal == Refusal::none)
            open_slot(
                engine, header.fixed.bytes, *next.slot, *next.secret, data_key, here, keys,
                is_of_unwrapper(next) ? parameters_of_type(header, next.slot->type) : Alike());
        if (here.status == WARPSEAL_WRONG_KEY) {
            if (outcome.status == WARPSEAL_WRONG_KEY && !has_reason && gives_reason(next, here)) {
                outcome = here;
                has_reason = true;
            }
            return false;
        }
        if (here.status == WARPSEAL_OK && opened != nullptr) *opened = next;
        const bool over = ends_tries(next, here.status);
        if (over || outcome.status == WARPSEAL_WRONG_KEY) outcome = here;
        return over;
    });
    return outcome;
}

// Draws a new data key and file ID, and writes the fixed part into the first block.
bool draw(const Suite& suite, Header& header, Secret<data_key_bytes>& data_key) {
    header.bytes.assign(header_bytes(copy_bytes_default), 0);
    uint8_t* const block = header.bytes.data();
    memcpy(block, magic, sizeof magic);
    put16(block + 8, format_version);
    put16(block + 10, suite.id);
    put32(block + 12, copy_bytes_default);
    return random_bytes(block + 16, sizeof header.fixed.file_id) &&
           random_bytes(data_key.data(), data_key.size());
}

}  // namespace

Alike parameters_of_type(const Header& header, uint16_t type) {
    Alike found;
    for (const HeaderCopy& copy : header.copies)
        for (uint32_t i = 0; copy.well_formed && i < copy.slot_count; ++i)
            if (copy.slots[i].type == type)
                found.push_back({copy.slots[i].parameters.data, copy.slots[i].parameters.size});
    return found;
}

warpseal_status parse_first_block(const uint8_t* block, size_t have, FixedPart& out, Fault& fault) {
    if (have == 0) return fault.say(WARPSEAL_TRUNCATED, "the file is empty");
    if (memcmp(block, magic, std::min(have, sizeof magic)) != 0)
        return fault.say(WARPSEAL_UNSUPPORTED, "not a Warpseal file");
    if (have < fixed_part_bytes)
        return fault.say(WARPSEAL_TRUNCATED, "the file ends after %zu bytes, within its fixed part",
                         have);
    memcpy(out.bytes, block, fixed_part_bytes);
    out.version = get16(block + 8);
    out.suite = suite_by_id(get16(block + 10));
    out.copy_bytes = get32(block + 12);
    memcpy(out.file_id, block + 16, sizeof out.file_id);
    if (out.version != format_version) {
        return fault.say(WARPSEAL_UNSUPPORTED,
                         "a Warpseal file of version %u, and this program reads version %u%s",
                         out.version, format_version,
                         out.version > format_version ? ": the file needs a newer warpseal" : "");
    }
    if (out.suite == nullptr) {
        return fault.say(WARPSEAL_UNSUPPORTED,
                         "the file's cipher suite has number 0x%04x, which is not known here",
                         get16(block + 10));
    }
    if (out.copy_bytes == 0 || out.copy_bytes % copy_bytes_step != 0 ||
        out.copy_bytes > copy_bytes_max) {
        return fault.say(
            WARPSEAL_LIMIT_EXCEEDED,
            "the file gives its header copies %u bytes; a multiple of %u up to %u is allowed",
            out.copy_bytes, copy_bytes_step, copy_bytes_max);
    }
    if (have < first_block_bytes)
        return fault.say(WARPSEAL_TRUNCATED,
                         "the file ends after %zu bytes, within its first block", have);
    if (!zeros({block + fixed_part_bytes, first_block_bytes - fixed_part_bytes})) {
        return fault.say(WARPSEAL_NOT_AUTHENTIC,
                         "the zeros after the fixed part of the file were changed");
    }
    return WARPSEAL_OK;
}

int Header::newest() const {
    if (!copies[0].well_formed) return copies[1].well_formed ? 1 : -1;
    return copies[1].well_formed && copies[1].generation > copies[0].generation ? 1 : 0;
}

bool Header::copies_equal() const { return memcmp(copy(0), copy(1), fixed.copy_bytes) == 0; }

void parse_copies(Header& header) {
    for (int i = 0; i < 2; ++i)
        parse_copy({header.copy(i), header.fixed.copy_bytes}, header.copies[i]);
}

warpseal_status unlock(Engine& engine, const Header& header, const warpseal_secret* secrets,
                       size_t secret_count, Secret<data_key_bytes>& data_key, int& in_force,
                       Fault& fault, uint64_t budget, SlotKeys* keys, Try* opened) {
    const int newest = header.newest();
    if (newest < 0)
        return fault.say(WARPSEAL_NOT_AUTHENTIC, "both copies of the file's header are damaged");
    fault = find_data_key(engine, header, secrets, secret_count, budget, data_key, keys, opened);
    if (fault.status != WARPSEAL_OK) return fault.status;

    for (const int index : {newest, 1 - newest}) {
        if (!header.copies[index].well_formed) continue;
        // Secret, because the correct MAC of a forged header would authenticate the forgery.
        Secret<hmac_bytes> mac;
        header_copy_mac(header.bytes.data(), header.copy(index), header.fixed.copy_bytes, data_key,
                        mac.data());
        if (equal_secret(mac.data(), header.copy(index) + header.fixed.copy_bytes - hmac_bytes,
                         hmac_bytes)) {
            in_force = index;
            return WARPSEAL_OK;
        }
    }
    return fault.say(
        WARPSEAL_NOT_AUTHENTIC,
        "the file's header was changed: a slot opens, but no copy of the header verifies");
}

warpseal_status new_header(Engine& engine, const Suite& suite, const warpseal_secret* secrets,
                           size_t secret_count, Argon2Cost cost, Header& header,
                           Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys) {
    if (!draw(suite, header, data_key))
        return fault.say(WARPSEAL_NO_RANDOM, "no random bytes for the file's keys");
    uint8_t* const block = header.bytes.data();
    const warpseal_status status = parse_first_block(block, first_block_bytes, header.fixed, fault);
    if (status != WARPSEAL_OK) return status;

    size_t all_bytes = 0;
    for (size_t i = 0; i < secret_count; ++i) all_bytes += slot_bytes_of(secrets[i]);
    std::vector<uint8_t> slots(all_bytes);
    size_t used = 0;
    for (size_t i = 0; i < secret_count; ++i) {
        size_t slot_bytes = 0;
        const warpseal_status sealed =
            seal_slot(engine, header.fixed.bytes, secrets[i], cost, data_key, slots.data() + used,
                      slot_bytes, fault, keys);
        if (sealed != WARPSEAL_OK) return sealed;
        used += slot_bytes;
    }
    uint8_t* const copy = block + first_block_bytes;
    write_copy(block, header.fixed, 1, static_cast<uint32_t>(secret_count), {slots.data(), used},
               data_key, copy);
    memcpy(copy + copy_bytes_default, copy, copy_bytes_default);
    return WARPSEAL_OK;
}

void write_copy(const uint8_t first_block[first_block_bytes], const FixedPart& fixed,
                uint64_t generation, uint32_t slot_count, Bytes slots,
                const Secret<data_key_bytes>& data_key, uint8_t* out) {
    memset(out, 0, fixed.copy_bytes);
    put64(out, generation);
    put16(out + 8, slot_count);
    memcpy(out + copy_head_bytes, slots.data, slots.size);
    header_copy_mac(first_block, out, fixed.copy_bytes, data_key,
                    out + fixed.copy_bytes - hmac_bytes);
}

void payload_input_key(const Suite& suite, const Secret<data_key_bytes>& data_key,
                       Secret<32>& out) {
    const Bytes label = text_bytes(payload_label);
    expand({data_key.data(), data_key.size()}, {&label, 1}, out.data(), suite.key_bytes);
}

}  // namespace warpseal::container
