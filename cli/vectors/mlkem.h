// Rows of ML-KEM: known answers of each operation, checks of keys, and digests of many operations.
#pragma once

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

// True for a row of key encapsulation, in any scheme.
bool is_kem_row(const nlohmann::json& row);
void check_kem_row(Tested& tested, const nlohmann::json& row);

}  // namespace warpseal::cli
