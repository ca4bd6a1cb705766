// Vector files of NTRU: the submission's answer files and digests of batches.
#pragma once

#include <string_view>

#include "vectors.h"

namespace warpseal::cli {

// Whether a text is one of them: it begins with a line "# SET …", which no JSON does.
bool is_kem_text(std::string_view text);
// Blocks of `name = value` (an answer file, explicit coins, chosen ciphertexts), or lines of
// digests.
void check_kem_text(Subject& subject, std::string_view text, Tally& tally);

}  // namespace warpseal::cli
