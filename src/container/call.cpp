// Checks the options of a call.
#include "container/call.h"

#include <cstring>

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

warpseal_status check_bare(FileCall& call) {
    const warpseal_file_options& options = call.options;
    if (options.secret_count != 1 || number(options.secrets[0].type) != WARPSEAL_SECRET_KEY) {
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "the cobblestone format takes exactly one key, and no passphrase");
    }
    const Suite* const suite = suite_by_key_bytes(options.secrets[0].byte_count);
    if (suite == nullptr) {
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "the cobblestone format takes a key of 16 or 32 bytes, not %zu",
                              options.secrets[0].byte_count);
    }
    if (options.suite != nullptr && std::strcmp(options.suite, suite->name) != 0) {
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "a key of %zu bytes means %s in the cobblestone format",
                              options.secrets[0].byte_count, suite->name);
    }
    return WARPSEAL_OK;
}

warpseal_status check_secret(const warpseal_secret& secret, Fault& fault) {
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
    }
    return fault.say(WARPSEAL_INVALID_ARGUMENT, "a secret is neither a key nor a passphrase");
}

}  // namespace

warpseal_status check_options(FileCall& call) {
    const warpseal_file_options& options = call.options;
    if (options.secrets == nullptr || options.secret_count == 0) {
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "no key and no passphrase was given");
    }
    const uint32_t format = number(options.format);
    if (format == WARPSEAL_FORMAT_COBBLESTONE) return check_bare(call);
    if (format != WARPSEAL_FORMAT_WARPSEAL)
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT, "no such file format");
    if (options.context_bytes != 0)
        return call.fault.say(WARPSEAL_INVALID_ARGUMENT,
                              "only the cobblestone format takes a context");
    for (size_t i = 0; i < options.secret_count; ++i) {
        if (check_secret(options.secrets[i], call.fault) != WARPSEAL_OK) return call.fault.status;
    }
    return WARPSEAL_OK;
}

warpseal_status check_sealing(FileCall& call, const Suite*& suite) {
    const warpseal_file_options& options = call.options;
    suite = options.suite == nullptr ? &default_suite : suite_by_name(options.suite);
    if (call.bare()) suite = suite_by_key_bytes(options.secrets[0].byte_count);
    if (suite == nullptr)
        return call.fault.say(WARPSEAL_UNSUPPORTED, "there is no cipher suite %.40s",
                              options.suite);
    if (options.secret_count > WARPSEAL_MAX_SLOTS) {
        return call.fault.say(WARPSEAL_LIMIT_EXCEEDED, "a file has at most %d key slots",
                              WARPSEAL_MAX_SLOTS);
    }
    uint64_t all_work = 0;
    for (size_t i = 0; i < options.secret_count; ++i)
        all_work += options.secrets[i].type == WARPSEAL_SECRET_PASSPHRASE ? work(call.cost()) : 0;
    if (!within_bounds(call.cost()) || all_work > argon2_work_max) {
        return call.fault.say(WARPSEAL_LIMIT_EXCEEDED,
                              "Argon2id takes 1 to %u passes over %u to %u KiB, and %llu passes "
                              "times KiB for all passphrases together",
                              argon2_passes_max, argon2_memory_kib_min, argon2_memory_kib_max,
                              ull{argon2_work_max});
    }
    return WARPSEAL_OK;
}

}  // namespace warpseal::container
