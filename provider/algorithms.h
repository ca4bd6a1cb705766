// What the provider offers: the tables that module.cpp hands to libcrypto, each ended by an entry
// of nulls.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace warpseal::provider {

class Context;

// The properties of everything here; encoders and decoders have more.
inline constexpr char properties[] = "provider=warpseal";
// Of ciphers only for data already under them: a query for warpseal.legacy!=yes leaves them out.
// Names with a dot are ours to make.
inline constexpr char legacy_properties[] = "provider=warpseal,warpseal.legacy=yes";

const OSSL_ALGORITHM* cipher_algorithms();
const OSSL_ALGORITHM* key_algorithms();
const OSSL_ALGORITHM* kem_algorithms();
const OSSL_ALGORITHM* encoder_algorithms();
const OSSL_ALGORITHM* decoder_algorithms();
// The TLS-GROUP capability: one call for each group offered. Zero as soon as a call returns zero.
int tell_groups(const Context& context, OSSL_CALLBACK* callback, void* user);

// A function for a table of OSSL_DISPATCH.
template <class Function>
OSSL_DISPATCH dispatch(int number, Function* function) {
    return {number, reinterpret_cast<void (*)()>(function)};
}

}  // namespace warpseal::provider
