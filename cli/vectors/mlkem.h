// Rows of key encapsulation; of ML-KEM: known answers of each operation, checks of keys, and
// digests of many operations.
#pragma once

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

// True for a row of key encapsulation, in any scheme.
bool is_kem_row(const nlohmann::json& row);
void check_kem_row(Tested& tested, const nlohmann::json& row);

// Returns input `item` of a row of digests: SHAKE128 of the row's seed and the number.
Octets kem_bulk_input(const nlohmann::json& row, uint64_t item, size_t bytes);
// Compares with the row's field NAME_sha3_256.
void kem_digest(const nlohmann::json& row, const std::string& name, const Octets& got);

}  // namespace warpseal::cli
