// What a server's part of a key exchange takes, alone on the calling thread.
#pragma once

#include <openssl/types.h>

#include <string>

namespace warpseal::tls {

// Through OpenSSL, as libssl has it: an encapsulation, or a key pair and a derivation. 0 if the
// group's name names no kind of key.
double key_exchange_seconds(OSSL_LIB_CTX* library, const std::string& group);

}  // namespace warpseal::tls
