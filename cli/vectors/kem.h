// Vector files of NTRU: answer files of the submission, and digests of batches.
#pragma once

#include <string_view>

#include "cli/vectors/vectors.h"

namespace warpseal::cli {

// Returns true if the text begins with a line "# SET …", which no JSON file does.
bool is_kem_text(std::string_view text);
// Checks blocks of `name = value` (answer file, explicit coins or chosen ciphertexts) or lines of
// digests.
void check_kem_text(Tested& tested, std::string_view text, Tally& tally);

}  // namespace warpseal::cli
