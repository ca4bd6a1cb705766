// Options, header and payload head of a file that is opened.
#include "container/opening.h"

#include <cstring>

#include "container/front.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Reads an enumerator, which a C caller may have set to any number.
template <class Enum>
uint32_t number(const Enum& value) {
    static_assert(sizeof value == sizeof(uint32_t));
    uint32_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

warpseal_status check_bare(const warpseal_file_options& options, Fault& fault) {
    if (options.secret_count != 1 || number(options.secrets[0].type) != WARPSEAL_SECRET_KEY) {
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the cobblestone format takes exactly one key, and no passphrase");
    }
    const Suite* const suite = suite_by_key_bytes(options.secrets[0].byte_count);
    if (suite == nullptr) {
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the cobblestone format takes a key of 16 or 32 bytes, not %zu",
                         options.secrets[0].byte_count);
    }
    if (options.suite != nullptr && std::strcmp(options.suite, suite->name) != 0) {
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "a key of %zu bytes means %s in the cobblestone format",
                         options.secrets[0].byte_count, suite->name);
    }
    return WARPSEAL_OK;
}

warpseal_status open_bare(Engine& engine, const warpseal_file_options& options, const ReadAt& read,
                          Opened& out, Fault& fault) {
    uint8_t head[payload_head_bytes];
    out.suite = suite_by_key_bytes(options.secrets[0].byte_count);
    const Bytes context = context_of(options);
    if (read_payload_head(read, out, head, fault) != WARPSEAL_OK) return fault.status;
    derive_journal_key(secret_bytes(options, 0), head, out.journal_key);
    return open_payload(engine, *out.suite, secret_bytes(options, 0), {&context, 1}, head,
                        out.payload, fault);
}

warpseal_status check_public_key_secret(const warpseal_secret& secret, SecretUse use,
                                        Fault& fault) {
    if (secret.type == WARPSEAL_SECRET_RECIPIENT) {
        uint8_t public_key[recipient_public_bytes_max];
        if (use == SecretUse::seal) return decode_recipient(secret, public_key, fault);
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "a recipient does not open a file: give its identity");
    }
    Secret<recipient_secret_bytes> key;
    if (use == SecretUse::open) return decode_identity(secret, key, fault);
    return fault.say(WARPSEAL_INVALID_ARGUMENT,
                     "an identity does not seal a file: give its recipient");
}

warpseal_status check_stanza(const warpseal_secret& secret, SecretUse use, Fault& fault) {
    const bool good = use == SecretUse::seal && secret.byte_count > stanza_head_bytes &&
                      is_stanza_slot(slot_type_of(secret)) &&
                      may_have_parameters(slot_type_of(secret), stanza_parameters(secret));
    if (good) return WARPSEAL_OK;
    return fault.say(WARPSEAL_INVALID_ARGUMENT, "a stanza of a recipient has another form");
}

warpseal_status check_unwrapper(const warpseal_secret& secret, SecretUse use, Fault& fault) {
    if (use == SecretUse::open && secret.byte_count == sizeof(warpseal_internal_unwrapper))
        return WARPSEAL_OK;
    return fault.say(WARPSEAL_INVALID_ARGUMENT, "a secret that unwraps file keys seals no file");
}

}  // namespace

warpseal_status check_secret(const warpseal_secret& secret, SecretUse use, Fault& fault) {
    if (secret.bytes == nullptr || secret.byte_count == 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "a key or passphrase is empty");
    switch (number(secret.type)) {
        case WARPSEAL_SECRET_KEY:
            if (secret.byte_count == 32) return WARPSEAL_OK;
            return fault.say(WARPSEAL_INVALID_ARGUMENT,
                             "a key file holds exactly 32 bytes, not %zu", secret.byte_count);
        case WARPSEAL_SECRET_PASSPHRASE:
            if (secret.byte_count <= 65536) return WARPSEAL_OK;
            return fault.say(WARPSEAL_INVALID_ARGUMENT, "a passphrase has at most 65536 bytes");
        case WARPSEAL_SECRET_RECIPIENT:
        case WARPSEAL_SECRET_IDENTITY: return check_public_key_secret(secret, use, fault);
        case WARPSEAL_INTERNAL_SECRET_STANZA: return check_stanza(secret, use, fault);
        case WARPSEAL_INTERNAL_SECRET_UNWRAPPER:
        case WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER: return check_unwrapper(secret, use, fault);
    }
    return fault.say(WARPSEAL_INVALID_ARGUMENT,
                     "a secret is no key, passphrase, recipient or identity");
}

warpseal_status check_options(const warpseal_file_options& options, SecretUse use, Fault& fault) {
    if (options.secrets == nullptr || options.secret_count == 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "no key, passphrase, recipient or identity was given");
    const uint32_t format = number(options.format);
    if (format == WARPSEAL_FORMAT_COBBLESTONE) return check_bare(options, fault);
    if (format != WARPSEAL_FORMAT_WARPSEAL)
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "no such file format");
    if (options.context_bytes != 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "only the cobblestone format takes a context");
    for (size_t i = 0; i < options.secret_count; ++i) {
        if (check_secret(options.secrets[i], use, fault) != WARPSEAL_OK) return fault.status;
    }
    return WARPSEAL_OK;
}

warpseal_status read_header(const ReadAt& read, Header& header, Fault& fault) {
    header.bytes.resize(first_block_bytes);
    size_t have = 0;
    if (read(0, header.bytes.data(), first_block_bytes, have, fault) != WARPSEAL_OK)
        return fault.status;
    if (parse_first_block(header.bytes.data(), have, header.fixed, fault) != WARPSEAL_OK)
        return fault.status;
    const size_t wanted = header_bytes(header.fixed.copy_bytes) - first_block_bytes;
    header.bytes.resize(first_block_bytes + wanted);
    if (read(first_block_bytes, header.bytes.data() + first_block_bytes, wanted, have, fault) !=
        WARPSEAL_OK)
        return fault.status;
    if (have < wanted)
        return fault.say(WARPSEAL_TRUNCATED, "the file ends at byte %zu, within its header",
                         first_block_bytes + have);
    parse_copies(header);
    return WARPSEAL_OK;
}

warpseal_status read_payload_head(const ReadAt& read, Opened& out, uint8_t head[payload_head_bytes],
                                  Fault& fault) {
    size_t have = 0;
    if (read(out.head_bytes, head, payload_head_bytes, have, fault) != WARPSEAL_OK)
        return fault.status;
    out.head_bytes += have;
    if (have == payload_head_bytes) return WARPSEAL_OK;
    return fault.say(WARPSEAL_TRUNCATED,
                     "the file ends at byte %llu, within the %zu bytes that a payload begins with",
                     ull{out.head_bytes}, payload_head_bytes);
}

warpseal_status open_head(Engine& engine, const warpseal_file_options& options, const ReadAt& read,
                          Opened& out, Fault& fault, SlotKeys* keys) {
    if (is_bare(options)) return open_bare(engine, options, read, out, fault);
    Secret<data_key_bytes> data_key;
    return open_front(engine, options, read, out, data_key, fault, keys);
}

}  // namespace warpseal::container
