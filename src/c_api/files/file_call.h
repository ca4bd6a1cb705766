// Code shared by the calls on files: struct sizes, null pointers, types of secrets and the result.
#pragma once

#include <cstdio>
#include <cstring>

#include "c_api/handles.h"
#include "container/recipients/unwrapper.h"

namespace warpseal::c_api {

// Zeroes the struct except for its size.
template <class Struct>
void clear(Struct& given) {
    const uint32_t bytes = given.struct_bytes;
    given = {};
    given.struct_bytes = bytes;
}

// Types of secrets that a call takes. The internal ones hold pointers to functions, which public
// functions must never call.
enum class SecretTypes { of_interface, all };

inline bool is_internal(const warpseal_secret& secret) {
    static_assert(sizeof secret.type == sizeof(uint32_t));
    uint32_t type;  // A C caller may have set any number.
    std::memcpy(&type, &secret.type, sizeof type);
    return type == WARPSEAL_INTERNAL_SECRET_STANZA || type == WARPSEAL_INTERNAL_SECRET_UNWRAPPER ||
           type == WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER;
}

// Returns a description of what is wrong with secrets that are not null, or "".
inline const char* wrong_in_types(const warpseal_secret* secrets, size_t count, SecretTypes types) {
    for (size_t i = 0; i < count; ++i)
        if (types == SecretTypes::of_interface && is_internal(secrets[i]))
            return "a secret is no key, passphrase, recipient or identity";
    return "";
}

// Returns a description of what is wrong with the options, or "".
inline const char* wrong_in_options(const warpseal_file_options* options,
                                    SecretTypes types = SecretTypes::of_interface) {
    if (!sized(options)) return "there are no options, or their struct_bytes is too small";
    if (options->secrets == nullptr && options->secret_count != 0) return "secrets is null";
    if (options->context == nullptr && options->context_bytes != 0) return "context is null";
    for (size_t i = 0; i < options->secret_count; ++i)
        if (options->secrets[i].bytes == nullptr && options->secrets[i].byte_count != 0)
            return "a secret's bytes are null";
    return wrong_in_types(options->secrets, options->secret_count, types);
}

// Runs work() unless `wrong` is not empty. Every failure leaves a message in the result and for
// warpseal_last_error_message().
template <class Work>
warpseal_status reported(warpseal_file_result& result, const char* wrong, Work work) {
    clear(result);
    result.target = "";
    if (*wrong != 0) std::snprintf(result.message, sizeof result.message, "%s", wrong);
    const warpseal_status status = *wrong != 0 ? WARPSEAL_INVALID_ARGUMENT : guarded_waiting(work);
    if (result.target == nullptr) result.target = "";
    if (status == WARPSEAL_OK) return status;
    if (result.message[0] == 0)
        std::snprintf(result.message, sizeof result.message, "%s", warpseal_status_text(status));
    set_refusal_text(result.message);
    return status;
}

}  // namespace warpseal::c_api
