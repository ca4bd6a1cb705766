// Lets OpenSSL's own X25519, and the ML-KEM of OpenSSL 3.5 and later, keep their names, while a
// property query selects ours.
#pragma once

#include <openssl/core.h>
#include <openssl/types.h>

#include <cstdint>

#include "provider/groups.h"

namespace warpseal::provider {

struct CoreCalls;
class Context;

// Returns the program's library context. Returns null if the program has another libcrypto than
// this module, as a program that links it statically has.
OSSL_LIB_CTX* core_context(const OSSL_CORE_HANDLE* core, const CoreCalls& calls);

// now: libcrypto keeps the algorithms. once: for the fetch that it serves; libcrypto asks again.
// later: none for this fetch.
enum class Turn : uint8_t { now, once, later };

// Answer to libcrypto's query for the algorithms of an operation.
struct Answer {
    Turn turn;
    Offer offer;
};

// Without a property query, libcrypto takes the implementation that was registered first. So ours
// are registered for good only after those of another provider, which this call has libcrypto
// register. While no other provider has them, ours serve single fetches.
Answer answer_to(const Context& context, int operation);

}  // namespace warpseal::provider
