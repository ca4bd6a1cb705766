// Algorithm tables that module.cpp hands to libcrypto, each ended by a null entry.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace warpseal::provider {

class Context;

// Properties of all algorithms; encoders and decoders add more.
inline constexpr char properties[] = "provider=warpseal";
// Properties of legacy ciphers, which are only for existing data; the query warpseal.legacy!=yes
// excludes them. Property names with a dot are free for providers to define.
inline constexpr char legacy_properties[] = "provider=warpseal,warpseal.legacy=yes";

const OSSL_ALGORITHM* cipher_algorithms();
const OSSL_ALGORITHM* key_algorithms(const Context& context);
const OSSL_ALGORITHM* kem_algorithms(const Context& context);
const OSSL_ALGORITHM* encoder_algorithms(const Context& context);
const OSSL_ALGORITHM* decoder_algorithms(const Context& context, bool beside_openssl);
// Implements the TLS-GROUP capability: calls `callback` once for each offered group. Stops and
// returns 0 when a call returns 0.
int report_groups(const Context& context, OSSL_CALLBACK* callback, void* user);

// Returns an entry of an OSSL_DISPATCH table.
template <class Function>
OSSL_DISPATCH dispatch(int number, Function* function) {
    return {number, reinterpret_cast<void (*)()>(function)};
}

}  // namespace warpseal::provider
