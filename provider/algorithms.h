// What the provider offers: the tables that module.cpp hands to libcrypto, each ended by an entry of nulls.
#pragma once

#include <openssl/core.h>

namespace warpseal::provider {

// The properties of everything here; encoders and decoders have more.
inline constexpr char properties[] = "provider=warpseal";

const OSSL_ALGORITHM* cipher_algorithms();

}  // namespace warpseal::provider
