// The classical half of a hybrid group, by EVP and whichever provider has it.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <span>

#include "provider/context.h"
#include "provider/groups.h"

namespace warpseal::provider {

struct FreePkey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Pkey = std::unique_ptr<EVP_PKEY, FreePkey>;

// Each is null or false, with an error raised, if it fails.
Pkey generate_classical(const Context& context, const Classical& classical);
// A peer's: refused unless it is a point of the curve, uncompressed.
Pkey read_classical_share(const Context& context, const Classical& classical,
                          std::span<const uint8_t> share);
// A pair of its two halves, which are not compared.
Pkey read_classical_pair(const Context& context, const Classical& classical,
                         std::span<const uint8_t> scalar, std::span<const uint8_t> share);
bool write_classical_share(const Context& context, const Classical& classical, EVP_PKEY* key,
                           std::span<uint8_t> share);
bool write_scalar(const Context& context, const Classical& classical, EVP_PKEY* key,
                  std::span<uint8_t> scalar);
// The secret that the two have; an X25519 result of zeros is refused (RFC 7748 6.1).
bool agree(const Context& context, const Classical& classical, EVP_PKEY* own, EVP_PKEY* peer,
           std::span<uint8_t> secret);
// Whether the secret half of `pair` belongs to `share`: both agree with a third key alike.
bool is_classical_pair(const Context& context, const Classical& classical, EVP_PKEY* pair,
                       EVP_PKEY* share);

}  // namespace warpseal::provider
