// Error reasons of the provider with their texts, raised on libcrypto's error stack under the
// provider's name.
#pragma once

#include <openssl/core.h>

#include <cstdint>

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

// Reasons for OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, ended by zeros.
const OSSL_ITEM* reason_strings();

// Source location of an error. Replaces std::source_location, which clang-tidy 14 lacks.
struct SourceLocation {
    const char* file;
    int line;
    const char* function;
    static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE(),
                                            const char* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
};

// `detail` is one more line, or null.
void raise(const Context& context, Reason reason, const char* detail = nullptr,
           SourceLocation where = SourceLocation::current());
// Raises an engine status with its text.
void raise(const Context& context, warpseal_status status,
           SourceLocation where = SourceLocation::current());

}  // namespace warpseal::provider
