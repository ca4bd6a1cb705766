// Rows of X25519, its hybrids with ML-KEM, and the TLS groups of ML-KEM.
#pragma once

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

// Returns the set of a row that names X25519, X-Wing or a TLS group; empty for another name.
std::string hybrid_set_of_row(const std::string& name);
void check_hybrid_row(Tested& tested, const std::string& set, const nlohmann::json& row,
                      bool on_device);

}  // namespace warpseal::cli
