// Rows of key files in DER, and of TLS groups with a NIST curve. The OpenSSL provider has these,
// and this program contains it.
#pragma once

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

bool is_provider_row(const nlohmann::json& row);
// Throws RowSkipped if this build has no provider.
void check_provider_row(Tested& tested, const nlohmann::json& row);

}  // namespace warpseal::cli
