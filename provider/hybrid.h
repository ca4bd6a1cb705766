// Classical half of a hybrid group, through EVP and any other provider.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <span>

#include "provider/context.h"
#include "provider/groups.h"

namespace warpseal::provider {

// Property query that excludes this provider, whatever the program prefers.
inline constexpr char not_us[] = "provider!=warpseal";

struct FreePkey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;

// Each returns null or false, with an error raised, on failure.
Pkey generate_classical(const Context& context, const Classical& classical);
// Reads a peer's share. Rejects anything but an uncompressed point of the curve.
Pkey read_classical_share(const Context& context, const Classical& classical,
                          std::span<const uint8_t> share);
// Builds a pair from its halves without checking that they match.
Pkey read_classical_pair(const Context& context, const Classical& classical,
                         std::span<const uint8_t> scalar, std::span<const uint8_t> share);
bool write_classical_share(const Context& context, const Classical& classical, EVP_PKEY* key,
                           std::span<uint8_t> share);
bool write_scalar(const Context& context, const Classical& classical, EVP_PKEY* key,
                  std::span<uint8_t> scalar);
// Derives the shared secret. Rejects an all-zero X25519 result (RFC 7748 6.1).
bool agree(const Context& context, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer,
           std::span<uint8_t> secret);
// Returns true if the secret half of `pair` belongs to `share`: both derive the same secret with a
// third key.
bool is_classical_pair(const Context& context, const Classical& classical, EVP_PKEY* pair,
                       EVP_PKEY* share);

}  // namespace warpseal::provider
