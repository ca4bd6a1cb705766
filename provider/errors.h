// What the provider says when it fails: reasons with their texts, raised on libcrypto's error stack under the provider's own name.
#pragma once

#include <openssl/core.h>

#include <cstdint>
#include <source_location>

#include "warpseal/warpseal.h"

namespace warpseal::provider {

class Context;

enum class Reason : uint32_t {
    no_engine = 1,
    operation_failed,
    wrong_length,
    bad_share,
    no_key,
    no_public_key,
    no_secret_key,
    wrong_parameter,
    wrong_group,
    classical_failed,
    out_of_memory,
    bad_encoding,
    not_initialised,
    wrong_iv,
    not_authentic,
    unsupported,
};

// For OSSL_FUNC_PROVIDER_GET_REASON_STRINGS; ends with zeros.
const OSSL_ITEM* reason_strings();

// detail: one line more, or null.
void raise(const Context& context, Reason reason, const char* detail = nullptr,
           std::source_location where = std::source_location::current());
// A status of the engine, with its sentence.
void raise(const Context& context, warpseal_status status, std::source_location where = std::source_location::current());

}  // namespace warpseal::provider
