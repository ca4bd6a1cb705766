// Time of a server's part of a key exchange, alone on the calling thread.
#pragma once

#include <openssl/types.h>

#include <string>

namespace warpseal::tls {

// Measures an encapsulation, or key generation and derivation, through OpenSSL as libssl does it.
// The provider's algorithms come first. Returns 0 if no key type has the group's name.
double key_exchange_seconds(OSSL_LIB_CTX* library, const std::string& group,
                            const std::string& provider);

}  // namespace warpseal::tls
