// bcrypt_pbkdf(3) of OpenBSD, the key derivation of OpenSSH's private keys.
#pragma once

#include <functional>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

constexpr size_t bcrypt_key_bytes_max = 1024;

// Derives `bytes` bytes, 1 to bcrypt_key_bytes_max, in `rounds` rounds, at least one. Passphrase
// and salt are not empty. Calls `between` before each round; it may throw. A round takes a few
// milliseconds for each 32 bytes. Thread-safe.
Secret bcrypt_pbkdf(View passphrase, View salt, uint32_t rounds, size_t bytes,
                    const std::function<void()>& between);

}  // namespace warpseal::cli::age
